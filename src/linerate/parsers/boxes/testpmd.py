"""Box `testpmd`: a DPDK program of somebody else's, asked at its telemetry socket.

DPDK answers for its ports and its threads, whatever the program does with packets: those that it
received and did not send were lost in the program, or in a tx queue that had no room.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.evidence import Evidence, Node, Quote, Worker
from linerate.parsers.boxes import Asked, Counted, Question, UnreadableError, register

#: DPDK's own place of the socket, for root (lib/telemetry).
SOCKET = "/var/run/dpdk/rte/dpdk_telemetry.v2"
#: The whole question: a shell has no socket of that kind (SOCK_SEQPACKET). Each command on its
#: own line; `%` asks of each port. One JSON object a line, as it was answered.
_CLIENT = """
import json, socket, sys
box = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
box.settimeout(5)
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
_LCORES = "/eal/lcore/usage"
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
            Question("ports", _ask(asked, *_PORTS, "/ethdev/link_status,%"), required=True),
            Question("xstats", _ask(asked, "/ethdev/xstats,%")),
        )

    def at_load(self, asked: Asked) -> tuple[Question, ...]:
        """Cycles of its threads, where the program says (DPDK 23.03 or later), and packets."""
        return (Question("lcores", _ask(asked, *_PORTS, _LCORES)),)

    def clear(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: all counters are differences anyway."""
        return ()

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Ports, and losses at their two ends."""
        answers = _answers(texts.get("ports", ""))
        numbers = _numbers(answers)
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
            counted.ports[port] = counters
            counted.losses |= losses
            counted.losses |= {
                f"{port}: {words}": stats.get(key, 0) for key, words in _TX_LOSSES.items()
            }
        return counted

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Each thread that counts its busy cycles, between the two answers at load."""
        batches = box.batches("load")
        if len(batches) < 2:
            return Evidence()
        return Evidence(workers=tuple(_workers(batches[0], batches[-1], set(box.ports.values()))))


def _ask(asked: Asked, *words: str) -> str:
    """A command line: names and words have no characters that a shell reads."""
    client = _CLIENT.strip("\n").replace("'", "'\\''")
    return f"{_MISSING}; python3 -c '{client}' {asked.socket or SOCKET} {' '.join(words)}"


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


def _workers(
    first: tuple[Answer, ...], last: tuple[Answer, ...], ports: set[str]
) -> Iterator[Worker]:
    before, after = (_answers(texts(one).get("lcores", "")) for one in (first, last))
    seconds = (last[0].asked_us - first[0].asked_us) / 1e6
    early, late = _lcores(before), _lcores(after)
    grown = {
        lcore: (total - early[lcore][0], busy - early[lcore][1])
        for lcore, (total, busy) in late.items()
        if lcore in early
    }
    known = {lcore: one for lcore, one in grown.items() if one[0] > 0 and 0 <= one[1] <= one[0]}
    working = {lcore: one for lcore, one in known.items() if one[1]} or known
    packets = max(0, _received(after, ports) - _received(before, ports))
    if seconds <= 0:
        return
    for lcore, (total, busy) in working.items():
        # Packets are counted by port: of several threads none knows its share.
        yield _worker(lcore, total, busy, packets if len(working) == 1 else 0, seconds)


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


def _worker(lcore: int, total: int, busy: int, packets: int, seconds: float) -> Worker:
    idle = 100.0 * (total - busy) / total
    quote = Quote(source="lcores", line=1, text=f"lcore {lcore}: {idle:.1f} % of its cycles idle")
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
        seconds=seconds,
        tsc_hz=total / seconds,
        in_pps=packets / seconds,
        nodes=(node,),
        idle_in_clocks=False,
        spare_percent=idle,
        quote=quote,
    )


register(DpdkBox())
