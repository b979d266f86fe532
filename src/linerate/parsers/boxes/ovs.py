"""Box `ovs`: Open vSwitch with its datapath in user space (DPDK), asked by its own programs.

A port counts what its card gave it; a packet then ends at a policer or meter, at a flow that drops,
without a flow, or at a port that can't send it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.evidence import Evidence, Node, Quote, Worker
from linerate.parsers.boxes import (
    Asked,
    Counted,
    Question,
    UnreadableError,
    _packet_sockets,
    _scheduling,
    register,
)
from linerate.parsers.ovs_counters import (
    COVERAGE,
    LOSSES,
    PIPELINE,
    THREAD,
    VALUE,
    datapath_place,
    port_place,
)

#: Coverage counters are those of each thread's last second (lib/coverage.c), statistics of flows
#: those of the last half (ofproto's max-revalidator): once they stand still, they are all there.
_SETTLED = "sleep 1.1 2>/dev/null || sleep 2"
#: Statistics of each kind of port that are packets lost on the way in, and not among `rx_packets`.
_RX_LOSSES = {"rx_missed_errors": "rx missed", "rx_errors": "rx errors"}
_TX_ERRORS = "tx errors: refused by the driver"
#: `recv`, `xmit` and their bytes, as OpenFlow has them.
_PORT = re.compile(r"\s(rx|tx) pkts=(\d+), bytes=(\d+), drop=(\d+|\?), errs=(\d+|\?)")
_CUSTOM = re.compile(r"([A-Za-z_]\w*)=(\d+)(?=[,\s]|$)")
_FLOW = re.compile(r"\btable=(\w+), n_packets=(\d+), (.*)actions=drop\s*$")
_MATCH = re.compile(r"(?:\w+_age=\d+|n_bytes=\d+|send_flow_rem|reset_counts)(?:,? |, )")
#: With more flows that drop than that, those of a table are one place.
FLOWS_NAMED = 32
#: Share of a window's packets without a flow yet that is worth a word: each costs a search.
UPCALL_PERCENT = 1.0
#: A thread that polls needs a CPU of its own.
WAITED_PERCENT = 2.0


class OvsBox:
    """Open vSwitch, whose poll-mode threads forward."""

    name = "ovs"
    has_shell = True

    def facts(self, asked: Asked) -> tuple[Question, ...]:
        """Versions, bridges, ports, queues, and the flows' first thousand."""
        ofctl = "ovs-ofctl -O OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15"
        return tuple(
            Question(name, _with(asked, command))
            for name, command in (
                ("ovs-vsctl show", "ovs-vsctl show"),
                ("settings", "ovs-vsctl get Open_vSwitch . ovs_version dpdk_version other_config"),
                ("interfaces", "ovs-vsctl --format json list interface"),
                ("flows", f'for b in $(ovs-vsctl list-br); do {ofctl} dump-flows "$b"; done'
                          " | head -n 1000"),
                ("meters", 'for b in $(ovs-vsctl list-br); do ovs-ofctl -O OpenFlow13 dump-meters '
                           '"$b"; done'),
                ("pmd-rxq-show", _control("dpif-netdev/pmd-rxq-show")),
                ("uname -a", "uname -a"),
                ("cpuinfo", "sed '/^$/q' /proc/cpuinfo"),
            )
        )  # fmt: skip

    def counters(self, asked: Asked) -> tuple[Question, ...]:
        """Counters of ports now, statistics that the database has, drops of the datapath."""
        ofctl = "ovs-ofctl -O OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15"
        flows = (
            'for b in $(ovs-vsctl list-br); do echo "bridge $b"; '
            f"{ofctl} dump-flows \"$b\" | grep 'actions=drop$'; done; true"
        )
        of_ports = [
            Question(
                f"dump-ports {name}",
                _with(asked, f'{ofctl} dump-ports "$(ovs-vsctl iface-to-br {name})" "$(ovs-vsctl '
                             f'get interface {name} ofport)"'),
                required=True,
            )
            for name in asked.ports.values()
        ]  # fmt: skip
        return (
            Question("settled", _SETTLED),
            *of_ports,
            Question("interfaces", _with(asked, "ovs-vsctl --format json list interface")),
            Question(_packet_sockets.QUESTION, f"{_packet_sockets.COMMAND} || true"),
            Question("coverage", _with(asked, _control("coverage/show")), required=True),
            Question("flows that drop", _with(asked, flows)),
            Question("pmd-stats-show", _with(asked, _control("dpif-netdev/pmd-stats-show"))),
        )

    def at_load(self, asked: Asked) -> tuple[Question, ...]:
        """Cycles of each thread, and its wait for its CPU."""
        process = f"p=$(cat {_folder(asked)}/ovs-vswitchd*.pid | head -n 1)"
        return (
            Question("pmd-stats-show", _with(asked, _control("dpif-netdev/pmd-stats-show"))),
            Question("pmd-perf-show", _with(asked, _control("dpif-netdev/pmd-perf-show -nh"))),
            Question("schedstat", f"{process}; {_scheduling.SHELL}"),
        )

    def clear(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: all counters are differences anyway."""
        return ()

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Ports, and losses in the order of a packet's way."""
        counted = Counted()
        lagging = _interfaces(texts.get("interfaces", ""))
        sockets = _sockets(texts)
        for port, name in asked.ports.items():
            counters = lagging.get(name, {}) | _port(texts.get(f"dump-ports {name}", ""))
            if not {"rx_packets", "tx_packets"} <= counters.keys():
                raise UnreadableError(
                    f"no counters of port {name}; `ovs-vsctl list interface` has {_some(lagging)}"
                )
            missed = {f"{port}: {words}": counters.get(key, 0) for key, words in _RX_LOSSES.items()}
            # Those reached the port, which counts them elsewhere.
            counters["rx_packets"] += sum(missed.values())
            if name in sockets:
                crossed, at_socket = _packet_sockets.counted(port, counters, sockets[name])
                counters |= crossed
                missed |= at_socket
            counted.ports[port] = counters
            counted.losses |= missed
            counted.losses |= {port_place(port, key): counters.get(key, 0) for key in LOSSES}
            counted.losses[f"{port}: {_TX_ERRORS}"] = counters.get("tx_errors", 0)
        counted.losses |= _drops(texts.get("coverage", ""), texts.get("flows that drop", ""))
        return counted

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Each poll-mode thread between the two answers at load."""
        batches = box.batches("load")
        windows = tuple(_windows(batches[0], batches[-1])) if len(batches) > 1 else ()
        return Evidence(
            workers=tuple(filter(None, map(_worker, windows))),
            unplugged=tuple(_unplugged(box)),
            doubts=tuple(quote for window in windows for quote in _doubts(window)),
        )


def _folder(asked: Asked) -> str:
    """The folder of its sockets: that of the database's where the testbed names it."""
    if asked.socket:
        return str(PurePosixPath(asked.socket).parent)
    return "${OVS_RUNDIR:-/var/run/openvswitch}"


def _with(asked: Asked, command: str) -> str:
    return f"export OVS_RUNDIR={_folder(asked)}; {command}"


def _control(command: str) -> str:
    """A question to the switch itself, whatever the name of its program."""
    return f'ovs-appctl -t "$(ls "$OVS_RUNDIR"/ovs-vswitchd*.ctl | head -n 1)" {command}'


def _some(interfaces: Mapping[str, object]) -> str:
    return ", ".join(sorted(interfaces)[:8]) or "none"


def _interfaces(text: str) -> dict[str, dict[str, int]]:
    """By name, what the database counts of a port: up to five seconds old."""
    return {name: _map(row.get("statistics")) for name, row in _rows(text).items()}


def _rows(text: str) -> dict[str, dict[str, Any]]:
    """By name, what the database knows of a port."""
    try:
        table = json.loads(text)
        names, rows = table["headings"], table["data"]
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return {str(row["name"]): row for row in found}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _sockets(texts: Mapping[str, str]) -> dict[str, _packet_sockets.Interface]:
    """By port, the kernel's interface behind a packet socket."""
    kernel = texts.get(_packet_sockets.QUESTION, "")
    found = {}
    for name, row in _rows(texts.get("interfaces", "")).items():
        behind = _packet_sockets.behind([str(row.get("options"))], kernel)
        for interface in behind.values():
            # One of that name in another namespace has another address.
            if interface.address == row.get("mac_in_use"):
                found[name] = interface
    return found


def _unplugged(box: BoxAnswers) -> Iterator[Quote]:
    """Ports without a link before or after."""
    batches = [texts(one) for moment in ("before", "after") for one in box.batches(moment)]
    for port, name in box.ports.items():
        if any(_is_down(batch, name) for batch in batches):
            yield Quote(source="interfaces", line=1, text=f"{port} ({name}): link down")


def _is_down(answers: Mapping[str, str], name: str) -> bool:
    """Whether a port has no link: a driver may not know, and the kernel does."""
    kernel = _sockets(answers).get(name)
    row = _rows(answers.get("interfaces", "")).get(name, {})
    down = "down" in (row.get("link_state"), row.get("admin_state"))
    return down or (kernel is not None and not kernel.up)


def _map(value: object) -> dict[str, int]:
    """A map as RFC 7047 writes it."""
    pairs = value[1] if isinstance(value, list) and len(value) == 2 else []
    return {
        str(pair[0]): pair[1]
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], int)
    }


def _port(text: str) -> dict[str, int]:
    """Counters of a port, as it answers OpenFlow at once; those of its own since version 1.4."""
    counters: dict[str, int] = {}
    for way, packets, octets, drops, errors in _PORT.findall(text):
        found = {"packets": packets, "bytes": octets, "dropped": drops, "errors": errors}
        counters |= {f"{way}_{key}": _int(value) for key, value in found.items() if value != "?"}
    _, _, custom = text.partition("CUSTOM Statistics")
    return counters | {name: _int(value) for name, value in _CUSTOM.findall(custom)}


def _int(text: str) -> int:
    """A counter: 64 bits, so that no text is too long a number."""
    return int(text[:20])


def _drops(coverage: str, flows: str) -> dict[str, int]:
    """Packets dropped between two ports: by flows that drop, without one, for another reason."""
    counters = {name: _int(packets) for name, packets in COVERAGE.findall(coverage)}
    by_flow = _flows(flows)
    without = counters.pop(PIPELINE, 0) - sum(by_flow.values())
    named = {datapath_place(name): value for name, value in counters.items()}
    return by_flow | {"openflow: no flow": without} | named


def _flows(text: str) -> dict[str, int]:
    """Packets of each flow of OpenFlow's that drops; of each table where those are many."""
    bridge, found = "", []
    for line in text.splitlines():
        if line.startswith("bridge "):
            bridge = line.removeprefix("bridge ").strip()
        elif (match := _FLOW.search(line)) is not None:
            table, packets, rest = match.groups()
            found.append((f"openflow {bridge} table {table}", _matched(rest), _int(packets)))
    places: dict[str, int] = {}
    for where, flow, packets in found:
        place = f"{where}: {f'flow {flow}' if len(found) <= FLOWS_NAMED else 'a flow'} drops"
        places[place] = places.get(place, 0) + packets
    return places


def _matched(text: str) -> str:
    return _MATCH.sub("", f"{text.strip()} ").strip(" ,")[:120] or "without a match"


class _Window(NamedTuple):
    """Counters of a thread between two answers."""

    name: str
    cpu: int
    seconds: float
    packets: int
    busy_cycles: int
    idle_cycles: int
    #: Iterations of its loop that found packets; 0 where the answer lacks them.
    calls: int
    upcalls: int
    #: Its time without a CPU, though it had work; None where the answer lacks it.
    waited: _scheduling.Waited | None
    line: int


def _windows(first: tuple[Answer, ...], last: tuple[Answer, ...]) -> Iterator[_Window]:
    before, after = texts(first), texts(last)
    seconds = (last[0].asked_us - first[0].asked_us) / 1e6
    stats = [_threads(one.get("pmd-stats-show", "")) for one in (before, after)]
    perf = [_threads(one.get("pmd-perf-show", "")) for one in (before, after)]
    waits = _scheduling.waited(before.get("schedstat", ""), after.get("schedstat", ""), seconds)
    for thread, (counters, line) in stats[1].items():
        if thread not in stats[0] or thread[0] != "pmd" or seconds <= 0:
            continue
        early = stats[0][thread][0]
        grown = {name: value - early.get(name, 0) for name, value in counters.items()}
        calls = [one.get(thread, ({}, 0))[0].get("busy iterations", 0) for one in perf]
        name = f"pmd-c{thread[2]:02d}"
        yield _Window(
            name=name,
            cpu=thread[2],
            seconds=seconds,
            packets=grown.get("packets received", 0),
            busy_cycles=grown.get("processing cycles", 0),
            idle_cycles=grown.get("idle cycles", 0),
            calls=max(0, calls[1] - calls[0]),
            upcalls=grown.get("miss with success upcall", 0)
            + grown.get("miss with failed upcall", 0),
            # Its thread has the number of a handler behind its name.
            waited=next(
                (one for waiting, one in waits.items() if waiting.partition("/")[0] == name), None
            ),
            line=line,
        )


def _threads(text: str) -> dict[tuple[str, int, int], tuple[dict[str, int], int]]:
    """By thread: its counters, and the line that names it."""
    found: dict[tuple[str, int, int], tuple[dict[str, int], int]] = {}
    counters: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if (thread := THREAD.fullmatch(line)) is not None:
            counters = {}
            numa, core = (_int(one) if one else 0 for one in thread.groups()[1:])
            found[thread[1], numa, core] = (counters, number)
        elif (value := VALUE.fullmatch(line)) is not None:
            counters[value["name"]] = _int(value["value"])
    return found


def _worker(window: _Window) -> Worker | None:
    """One thread: processing is the forwarder, idle is spare."""
    cycles = window.busy_cycles + window.idle_cycles
    if cycles <= 0 or window.packets < 0 or window.busy_cycles < 0 or window.idle_cycles < 0:
        # Somebody cleared them in between.
        return None
    idle = 100.0 * window.idle_cycles / cycles
    each = window.busy_cycles / window.packets if window.packets else None
    spent = f"{each:.0f} cycles a packet, " if each is not None else ""
    quote = _quote(window, f"{window.packets:,} packets, {spent}{idle:.1f} % idle cycles")
    calls = min(window.calls, window.packets) or window.packets
    node = Node(
        name="pmd",
        state="polling",
        calls=calls,
        vectors=window.packets,
        clocks_per_packet=each,
        vectors_per_call=window.packets / calls if calls else 0.0,
        quote=quote,
    )
    return Worker(
        name=window.name,
        cpu=window.cpu,
        seconds=window.seconds,
        # It counts all its cycles: those of the window are its clock, and those in which another
        # thread had its CPU are among them.
        tsc_hz=cycles / window.seconds,
        in_pps=window.packets / window.seconds,
        nodes=(node,),
        idle_in_clocks=False,
        spare_percent=idle,
        waited_percent=None if window.waited is None else window.waited.percent,
        quote=quote,
    )


def _doubts(window: _Window) -> Iterator[Quote]:
    """Reasons to doubt a window: a thread without its CPU, packets without a flow."""
    if window.waited is not None and window.waited.percent >= WAITED_PERCENT:
        yield _quote(window, f"it {window.waited.text}")
    if 0 < UPCALL_PERCENT * window.packets <= 100.0 * window.upcalls:
        share = min(100.0, 100.0 * window.upcalls / window.packets)
        yield _quote(
            window,
            f"{share:.0f} % of the packets had no flow in the datapath yet, and each went through "
            "the tables of OpenFlow",
        )


def _quote(window: _Window, text: str) -> Quote:
    return Quote(source="pmd-stats-show", line=window.line, text=f"{window.name}: {text}")


register(OvsBox())
