"""Port statistics of DPDK's example programs (examples/l2fwd, l2fwd-crypto, …)."""

import re

from linerate.model.evidence import Evidence, Loss, Port
from linerate.parsers.numbers import COUNT, count
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_PORT = re.compile(r"^\s*Statistics for port (\d{1,5})\b[\s-]*$")
_END = re.compile(r"^\s*(?:Aggregate statistics|=====)")
_ROW = re.compile(
    rf"^\s*Packets (?P<name>sent|received|dropped|discarded):\s+(?P<count>{COUNT})\s*$"
)
#: Fields of rte_eth_stats that some print beside them.
_FIELDS = re.compile(
    r"\b(?P<name>ipackets|opackets|imissed|ierrors|oerrors|rx_nombuf):\s{1,20}(?P<count>\d{1,20})"
)
#: `dropped` are those that rte_eth_tx_buffer_flush() did not take.
_LOSSES = (
    ("imissed", "rx-ring"),
    ("ierrors", "damaged"),
    ("rx_nombuf", "buffers"),
    ("dropped", "tx-ring"),
)


@parser("DPDK example programs")
def dpdk_examples(text: Text) -> Evidence | None:
    """Read each port; of two screens the difference counts."""
    if "Statistics for port" not in text.whole:
        return None
    readings, name, reading = Readings(), "", Reading()
    for line in text.rows:
        if match := _PORT.match(line.text):
            readings.add(name, reading)
            name, reading = f"port {match[1]}", Reading(quote=text.take(line))
        elif _END.match(line.text):
            readings.add(name, reading)
            name, reading = "", Reading()
        elif name and (found := [*_ROW.finditer(line.text), *_FIELDS.finditer(line.text)]):
            quote = text.take(line)
            for one in found:
                reading.note(one["name"], count(one["count"]) or 0, quote)
    readings.add(name, reading)
    counted = [(port, one) for port, one in readings.counted() if port]
    if not counted:
        return None
    return Evidence(
        ports=tuple(_port(port, one) for port, one in counted),
        losses=tuple(loss for port, one in counted for loss in _losses(port, one)),
    )


def _port(name: str, one: Reading) -> Port:
    return Port(
        name=name,
        rx_packets=one.counters.get("ipackets", one.counters.get("received")),
        tx_packets=one.counters.get("opackets", one.counters.get("sent")),
        counters=one.counters,
        quote=one.where,
    )


def _losses(name: str, one: Reading) -> list[Loss]:
    return [
        Loss(
            place=f"{name}: {counter}",
            cause=cause,
            packets=one.counters[counter],
            quote=one.quotes[counter],
        )
        for counter, cause in _LOSSES
        if one.counters.get(counter)
    ]
