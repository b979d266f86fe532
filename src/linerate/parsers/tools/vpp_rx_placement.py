"""VPP's `show interface rx-placement` (vnet/interface_cli.c): which thread polls which queue."""

import re
from collections import Counter

from linerate.model.evidence import Evidence, Port, Quote
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_THREAD = re.compile(r"\s*Thread \d{1,4} \((?P<name>[^\s()]+)\):\s*")
_NODE = re.compile(r"\s*node [A-Za-z0-9]\S*-input:\s*")
_QUEUE = re.compile(
    r"\s*(?P<port>[A-Za-z]\S*) queue (?P<queue>\d{1,5})"
    r" \((?:polling|interrupt|adaptive|unknown)\)\s*"
)


@parser("VPP show interface rx-placement")
def rx_placement(text: Text) -> Evidence | None:
    """Read each interface's queues, and how many of them each thread polls."""
    queues: dict[str, dict[str, str]] = {}
    quotes: dict[str, Quote] = {}
    thread = ""
    for line in text.rows:
        if line.text.rstrip()[-1:] not in ("):"):
            continue
        if match := _QUEUE.fullmatch(line.text):
            # The last one counts of two readings.
            queues.setdefault(match["port"], {})[match["queue"]] = thread
            quotes.setdefault(match["port"], text.take(line))
        elif match := _THREAD.fullmatch(line.text):
            thread = match["name"]
            text.take(line)
        elif _NODE.fullmatch(line.text):
            text.take(line)
    if not queues:
        return None
    return Evidence(
        ports=tuple(
            Port(
                name=name,
                rx_queues=len(by_queue),
                counters={
                    f"rx queues of {worker}": number
                    for worker, number in Counter(by_queue.values()).items()
                    if worker
                },
                quote=quotes[name],
            )
            for name, by_queue in queues.items()
        )
    )
