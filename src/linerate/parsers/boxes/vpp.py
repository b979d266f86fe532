"""Box `vpp`: VPP asked by vppctl over its CLI socket.

A packet that a port received is in `rx packets`, or in the card's `rx-miss`, `rx-no-buf`,
`rx-error`. Ends of packets in the graph are in `show errors`. VPP counts `tx packets` before its tx
node: those that this node dropped did not leave.
"""

import re
import shlex
from collections.abc import Iterator, Mapping

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.box_trace import TracedPacket
from linerate.model.evidence import Evidence, Loss, Port, Worker
from linerate.parsers.boxes import (
    Asked,
    Counted,
    Question,
    UnreadableError,
    _hardware,
    _vpp_trace,
    register,
)
from linerate.parsers.boxes._vpp_window import ExactNodes, exact_between, window
from linerate.parsers.text import text_of
from linerate.parsers.tools.vpp_errors import errors
from linerate.parsers.tools.vpp_hardware import hardware
from linerate.parsers.tools.vpp_interface import interfaces
from linerate.parsers.tools.vpp_runtime import runtime
from linerate.parsers.tools.vpp_stats import stats

#: Counted once a run.
_FACTS = (
    "show version verbose",
    "show threads",
    "show cpu",
    "show interface rx-placement",
    "show interface address",
    "show ip fib summary",
    "show ip neighbors",
    "show ip6 neighbors",
    "show buffers",
    "show memory main-heap",
)
#: In this order: `show hardware-interfaces` reads the cards, whose counters `show interface` has
#: from the last time that they were read, every 10 s (plugins/dpdk/device/init.c).
_COUNTERS = ("show clock verbose", "show hardware-interfaces", "show interface", "show errors")
_REQUIRED = ("show interface", "show errors")
#: Received by the card and not by the graph.
_RX_LOSSES = ("rx-miss", "rx-no-buf", "rx-error")
#: Messages about packets that another counter has: VPP answers them, or has no answer to send.
_OWN_MESSAGES = ("ip4-icmp-error", "ip6-icmp-error")
#: Events, one each however many packets (plugins/af_packet/device.c, plugins/memif/node.c): the
#: packets are in the ring, or the sender's.
_EVENTS = re.compile(r"tx sendto|memif\S*-input: .*(?:buffer|descriptor)")
#: Extended counters of drivers that stand for PAUSE frames.
_PAUSE = re.compile(r"(rx|tx)_(?:\w*xoff_packets|pause\w*|\w*pause_frames\w*|\w*pause_packets)")
_MORE = re.compile(r"^\s*-{1,3}\s*more\s*-{1,3}", re.IGNORECASE | re.MULTILINE)
_UNKNOWN = re.compile(r"^\S.*: unknown input `|^unknown input", re.MULTILINE)
_UPTIME = re.compile(r"Time now\s+(\d{1,12}(?:\.\d{1,9})?)")
_HERTZ = (
    re.compile(r"clocks/sec\w{0,4}\s+(\d{6,13}(?:\.\d{1,9})?)"),
    re.compile(r"Base frequency:\s+(\d{1,3}\.\d{1,3}) GHz"),
)
#: Each worker's time on its CPU and runnable without it, in nanoseconds (sched-stats(5)).
_SCHEDSTAT = re.compile(r"(?P<name>vpp_\S+) (?P<tid>\d+) (?P<ran>\d+) (?P<waited>\d+) \d+")
_QUEUE = re.compile(r"\s+(?P<name>\S+) queue \d+ \(\w+\)")
#: `trace add` is of each input node and thread.
TRACED_INPUTS = 16
#: Share of the window that a worker may have waited for its CPU.
AWAY_PERCENT = 2.0


class VppBox:
    """VPP as a router, switch or firewall."""

    name = "vpp"
    has_shell = True

    def facts(self, asked: Asked) -> tuple[Question, ...]:
        """Version, threads, queues, addresses, and the hardware below them."""
        return (
            *(_question(command, asked) for command in _FACTS),
            _question("show clock verbose", asked),
            _question("show hardware-interfaces", asked),
            Question("uname -a", "uname -a"),
            Question("cpuinfo", "sed '/^$/q' /proc/cpuinfo"),
            *_hardware.FACTS,
        )

    def counters(self, asked: Asked) -> tuple[Question, ...]:
        """All counters of packets."""
        return tuple(_question(command, asked) for command in _COUNTERS)

    def at_load(self, asked: Asked) -> tuple[Question, ...]:
        """Each worker's time by node, and whether it had its CPU."""
        threads = _command("show threads", asked)
        return (
            _question("show runtime", asked),
            Question("stats segment", _stats_command(asked)),
            Question(
                "schedstat",
                # It is in colours, wherever it goes. Older versions have a type in between.
                threads + r""" | awk '{gsub(/\033\[[0-9;]*m/, "")} """
                r"""$2 ~ /^vpp_/ {print $2, $3 ~ /^[0-9]+$/ ? $3 : $4}' | """
                "while read -r name tid; do "
                'echo "$name $tid $(cat "/proc/$tid/schedstat")"; done',
            ),
            *_hardware.AT_LOAD,
        )

    def clear(self, asked: Asked) -> tuple[Question, ...]:
        """A history of its own for the window."""
        return (_question("clear runtime", asked),)

    def trace_begin(self, asked: Asked, packets: int) -> tuple[Question, ...]:
        """From each node that polls a queue."""
        placed = _command("show interface rx-placement", asked)
        add = _command('trace add "$node"', asked)
        return (
            _question("clear trace", asked),
            Question(
                "trace add",
                f"{placed} | awk '$1 == \"node\" {{print $2}}' | tr -d : | sort -u | "
                f"while read -r node; do {add} {packets} </dev/null; done",
                required=True,
            ),
        )

    def trace_read(self, asked: Asked, packets: int) -> Question:
        """Packets of all threads."""
        command = _command(f"show trace max {packets * TRACED_INPUTS}", asked)
        return Question("show trace", command, required=True)

    def trace_end(self, asked: Asked) -> tuple[Question, ...]:
        """Free its memory."""
        return (_question("clear trace", asked),)

    def traced(self, text: str, asked: Asked) -> tuple[TracedPacket, ...]:
        """Places of losses by the ports' names, as in the ledger."""
        return tuple(
            packet._replace(lost_at=_renamed(packet.lost_at, asked))
            for packet in _vpp_trace.traced(text)
        )

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Ports, and losses in the card and in the graph."""
        for name in _REQUIRED:
            _whole(name, texts.get(name, ""))
        ports = _interfaces(texts["show interface"], asked)
        lost = _lost(texts["show errors"], asked)
        counted = Counted(losses=dict(lost), running_s=_uptime(texts))
        for port, name in asked.ports.items():
            counters = ports[name].counters
            refused = sum(n for place, n in lost.items() if place.startswith(f"{port}-tx: "))
            # VPP has what a driver refuses as `tx-error` as well, and what found a port down.
            known = refused + sum(
                n for place, n in lost.items() if place.startswith(f"{port}-output: ")
            )
            unnamed = max(0, counters.get("tx-error", 0) - known)
            missed = {what: counters.get(what, 0) for what in _RX_LOSSES}
            counted.losses |= {f"{port}: {what}": packets for what, packets in missed.items()}
            counted.losses[f"{port}: tx-error"] = unnamed
            counted.ports[port] = {
                "rx_packets": (ports[name].rx_packets or 0) + sum(missed.values()),
                "tx_packets": (ports[name].tx_packets or 0) - refused - unnamed,
                **_of_card(texts.get("show hardware-interfaces", ""), name),
            }
        counted.doubts = tuple(_late(texts))
        return counted

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Each worker within the load, the ports' queues and links, and what slows their CPUs."""
        known = texts([answer for answer in box.answers if answer.moment == "facts"])
        ports = tuple(_facts_of_ports(box, known))
        workers, suspect = _workers(box, known)
        devices = [port.device for port in ports if port.device]
        return Evidence(
            workers=workers,
            ports=ports,
            pcie=_hardware.pcie_links(known, devices),
            suspect=suspect,
        )


def _command(words: str, asked: Asked) -> str:
    socket = f" -s {shlex.quote(asked.socket)}" if asked.socket else ""
    return f"vppctl{socket} {words}"


def _stats_command(asked: Asked) -> str:
    """Exact counters of nodes, of those VPPs that have them: its socket is beside the other."""
    folder = asked.socket.rpartition("/")[0]
    socket = f" socket-name {shlex.quote(f'{folder}/stats.sock')}" if folder else ""
    return f"vpp_get_stats{socket} machine no-zeros dump /sys/node"


def _question(words: str, asked: Asked) -> Question:
    return Question(words, _command(words, asked), required=words in _REQUIRED)


def _whole(name: str, text: str) -> None:
    """Raise UnreadableError unless an answer is one, to its end."""
    if _MORE.search(text):
        raise UnreadableError(
            f"`{name}` stops at --More--: its CLI session is a terminal; `set terminal pager off`, "
            "or `unix { cli-no-pager }` in startup.conf"
        )
    if _UNKNOWN.search(text):
        line = text.strip().splitlines()[-1]
        raise UnreadableError(f"`{name}`: {line[:120]}")
    if not text.strip():
        raise UnreadableError(f"`{name}`: an empty answer: is VPP still starting?")
    if not text.endswith("\n"):
        raise UnreadableError(f"`{name}`: its answer ends within a line, it was cut")


def _interfaces(text: str, asked: Asked) -> dict[str, Port]:
    """By name, the box's two ports. Raises UnreadableError."""
    read = interfaces(text_of(text, "show interface"))
    found = {port.name: port for port in read.ports} if read is not None else {}
    for name in asked.ports.values():
        if name not in found:
            some = ", ".join(sorted(found)[:8]) or "none"
            raise UnreadableError(f"no interface {name} in VPP; `show interface` has {some}")
        for way in ("rx", "tx"):
            packets, octets = (
                getattr(found[name], f"{way}_{what}") for what in ("packets", "bytes")
            )
            if packets and octets is None:
                raise UnreadableError(f"`show interface` ends within {name}, it was cut")
    return found


def _lost(text: str, asked: Asked) -> dict[str, int]:
    """Packets by place that ended in the graph, nodes of the ports by the ports' names."""
    read = errors(text_of(text, "show errors"))
    found: dict[str, int] = {}
    for loss in read.losses if read is not None else ():
        if _ends_there(loss):
            place = _renamed(loss.place, asked)
            found[place] = found.get(place, 0) + loss.packets
    return found


def _ends_there(loss: Loss) -> bool:
    if loss.place.startswith(_OWN_MESSAGES):
        return False
    return _EVENTS.search(loss.place) is None


def _renamed(place: str, asked: Asked) -> str:
    """`memif1/0-tx: …` of the first port as `e0-tx: …`."""
    node, _, reason = place.partition(": ")
    for port, name in asked.ports.items():
        for part in ("-tx", "-output"):
            if node == f"{name}{part}":
                return f"{port}{part}: {reason}"
    return place


def _of_card(text: str, name: str) -> dict[str, int]:
    """A port's own counters, as its driver names them, and its PAUSE frames."""
    read = hardware(text_of(text, "show hardware-interfaces"))
    for port in read.ports if read is not None else ():
        if port.name == name:
            pause: dict[str, int] = {}
            for counter, value in port.counters.items():
                if match := _PAUSE.fullmatch(counter):
                    key = f"{match[1]}_pause"
                    pause[key] = max(pause.get(key, 0), value)
            return {f"card {counter}": value for counter, value in port.counters.items()} | pause
    return {}


def _late(texts: Mapping[str, str]) -> Iterator[str]:
    """Say when counters of the cards may be old."""
    if not texts.get("show hardware-interfaces", "").strip():
        yield (
            "`show hardware-interfaces` has no answer: VPP then reads its cards every 10 s, and "
            "rx-miss is late"
        )


def _uptime(texts: Mapping[str, str]) -> float | None:
    match = _UPTIME.search(texts.get("show clock verbose", ""))
    return float(match[1]) if match else None


def _hertz(known: Mapping[str, str]) -> float | None:
    """Clocks a second of the TSC, as VPP measured it."""
    exact = _HERTZ[0].search(known.get("show clock verbose", ""))
    if exact:
        return float(exact[1])
    base = _HERTZ[1].search(known.get("show cpu", ""))
    return float(base[1]) * 1e9 if base else None


def _facts_of_ports(box: BoxAnswers, known: Mapping[str, str]) -> Iterator[Port]:
    """The two ports: link, driver, card and queues; what they counted is in the measurement."""
    read = hardware(text_of(known.get("show hardware-interfaces", ""), "show hardware-interfaces"))
    by_name = {port.name: port for port in read.ports} if read is not None else {}
    queues = _queues(known.get("show interface rx-placement", ""))
    for port, name in box.ports.items():
        if name in by_name:
            found = by_name[name]
            yield Port(
                name=port,
                up=found.up,
                driver=found.driver,
                device=found.device,
                link_bps=found.link_bps,
                rx_queues=found.rx_queues or queues.get(name),
                tx_queues=found.tx_queues,
                rx_descriptors=found.rx_descriptors,
                tx_descriptors=found.tx_descriptors,
                quote=found.quote,
            )


def _queues(text: str) -> dict[str, int]:
    """By interface: rx queues, as workers poll them."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        if match := _QUEUE.fullmatch(line.rstrip()):
            found[match["name"]] = found.get(match["name"], 0) + 1
    return found


def _workers(
    box: BoxAnswers, known: Mapping[str, str]
) -> tuple[tuple[Worker, ...], tuple[str, ...]]:
    """Threads over the window within the load, and what a reader should know of them."""
    batches = box.batches("load")
    pair = _window_of(batches)
    if pair is None:
        return (), ()
    first, last = pair
    earlier, later = texts(first), texts(last)
    read = [
        runtime(text_of(text.get("show runtime", ""), "show runtime")) for text in (earlier, later)
    ]
    if read[0] is None or read[1] is None:
        return (), ("`show runtime` has no worker: VPP's time within the load is unknown",)
    seconds = (last[0].asked_us - first[0].asked_us) / 1e6
    exact = _exact(earlier.get("stats segment", ""), later.get("stats segment", ""))
    found = window(read[0].workers, read[1].workers, seconds, _hertz(known), exact)
    away = _away(earlier.get("schedstat", ""), later.get("schedstat", ""), seconds)
    workers = tuple(
        worker.model_copy(update={"away_percent": away.get(worker.name)})
        for worker in found.workers
    )
    cpus = [worker.cpu for worker in workers if worker.cpu is not None]
    return workers, (
        *found.doubts,
        *_waited(workers),
        *_hardware.slowed(earlier, later, cpus),
    )


def _exact(before: str, after: str) -> ExactNodes:
    """Counters of nodes in the stats segment, by worker; nothing where they are off."""
    first, last = (stats(text_of(text, "stats segment")) for text in (before, after))
    return exact_between(first.workers, last.workers) if first and last else {}


def _window_of(
    batches: list[tuple[Answer, ...]],
) -> tuple[tuple[Answer, ...], tuple[Answer, ...]] | None:
    """First and last batch with an answer to `show runtime`."""
    with_it = [batch for batch in batches if texts(batch).get("show runtime")]
    return (with_it[0], with_it[-1]) if len(with_it) > 1 else None


def _away(before: str, after: str, seconds: float) -> dict[str, float]:
    """By worker: share of the window in which it was runnable and did not run."""
    earlier, later = (
        {match["name"]: int(match["waited"]) for match in _SCHEDSTAT.finditer(text)}
        for text in (before, after)
    )
    if seconds <= 0:
        return {}
    return {
        name: min(100.0, 100.0 * max(0, waited - earlier[name]) / 1e9 / seconds)
        for name, waited in later.items()
        if name in earlier
    }


def _waited(workers: tuple[Worker, ...]) -> Iterator[str]:
    for worker in workers:
        if worker.role == "worker" and (worker.away_percent or 0.0) > AWAY_PERCENT:
            where = f"CPU {worker.cpu}" if worker.cpu is not None else "its CPU"
            yield (
                f"{worker.name} was runnable and did not run for {worker.away_percent:.0f} % of "
                f"the window: something else runs on {where} of the box"
            )


register(VppBox())
