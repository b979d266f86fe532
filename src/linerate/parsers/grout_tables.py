"""Tables of grout's `grcli`, of a box at work and pasted: nodes of its graph, interfaces, cards."""

import re
from collections.abc import Iterable

#: Nodes at which packets end (GR_DROP_REGISTER in grout's sources), by how they are named.
_DROP = re.compile(
    r"(?:drop|error|bad|invalid|inval|unsupp\w*|unknown|blackhole|prohibited|down|big|disabled"
    r"|hairpin|fragmented|fragments|host|not|no)(?:_|$)"
)
#: Nodes that turn a packet into an ICMP message about it: it is lost there, and may end once more
#: as the message, at a node behind.
_ANSWERED = re.compile(r"ip6?_error_")
_OWN = re.compile(
    r"error_no_|icmp6?_(?:output|local)|arp_output|ndp_\w+_output|control_output|ip6?_error_$"
)
NODE_NAMES = ("NODE",)
INTERFACE_NAMES = ("INTERFACE", "IFACE")
#: `p0.rx_good_packets: 5`: a name of an interface has dots where it is a VLAN.
CARD = re.compile(r"^[ \t]*(\S+)\.([a-z]\w*):?[ \t]+(\d{1,20})[ \t]*$", re.MULTILINE)
#: Rows that are no nodes of the graph.
IDLE, OVERHEAD = "idle", "overhead"
#: Nodes that ask a port's queue for packets: `port_rx`, `port_rx-p0q0`.
SOURCE = "port_rx"

#: The numbers of a row by column's name, and its line.
Row = tuple[dict[str, float], int]


def table(lines: Iterable[str], first: tuple[str, ...]) -> dict[str, Row]:
    """By first column: the numbers of a row, and its line; of several rows the last one counts."""
    rows: dict[str, Row] = {}
    names: list[str] = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words and words[0] in first:
            names = words[1:]
        elif names and len(words) == len(names) + 1:
            try:
                values = [float(word) for word in words[1:]]
            except ValueError:
                continue
            if all(0 <= value < 2**64 for value in values):
                rows[words[0]] = (dict(zip(names, values, strict=True)), number)
    return rows


def loses(node: str) -> bool:
    """Whether packets of the load end at a node, not those that the router made itself."""
    if "." in node or node in (IDLE, OVERHEAD) or _OWN.match(node):
        return False
    return bool(_ANSWERED.match(node) or _DROP.search(node))


def place(node: str) -> str:
    """The place that a node which drops stands for."""
    return f"grout: {node.replace('_', ' ')}"


def calls(row: dict[str, float]) -> float:
    """Calls of a node: versions name the column otherwise."""
    return row.get("BATCHES", row.get("CALLS", 0.0))


def cycles(row: dict[str, float]) -> float:
    """Cycles of all calls of a node."""
    return calls(row) * row.get("CYCLES/BATCH", row.get("CYCLES/CALL", 0.0))
