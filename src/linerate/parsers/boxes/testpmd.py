"""Box `testpmd`: a DPDK program of somebody else's, asked at its telemetry socket.

DPDK answers for its ports and its threads, whatever the program does with packets: those that it
received and did not send were lost in the program, or in a tx queue that had no room.
"""

import json
import re
from collections.abc import Iterator, Mapping
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

#: DPDK's own place of the socket, for root (lib/telemetry).
SOCKET = "/var/run/dpdk/rte/dpdk_telemetry.v2"
#: The whole question: a shell has no socket of that kind (SOCK_SEQPACKET). Each command on its
#: own line; `%` asks of each port. One JSON object a line, as it was answered.
_CLIENT = """
import json, socket, sys
box = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
box.settimeout(15)
try:
    box.connect(sys.argv[1])
    most = json.loads(box.recv(65536))["max_output_len"]
except (OSError, ValueError, KeyError) as error:
    sys.exit("no DPDK program answers at " + sys.argv[1] + ": start it with telemetry on, or "
             "mend dut.socket (" + str(error) + ")")
def ask(words):
    box.send(words.encode())
    return box.recv(most).decode()
numbers = json.loads(ask("/ethdev/list"))["/ethdev/list"]
for words in sys.argv[2:]:
    for number in numbers if words.endswith("%") else (0,):
        asked = words.replace("%", str(number))
        print(asked, ask(asked))
"""
_MISSING = (
    "command -v python3 >/dev/null || { echo 'python3 is not installed on the box: its socket "
    "takes no other client of ours' >&2; exit 1; }"
)
_PORTS = ("/ethdev/info,%", "/ethdev/stats,%")
_LINKS = "/ethdev/link_status,%"
_PARAMS = "/eal/params"
_LCORES = "/eal/lcore/usage"
#: With its answers in `a`: the program's process, by DPDK's own answer.
_PROCESS = "p=${a#*'\"pid\":'}; p=${p%%,*}"
#: A thread that forwards runs, or waits, for more of a window than that.
BUSY_PERCENT = 10.0
#: Names of an lcore's thread, which changed with DPDK 22.11 and 23.11.
_THREAD = r"(?:lcore-worker-|rte-worker-|dpdk-worker){}"
#: Ethernet header; a telemetry's bytes are without FCS.
HEADER_BYTES = 14
#: Counters of rte_eth_stats that are packets lost on the way in, and not among `ipackets`.
_RX_LOSSES = {
    "imissed": "rx missed: the program did not poll in time",
    "ierrors": "rx errors",
}
_TX_LOSSES = {"oerrors": "tx errors: refused by the driver"}
_NAMES = {
    "ipackets": "rx_packets",
    "opackets": "tx_packets",
    "ibytes": "rx_bytes",
    "obytes": "tx_bytes",
    "imissed": "rx_missed",
    "ierrors": "rx_errors",
    "oerrors": "tx_errors",
    "rx_nombuf": "rx_nombuf",
}


class DpdkBox:
    """dpdk-testpmd, or any program on DPDK."""

    name = "testpmd"
    has_shell = True

    def facts(self, asked: Asked) -> tuple[Question, ...]:
        """Version, command line, ports, links and buffers."""
        words = ("/info", "/eal/params", "/eal/app_params", "/ethdev/info,%")
        links = ("/ethdev/link_status,%", "/ethdev/xstats,%")
        return (
            Question("dpdk", _ask(asked, *words, *links)),
            Question("uname -a", "uname -a"),
            Question("cpuinfo", "sed '/^$/q' /proc/cpuinfo"),
        )

    def counters(self, asked: Asked) -> tuple[Question, ...]:
        """Counters of all ports: the generic ones, and each driver's own."""
        return (
            Question("ports", _ask(asked, *_PORTS, _LINKS, _PARAMS), required=True),
            Question("xstats", _ask(asked, "/ethdev/xstats,%")),
            Question(_packet_sockets.QUESTION, f"{_packet_sockets.COMMAND} || true"),
        )

    def at_load(self, asked: Asked) -> tuple[Question, ...]:
        """Packets, cycles of threads where the program says (DPDK 23.03), and their scheduling."""
        words = _ask(asked, "/info", *_PORTS, _LCORES)
        shell = f'a=$({words}) || exit 1; echo "$a"; {_PROCESS}; {_scheduling.SHELL}'
        return (Question("lcores", shell),)

    def clear(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: all counters are differences anyway."""
        return ()

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Ports, and losses at their two ends."""
        answers = _answers(texts.get("ports", ""))
        numbers = _numbers(answers)
        sockets = _sockets(answers, texts)
        counted = Counted()
        for port, name in asked.ports.items():
            number = numbers.get(name, name)
            found = _dict(answers.get(f"/ethdev/stats,{number}"))
            if not {"ipackets", "opackets"} <= found.keys():
                raise UnreadableError(
                    f"no port {name} in the DPDK program; it has {', '.join(numbers) or 'none'}"
                )
            stats = {key: value for key, value in found.items() if isinstance(value, int)}
            counters = {words: stats[key] for key, words in _NAMES.items() if key in stats}
            losses = {f"{port}: {words}": stats.get(key, 0) for key, words in _RX_LOSSES.items()}
            # Those reached the port, which counts them elsewhere.
            counters["rx_packets"] += sum(losses.values())
            if (kernel := _behind(sockets, answers, number)) is not None:
                crossed, at_socket = _packet_sockets.counted(port, counters, kernel)
                counters |= crossed
                losses |= at_socket
            counted.ports[port] = counters
            counted.losses |= losses
            counted.losses |= {
                f"{port}: {words}": stats.get(key, 0) for key, words in _TX_LOSSES.items()
            }
        return counted

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Its threads between the two answers at load, and ports that can't carry the packets."""
        batches = box.batches("load")
        ports = set(box.ports.values())
        workers = _workers(batches[0], batches[-1], ports) if len(batches) > 1 else ()
        return Evidence(
            workers=tuple(workers),
            unplugged=tuple(_unplugged(box)),
            short_mtus=tuple(_short_mtus(box)),
        )


def _ask(asked: Asked, *words: str) -> str:
    """A command line: names and words have no characters that a shell reads."""
    client = _CLIENT.strip("\n").replace("'", "'\\''")
    return f"{_MISSING}; python3 -SEc '{client}' {asked.socket or SOCKET} {' '.join(words)}"


def _answers(text: str) -> dict[str, Any]:
    """By command: what was answered."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        asked, _, answer = line.partition(" ")
        if not asked.startswith("/"):
            continue
        try:
            document = json.loads(answer)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            found[asked] = document.get(asked.partition(",")[0])
    return found


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _numbers(answers: Mapping[str, Any]) -> dict[str, str]:
    """By name of a device, the number of its port; numbers stand for themselves."""
    return {
        str(_dict(answer).get("name")): asked.partition(",")[2]
        for asked, answer in answers.items()
        if asked.startswith("/ethdev/info,") and "name" in _dict(answer)
    }


def _info(answers: Mapping[str, Any], number: str) -> dict[str, Any]:
    return _dict(answers.get(f"/ethdev/info,{number}"))


def _sockets(
    answers: Mapping[str, Any], texts: Mapping[str, str]
) -> dict[str, _packet_sockets.Interface]:
    """By device, the kernel's interface behind a packet socket."""
    params = answers.get(_PARAMS)
    words = map(str, params) if isinstance(params, list) else ()
    return _packet_sockets.behind(words, texts.get(_packet_sockets.QUESTION, ""))


def _behind(
    sockets: Mapping[str, _packet_sockets.Interface], answers: Mapping[str, Any], number: str
) -> _packet_sockets.Interface | None:
    """The kernel's interface of a port: that of another namespace has another address."""
    info = _info(answers, number)
    found = sockets.get(str(info.get("name")))
    same = found is not None and str(info.get("mac_addr")).lower() == found.address
    return found if same else None


def _reads(box: BoxAnswers) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Answers of the telemetry before and after, each with the others of that moment."""
    for moment in ("before", "after"):
        for batch in box.batches(moment):
            read = texts(batch)
            yield _answers(read.get("ports", "")), read


def _unplugged(box: BoxAnswers) -> Iterator[Quote]:
    """Ports without a link before or after."""
    reads = [(answers, _sockets(answers, read)) for answers, read in _reads(box)]
    for port, name in box.ports.items():
        if any(_is_down(answers, sockets, name) for answers, sockets in reads):
            yield Quote(source="ports", line=1, text=f"{port} ({name}): link down")


def _is_down(
    answers: Mapping[str, Any], sockets: Mapping[str, _packet_sockets.Interface], name: str
) -> bool:
    """Whether a port has no link: a driver may not know, and the kernel does."""
    number = _numbers(answers).get(name, name)
    kernel = _behind(sockets, answers, number)
    status = _dict(answers.get(f"/ethdev/link_status,{number}")).get("status")
    return status == "DOWN" or (kernel is not None and not kernel.up)


def _short_mtus(box: BoxAnswers) -> Iterator[Quote]:
    """Ports whose MTU is less than the packets that were received have bytes."""
    reads = [answers for answers, _ in _reads(box)]
    if len(reads) < 2:
        return
    before, after = reads[0], reads[-1]
    numbers = _numbers(after)
    means = [_mean_bytes(before, after, numbers.get(name, name)) for name in box.ports.values()]
    most = max(means, default=0.0) - HEADER_BYTES
    for port, name in box.ports.items():
        mtu = _info(after, numbers.get(name, name)).get("mtu")
        if isinstance(mtu, int) and most > mtu:
            text = f"{port} ({name}): MTU {mtu}, packets of {most:.0f} bytes"
            yield Quote(source="ports", line=1, text=text)


def _mean_bytes(before: Mapping[str, Any], after: Mapping[str, Any], number: str) -> float:
    """Bytes of a frame that a port received between two answers; 0 where it received none."""
    early, late = (_dict(one.get(f"/ethdev/stats,{number}")) for one in (before, after))
    packets, octets = (
        late.get(name, 0) - early.get(name, 0)
        if isinstance(late.get(name), int) and isinstance(early.get(name), int)
        else 0
        for name in ("ipackets", "ibytes")
    )
    return octets / packets if packets > 0 else 0.0


class _Window(NamedTuple):
    """Time between the two answers at load."""

    seconds: float
    #: Packets that the ports received.
    packets: int
    waited: Mapping[str, _scheduling.Waited]


def _workers(
    first: tuple[Answer, ...], last: tuple[Answer, ...], ports: set[str]
) -> Iterator[Worker]:
    seconds = (last[0].asked_us - first[0].asked_us) / 1e6
    if seconds <= 0:
        return
    early, late = (texts(one).get("lcores", "") for one in (first, last))
    before, after = _answers(early), _answers(late)
    window = _Window(
        seconds,
        max(0, _received(after, ports) - _received(before, ports)),
        _scheduling.waited(early, late, seconds),
    )
    working = _working(before, after)
    for lcore, (total, busy) in working.items():
        # Packets are counted by port: of several threads none knows its share.
        yield _worker(lcore, total, busy, window, alone=len(working) == 1)
    if not working:
        yield from _threads(window)


def _working(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """By lcore that counts its cycles: those of the window, and the busy ones."""
    early, late = _lcores(before), _lcores(after)
    grown = {
        lcore: (total - early[lcore][0], busy - early[lcore][1])
        for lcore, (total, busy) in late.items()
        if lcore in early
    }
    known = {lcore: one for lcore, one in grown.items() if one[0] > 0 and 0 <= one[1] <= one[0]}
    return {lcore: one for lcore, one in known.items() if one[1]} or known


def _threads(window: _Window) -> Iterator[Worker]:
    """Threads that poll, of a program that does not count its cycles: their CPU time is known."""
    for name, one in window.waited.items():
        if one.ran_percent + one.percent >= BUSY_PERCENT:
            quote = Quote(source="lcores", line=1, text=f"{name} {one.text}")
            yield Worker(name=name, seconds=window.seconds, waited_percent=one.percent, quote=quote)


def _lcores(answers: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """By lcore: its cycles, and those that it was busy in."""
    usage = _dict(answers.get(_LCORES))
    columns = [usage.get(name) for name in ("lcore_ids", "total_cycles", "busy_cycles")]
    rows = [column if isinstance(column, list) else [] for column in columns]
    return {
        lcore: (total, busy)
        for lcore, total, busy in zip(*rows, strict=False)
        if all(isinstance(one, int) for one in (lcore, total, busy))
    }


def _received(answers: Mapping[str, Any], ports: set[str]) -> int:
    numbers = _numbers(answers)
    found = (
        _dict(answers.get(f"/ethdev/stats,{numbers.get(name, name)}")).get("ipackets")
        for name in ports
    )
    return sum(packets for packets in found if isinstance(packets, int))


def _worker(lcore: int, total: int, busy: int, window: _Window, *, alone: bool) -> Worker:
    idle = 100.0 * (total - busy) / total
    packets = window.packets if alone else 0
    waited = next(
        (one for name, one in window.waited.items() if re.fullmatch(_THREAD.format(lcore), name)),
        None,
    )
    rest = f", {waited.text}" if waited is not None and waited.percent >= 1.0 else ""
    text = f"lcore {lcore}: {idle:.1f} % of its cycles idle{rest}"
    quote = Quote(source="lcores", line=1, text=text)
    node = Node(
        name="testpmd",
        state="polling",
        calls=packets,
        vectors=packets,
        clocks_per_packet=busy / packets if packets else None,
        vectors_per_call=1.0 if packets else 0.0,
        quote=quote,
    )
    return Worker(
        name=f"lcore-{lcore}",
        seconds=window.seconds,
        tsc_hz=total / window.seconds,
        in_pps=packets / window.seconds,
        nodes=(node,),
        idle_in_clocks=False,
        spare_percent=idle,
        waited_percent=None if waited is None else waited.percent,
        quote=quote,
    )


register(DpdkBox())
