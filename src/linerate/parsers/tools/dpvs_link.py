"""DPVS: `dpip link show -s`, whose names of counters stand in a line above their values."""

import re

from linerate.model.evidence import Evidence, Node, Worker
from linerate.parsers.dpdk_counters import losses_of, port_of
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_PORT = re.compile(
    r"\s*(?:\d{1,4}: )?(?P<lcore>cpu\d{1,4}):.*|\s*\d{1,4}: (?P<port>[\w.-]{1,40}): socket .*"
)
_NAMES = re.compile(r"\s*[a-z][\w-]{1,30}(?:\s+[a-z][\w-]{1,30}){1,7}\s*")
_VALUES = re.compile(r"\s*\d{1,20}(?:\s+\d{1,20}){1,7}\s*", re.ASCII)
_QUEUES = re.compile(r"\brx-queue (\d{1,4}) tx-queue (\d{1,4})")


#: NETIF_MAX_PKT_BURST.
BURST_PACKETS = 32
#: An lcore whose polls are full for so much has packets waiting; for so little it has none.
FULL_SHARE, SELDOM_SHARE = 0.9, 0.1


@parser("DPVS dpip link")
def dpvs_link(text: Text) -> Evidence | None:
    """Read each device; of two readings of one the difference counts."""
    if "ipackets" not in text.whole:
        return None
    readings, port, reading = Readings(), "", Reading()
    queues: dict[str, tuple[int | None, int | None]] = {}
    names: list[str] = []
    for line in text.rows:
        columns, names = names, []
        if match := _PORT.fullmatch(line.text):
            readings.add(port, reading)
            port, reading = match["lcore"] or match["port"], Reading(quote=text.take(line))
            if found := _QUEUES.search(line.text):
                queues[port] = int(found[1]), int(found[2])
        elif port and _NAMES.fullmatch(line.text):
            names = line.text.split()
            text.take(line)
        elif columns and _VALUES.fullmatch(line.text):
            quote = text.take(line)
            for name, digits in zip(columns, line.text.split(), strict=False):
                reading.note(name, int(digits), quote)
    readings.add(port, reading)
    counted = [one for one in readings.counted() if one[0] and "ipackets" in one[1].counters]
    known = [one for one in counted if "pktburst" not in one[1].counters]
    lcores = [one for one in counted if "pktburst" in one[1].counters]
    if not counted:
        return None
    return Evidence(
        workers=tuple(_worker(name, one) for name, one in lcores),
        ports=tuple(port_of(name, one, queues.get(name, (None, None))) for name, one in known),
        losses=tuple(loss for name, one in known for loss in losses_of(name, one)),
    )


def _worker(name: str, one: Reading) -> Worker:
    """An lcore, by the sizes of its bursts: more than half full, or full."""
    counters, packets = one.counters, one.counters["ipackets"]
    polls = counters["pktburst"]
    full = counters.get("fpktburst", 0) >= FULL_SHARE * polls
    seldom = counters.get("h2fpktburst", polls) < SELDOM_SHARE * polls
    quote = one.quotes["pktburst"]
    node = Node(
        name="lcore",
        state="polling",
        calls=polls,
        vectors=packets,
        vectors_per_call=packets / polls if polls and (full or seldom) else 0.0,
        quote=quote,
    )
    return Worker(
        name=name, nodes=(node,), burst_packets=BURST_PACKETS, idle_in_clocks=False, quote=quote
    )
