"""VPP's stats segment: what `vpp_get_stats dump` prints, and vpp_papi's VPPStats as a dict.

A name, and a value for each index (interface, node) of each thread. The forms of
vpp/app/vpp_get_stats.c, the one for machines with it; older versions print the counters
of `/err/…` as bare numbers.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from linerate.model.evidence import Evidence, Loss, Node, Port, Quote, Worker
from linerate.model.loss_causes import cause_of
from linerate.parsers.numbers import COUNT, COUNT_MAX, NUMBER, count
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser
from linerate.parsers.vpp_reasons import is_passing

#: More than VPP has threads, interfaces or nodes: what is above is no index.
INDEX_MAX = 1 << 20
#: A dict of more than this is not read: Python's parser needs some hundred times its size.
DICT_MAX_CHARS = 8 << 20

#: Input nodes of cards: they poll when they are called at all, but by interrupts. The
#: segment does not say states.
CARD_INPUT = re.compile(
    r"(?:dpdk|rdma|avf|iavf|virtio|memif|af-packet|af_xdp|vmxnet3|vhost-user|pg|netmap|ena"
    r"|octeon|mlx5|port-rx)-input"
)
_PATH = r"/(?:if|interfaces|sys|nodes|node|err|mem|net|buffer-pools|workers|ip4|ip6|bier|mpls)/.*"
_STAMP = r"(?:\d{1,12}\.\d{1,9}:)?"
_VALUE = re.compile(
    rf"\s*{_STAMP}\[(?P<index>\d+)(?:\s*@\s*(?P<thread>\d+))?\]:\s+(?P<packets>{COUNT})\s+packets"
    rf"(?:,\s+(?P<bytes>{COUNT})\s+bytes)?\s+(?P<path>{_PATH})"
)
_NAME = re.compile(rf"\s*{_STAMP}\[(?P<index>\d+)\]:\s+(?P<name>\S+)\s+(?P<path>{_PATH})")
_SCALAR = re.compile(rf"\s*{_STAMP}(?P<value>{NUMBER})\s+(?P<path>{_PATH})")
#: VPPStats.set_errors_str.
_PRETTY = re.compile(rf"\s*(?P<path>/err/[^/]+/.*\S)\s+(?P<value>{COUNT})\s*")
_PRETTY_HEAD = re.compile(r"\s*ERRORS:\s*")
#: `type:index:thread:value:name`, with the bytes after the packets for a combined one.
_MACHINE = re.compile(
    rf"\s*{_STAMP}\d+:(?P<index>\d+):(?P<thread>\d+):(?P<packets>\d+)(?::(?P<bytes>\d+))?"
    rf":(?P<path>{_PATH})"
)
_MACHINE_NAME = re.compile(
    rf"\s*{_STAMP}\d+:(?P<index>\d+):(?P<name>[^:/\d][^:]*):(?P<path>{_PATH})"
)
#: Links by name, since 21.06.
_NODE_PATH = re.compile(r"/(?:sys/node|nodes/(?P<node>.+))/(?P<what>calls|vectors|clocks|suspends)")
_IF_PATH = re.compile(r"/(?:if|interfaces/(?P<name>.+))/(?P<what>[a-z0-9-]+)")
#: Names of nodes hold slashes as those of interfaces do (`TenGigabitEthernet5/0/0-tx`); in reasons
#: VPP writes `_` for them, since 21.06.
_ERROR_PATH = re.compile(r"/err/(?P<node>.+)/(?P<reason>[^/]+)")
_ERROR_OLD = re.compile(r"/err/(?P<node>[^/]+)/(?P<reason>[^/]* \S*/.+)")
_LOSSES = ("rx-miss", "rx-no-buf", "tx-error")


class _Value(NamedTuple):
    """A counter of one index, of one thread (None: all of them together)."""

    path: str
    at: int
    thread: int | None
    packets: int
    octets: int | None
    quote: Quote


@dataclass(slots=True)
class _Segment:
    """All that was read of a segment."""

    values: list[_Value] = field(default_factory=list)
    #: By path, then by index.
    names: dict[str, dict[int, str]] = field(default_factory=dict)

    def name(self, path: str, index: int, otherwise: str) -> str:
        return self.names.get(path, {}).get(index, otherwise)


@parser("VPP stats segment")
def stats(text: Text) -> Evidence | None:
    """Read nodes by thread, interfaces and errors."""
    segment = _Segment()
    known = False
    head: Line | None = None
    for line in text.rows:
        if _line(text, segment, line):
            known = True
            if head is not None:
                text.take(head)
        head = line if _PRETTY_HEAD.fullmatch(line.text) else None
    known |= _dict(text, segment)
    if not known:
        return None
    ports, port_losses = _ports(segment)
    return Evidence(
        workers=_workers(segment),
        losses=(*port_losses, *_errors(segment)),
        ports=ports,
    )


def _line(text: Text, segment: _Segment, line: Line) -> bool:
    if match := _VALUE.fullmatch(line.text) or _MACHINE.fullmatch(line.text):
        packets, octets = count(match["packets"]), count(match["bytes"] or "0")
        index, thread = _index(match["index"]), _index(match["thread"] or "0")
        if packets is None or octets is None or index is None or thread is None:
            return False
        value = _Value(
            match["path"].strip(),
            index,
            thread if match["thread"] else None,
            packets,
            octets if match["bytes"] else None,
            text.take(line),
        )
        segment.values.append(value)
        return True
    if match := _NAME.fullmatch(line.text) or _MACHINE_NAME.fullmatch(line.text):
        index = _index(match["index"])
        if index is None:
            return False
        segment.names.setdefault(match["path"].strip(), {})[index] = match["name"]
        text.take(line)
        return True
    if match := _SCALAR.fullmatch(line.text) or _PRETTY.fullmatch(line.text):
        quote = text.take(line)
        value_of = count(match["value"])
        if match["path"].startswith("/err/") and value_of is not None:
            segment.values.append(_Value(match["path"].strip(), 0, None, value_of, None, quote))
        return True
    return False


def _index(text: str) -> int | None:
    value = count(text)
    return value if value is not None and value <= INDEX_MAX else None


def _dict(text: Text, segment: _Segment) -> bool:
    """Read what Python prints of a segment, or its JSON."""
    whole = text.whole
    start, end = whole.find("{"), whole.rfind("}")
    if start < 0 or end < start or end - start > DICT_MAX_CHARS:
        return False
    body = whole[start : end + 1]
    if "/sys/" not in body and "/if/" not in body and "/err/" not in body:
        return False
    read = _parsed(body)
    if not isinstance(read, dict):
        return False
    places = _places(text)
    known = False
    for path, value in read.items():
        if isinstance(path, str) and path in places and re.fullmatch(_PATH, path):
            _entry(segment, path, value, places[path])
            known = True
    if known:
        first = whole.count("\n", 0, start)
        last = whole.count("\n", 0, end)
        for line in text.lines[first : last + 1]:
            text.take(line)
    return known


def _parsed(body: str) -> object:
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return _literal(body)
    return parsed


def _literal(body: str) -> object:
    with warnings.catch_warnings():
        # For escapes that Python doesn't know: a paste is not our code.
        warnings.simplefilter("ignore")
        try:
            literal: object = ast.literal_eval(body)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    return literal


def _places(text: Text) -> dict[str, Quote]:
    """Where each path stands, by its quotes."""
    places: dict[str, Quote] = {}
    for line in text:
        for match in re.finditer(r"""["'](/[^"']+)["']\s*:""", line.text):
            quote = Quote(source=text.source, line=line.number, text=line.text.strip()[:200])
            places.setdefault(match[1], quote)
    return places


def _entry(segment: _Segment, path: str, value: object, quote: Quote) -> None:
    if path.endswith("/names") and isinstance(value, list):
        names = {index: name for index, name in enumerate(value) if isinstance(name, str)}
        segment.names.setdefault(path, {}).update(names)
        return
    rows = value if isinstance(value, list) else [value]
    for thread, row in enumerate(rows):
        cells = row if isinstance(row, list) else [row]
        for index, cell in enumerate(cells):
            pair = _cell(cell)
            if pair is not None:
                segment.values.append(_Value(path, index, thread, pair[0], pair[1], quote))


def _cell(cell: object) -> tuple[int, int | None] | None:
    """A simple counter, or a combined one: a dict, or a tuple of packets and bytes."""
    if isinstance(cell, dict):
        cell = (cell.get("packets"), cell.get("bytes"))
    if isinstance(cell, tuple):
        if len(cell) != 2:
            return None
        packets, octets = _counter(cell[0]), _counter(cell[1])
        return None if packets is None or octets is None else (packets, octets)
    simple = _counter(cell)
    return None if simple is None else (simple, None)


def _counter(value: object) -> int | None:
    """A counter as Python has it; None when it is none."""
    # True is an int as well, and no counter.
    if isinstance(value, int) and type(value) is int and 0 <= value <= COUNT_MAX:
        return value
    return None


def _workers(segment: _Segment) -> tuple[Worker, ...]:
    threads: dict[int | None, dict[str, dict[str, _Value]]] = {}
    for value in segment.values:
        match = _NODE_PATH.fullmatch(value.path)
        if match is None:
            continue
        name = match["node"] or segment.name("/sys/node/names", value.at, f"node {value.at}")
        threads.setdefault(value.thread, {}).setdefault(name, {})[match["what"]] = value
    workers = []
    for thread, by_name in threads.items():
        nodes = tuple(node for name, message in by_name.items() if (node := _node(name, message)))
        if nodes:
            workers.append(_worker(thread, nodes))
    return tuple(workers)


def _worker(thread: int | None, nodes: tuple[Node, ...]) -> Worker:
    polls = any(node.polling and node.vectors for node in nodes)
    quote = nodes[0].quote
    if thread is None:
        return Worker(name="all threads", nodes=nodes, quote=quote)
    if thread == 0:
        return Worker(name="vpp_main", role="worker" if polls else "main", nodes=nodes, quote=quote)
    return Worker(name=f"vpp_wk_{thread - 1}", nodes=nodes, quote=quote)


def _node(name: str, message: dict[str, _Value]) -> Node | None:
    """Make a node of its counters; None when it was never called."""
    counted = {what: value.packets for what, value in message.items()}
    calls, vectors = counted.get("calls", 0), counted.get("vectors", 0)
    suspends, clocks = counted.get("suspends", 0), counted.get("clocks")
    if "calls" not in counted or "vectors" not in counted or not (calls or suspends):
        return None
    by = vectors or calls or suspends
    return Node(
        name=name,
        state="polling" if calls and CARD_INPUT.fullmatch(name) else "",
        calls=calls,
        vectors=vectors,
        suspends=suspends,
        clocks_per_packet=None if clocks is None else clocks / by,
        vectors_per_call=vectors / calls if calls else 0.0,
        quote=message["vectors"].quote,
    )


def _errors(segment: _Segment) -> Iterator[Loss]:
    for value in segment.values:
        match = _ERROR_OLD.fullmatch(value.path) or _ERROR_PATH.fullmatch(value.path)
        if match is None or not value.packets or is_passing(match["reason"]):
            continue
        place = f"{match['node']}: {match['reason'].replace('_', ' ')}"
        yield Loss(place=place, cause=cause_of(place), packets=value.packets, quote=value.quote)


@dataclass(slots=True)
class _Interface:
    quote: Quote
    packets: dict[str, int] = field(default_factory=dict)
    octets: dict[str, int] = field(default_factory=dict)
    #: The first that is not 0.
    quotes: dict[str, Quote] = field(default_factory=dict)


def _ports(segment: _Segment) -> tuple[tuple[Port, ...], list[Loss]]:
    """Interfaces, each with its counters of all threads together."""
    found: dict[str, _Interface] = {}
    seen: set[tuple[str, str, int | None]] = set()
    known = segment.names.get("/if/names", {}).values()
    names = {name.replace("/", "_"): name for name in known}
    for value in segment.values:
        match = _IF_PATH.fullmatch(value.path)
        if match is None:
            continue
        name = match["name"] or segment.name("/if/names", value.at, f"if {value.at}")
        what = match["what"]
        # A counter stands there once by index and once by name, in which VPP may write `_` for `/`.
        alias = name.replace("/", "_")
        name = names.setdefault(alias, name)
        if (alias, what, value.thread) in seen:
            continue
        seen.add((alias, what, value.thread))
        port = found.setdefault(name, _Interface(value.quote))
        port.packets[what] = port.packets.get(what, 0) + value.packets
        if value.octets is not None:
            port.octets[what] = port.octets.get(what, 0) + value.octets
        if value.packets:
            port.quotes.setdefault(what, value.quote)
    losses = [
        Loss(
            place=f"{name}: {what}",
            cause=cause_of(what),
            packets=port.packets[what],
            quote=port.quotes[what],
        )
        for name, port in found.items()
        for what in _LOSSES
        if port.packets.get(what)
    ]
    ports = tuple(
        Port(
            name=name,
            rx_packets=port.packets.get("rx"),
            tx_packets=port.packets.get("tx"),
            rx_bytes=port.octets.get("rx"),
            tx_bytes=port.octets.get("tx"),
            counters={what: n for what, n in port.packets.items() if what not in ("rx", "tx")},
            quote=port.quote,
        )
        for name, port in found.items()
    )
    return ports, losses
