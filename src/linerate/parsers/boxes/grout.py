"""Box `grout`: DPDK's graph router, asked by `grcli`.

Its packet graph has a node for each reason to drop, and counts packets, calls and cycles of all.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.evidence import Evidence, Node, Quote, Worker
from linerate.parsers.boxes import Asked, Counted, Question, UnreadableError, register
from linerate.parsers.grout_tables import (
    CARD,
    IDLE,
    INTERFACE_NAMES,
    NODE_NAMES,
    OVERHEAD,
    SOURCE,
    calls,
    cycles,
    loses,
    place,
    table,
)


class GroutBox:
    """A router on grout."""

    name = "grout"
    has_shell = True

    def facts(self, asked: Asked) -> tuple[Question, ...]:
        """Version, interfaces, queues, addresses, routes and neighbours."""
        return (
            Question("version", f"{_grcli(asked)} --version"),
            Question("interfaces", f"{_grcli(asked)} interface show"),
            Question("affinity", f"{_grcli(asked)} affinity qmap show"),
            Question("addresses", f"{_grcli(asked)} address show"),
            Question("routes", f"{_grcli(asked)} route show | head -n 1000"),
            Question("nexthops", f"{_grcli(asked)} nexthop show | head -n 1000"),
            Question("uname -a", "uname -a"),
            Question("cpuinfo", "sed '/^$/q' /proc/cpuinfo"),
        )

    def counters(self, asked: Asked) -> tuple[Question, ...]:
        """Interfaces, nodes and the cards' own counters."""
        hardware = f"{_grcli(asked)} stats show hardware"
        return (
            Question("interface stats", f"{_grcli(asked)} interface stats", required=True),
            Question("software", f"{_grcli(asked)} stats show software", required=True),
            Question("hardware", f"{hardware} zero 2>/dev/null || {hardware}", required=True),
        )

    def at_load(self, asked: Asked) -> tuple[Question, ...]:
        """Nodes of each worker, by its CPU."""
        # The column of CPUs is the first or the third, by version: it is found by its name.
        cpus = (
            f"{_grcli(asked)} affinity qmap show | awk 'NR == 1 {{ for (i = 1; i <= NF; i++) "
            'if ($i == "CPU_ID") c = i; next } c { print $c }\' | sort -nu'
        )
        return (
            Question(
                "workers",
                f'for cpu in $({cpus}); do echo "cpu $cpu"; '
                f'{_grcli(asked)} stats show software cpu "$cpu"; done',
            ),
        )

    def clear(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: all counters are differences anyway."""
        return ()

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Ports, and losses by node."""
        interfaces = table(texts.get("interface stats", "").splitlines(), INTERFACE_NAMES)
        cards = _cards(texts.get("hardware", ""))
        counted = Counted()
        for port, name in asked.ports.items():
            row = interfaces.get(name, ({}, 0))[0]
            if not {"RX_PACKETS", "TX_PACKETS"} <= row.keys():
                raise UnreadableError(
                    f"no interface {name} in grout; `grcli interface stats` has "
                    f"{', '.join(sorted(interfaces)[:8]) or 'none'}"
                )
            counters = {key.lower(): int(value) for key, value in row.items()} | cards.get(name, {})
            missed, errors = counters.get("rx_missed_errors", 0), counters.get("rx_errors", 0)
            # Those reached the port, which counts them elsewhere.
            counters["rx_packets"] += missed + errors
            counted.ports[port] = counters
            counted.losses |= {f"{port}: rx missed": missed, f"{port}: rx errors": errors}
        nodes = table(texts.get("software", "").splitlines(), NODE_NAMES)
        counted.losses |= {
            place(name): int(row.get("PACKETS", 0))
            for name, (row, _) in nodes.items()
            if loses(name)
        }
        return counted

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Each worker's nodes between the two answers at load."""
        batches = box.batches("load")
        if len(batches) < 2:
            return Evidence()
        return Evidence(workers=tuple(_workers(batches[0], batches[-1])))


def _grcli(asked: Asked) -> str:
    return f"grcli -s {asked.socket}" if asked.socket else "grcli"


def _cards(text: str) -> dict[str, dict[str, int]]:
    """By interface, the counters of its card. An interface's own are of what it handed to that."""
    found: dict[str, dict[str, int]] = {}
    for name, counter, value in CARD.findall(text):
        found.setdefault(name, {})[counter] = int(value)
    for counters in found.values():
        for way in ("rx", "tx"):
            if f"{way}_good_packets" in counters:
                counters[f"{way}_packets"] = counters[f"{way}_good_packets"]
    return found


def _workers(first: tuple[Answer, ...], last: tuple[Answer, ...]) -> Iterator[Worker]:
    seconds = (last[0].asked_us - first[0].asked_us) / 1e6
    before, after = (_by_cpu(texts(one).get("workers", "")) for one in (first, last))
    for cpu, (text, line) in after.items():
        if cpu not in before or seconds <= 0:
            continue
        early = table(before[cpu][0].splitlines(), NODE_NAMES)
        late = table(text.splitlines(), NODE_NAMES)
        grown = [
            _grown(name, row, early.get(name, ({}, 0))[0], line + at)
            for name, (row, at) in late.items()
            if "." not in name
        ]
        worker = _worker(cpu, grown, seconds, line)
        if worker is not None:
            yield worker


def _by_cpu(text: str) -> dict[int, tuple[str, int]]:
    """By CPU: its table, and the line that names it."""
    found: dict[int, tuple[str, int]] = {}
    parts = re.split(r"^cpu (\d{1,5})$", text, flags=re.MULTILINE)
    line = parts[0].count("\n") + 1
    for cpu, rows in zip(parts[1::2], parts[2::2], strict=False):
        found[int(cpu)] = (rows.removeprefix("\n"), line)
        line += rows.count("\n")
    return found


class _Grown(NamedTuple):
    """A node between two answers."""

    name: str
    calls: int
    packets: int
    cycles: float
    line: int


def _grown(name: str, late: dict[str, float], early: dict[str, float], line: int) -> _Grown:
    return _Grown(
        name=name,
        calls=max(0, int(calls(late) - calls(early))),
        packets=max(0, int(late.get("PACKETS", 0) - early.get("PACKETS", 0))),
        cycles=max(0.0, cycles(late) - cycles(early)),
        line=line,
    )


def _worker(cpu: int, grown: list[_Grown], seconds: float, line: int) -> Worker | None:
    """One worker: its nodes are the forwarder, idle is spare."""
    whole = sum(one.cycles for one in grown)
    if whole <= 0:
        return None
    idle = sum(one.cycles for one in grown if one.name == IDLE)
    spare = 100.0 * idle / whole
    nodes = tuple(_node(one) for one in grown if one.name not in (IDLE, OVERHEAD) and one.packets)
    name = f"grout-cpu{cpu}"
    packets = sum(node.vectors for node in nodes if node.polling)
    quote = Quote(
        source="workers",
        line=line,
        text=f"{name}: {packets:,} packets, {spare:.1f} % of its cycles idle",
    )
    return Worker(
        name=name,
        cpu=cpu,
        seconds=seconds,
        tsc_hz=whole / seconds,
        in_pps=packets / seconds,
        nodes=nodes,
        idle_in_clocks=False,
        # Without sleeps all is polled, and empty polls are calls of the node that polls.
        spare_percent=spare if idle else None,
        quote=quote,
    )


def _node(one: _Grown) -> Node:
    each = one.cycles / one.packets
    polls = one.calls or 1
    return Node(
        name=one.name,
        state="polling" if one.name.startswith(SOURCE) else "active",
        calls=polls,
        vectors=one.packets,
        clocks_per_packet=each,
        vectors_per_call=one.packets / polls,
        quote=Quote(
            source="workers",
            line=one.line,
            text=f"{one.name}: {one.packets / polls:.1f} packets a call, {each:.1f} cycles each",
        ),
    )


register(GroutBox())
