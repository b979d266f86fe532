"""Device `testpmd`: DPDK's dpdk-testpmd, any of its modes, driven by its command line."""

import contextlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base import ownership
from linerate.base.drivers import on_interface
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host import dpdk_runtime
from linerate.host.netns import programs
from linerate.host.netns.privilege import missing_program
from linerate.host.netns.sockets import packet_drops
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.links import End, Ends
from linerate.model.ledger import Entry, NodeTime, PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.suites import DUT_PORTS, TESTER_MACS
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed
from linerate.parsers.text import text_of
from linerate.parsers.tools.testpmd_stats import testpmd_stats

PROGRAM = "dpdk-testpmd"
READY_SECONDS = 30.0
ANSWER_SECONDS = 10.0
STOP_SECONDS = 5.0
#: Without hugepages DPDK starts each buffer on a 4 KiB page of its own.
MEMORY = ("--no-huge", "-m", "512", "--no-shconf", "--no-telemetry")
APP = ("-i", "--nb-cores=1", "--burst=64", "--mbcache=512", "--total-num-mbufs=32768")
_PROMPT = b"testpmd>"
_BUSY = re.compile(r"cycles/packet=[\d.]+ \(\w+ cycles=(\d+) / total (?:\w+ )?packets=(\d+)\)")
#: testpmd's counters that are losses, where the parser says them of a port.
_LOSSES = {
    "RX-missed": "rx missed (ring full)",
    "RX-nombuf": "no mbuf",
    "RX-errors": "rx errors",
    "TX-errors": "tx errors",
    "TX-dropped": "no free tx slots",
}


class Console:
    """testpmd's command line: commands go in by a pipe, what it prints is a file."""

    def __init__(self, netns: str, command: list[str], log: Path, cpus: tuple[int, ...]) -> None:
        self.log = log
        with log.open("wb") as file:
            self._process = programs.start_in(netns, command, file, cpus)
        self._wait(0, 1, READY_SECONDS)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def ask(self, *commands: str) -> str:
        """Type commands, and return the output until all are done."""
        before = self.log.stat().st_size
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in commands).encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error
        return self._wait(before, len(commands), ANSWER_SECONDS)

    def _wait(self, offset: int, prompts: int, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self.log.open("rb") as file:
                file.seek(offset)
                reply = file.read()
            if reply.count(_PROMPT) >= prompts:
                return reply.decode(errors="replace")
            if self._process.poll() is not None:
                raise self._ended()
            time.sleep(0.02)
        raise SetupError(f"{PROGRAM} does not answer; {programs.last_line(self.log)}")

    def _ended(self) -> SetupError:
        return SetupError(f"{PROGRAM} stopped by itself: {programs.cause(self.log)}")

    def close(self) -> None:
        """Stop it, politely first."""
        with contextlib.suppress(SetupError):
            self.ask("stop")
            assert self._process.stdin is not None
            self._process.stdin.write(b"quit\n")
            self._process.stdin.flush()
        programs.end(self._process, STOP_SECONDS)


class _RunningTestpmd:
    """A testpmd that forwards."""

    def __init__(self, console: Console, cpu: int) -> None:
        self._console = console
        self._cpu = cpu
        #: By interface: what the kernel dropped at its sockets, which it does not ask for.
        self._missed: dict[str, int] = {}

    def readings(self, tsc_hz: int) -> Reading:
        """Ports as it counts them, what its tx refused among them."""
        reply = self._console.ask("show port stats all", "show fwd stats all")
        ports = port_counters(reply)
        entries = tuple(
            Entry(
                place=f"testpmd {name}: {words}",
                kind="loss",
                packets=ports.get(number, {}).get(counter, 0),
            )
            for number, name in enumerate(DUT_PORTS)
            for counter, words in _LOSSES.items()
        )
        return Reading(
            ledger=PacketLedger(entries=(*self._missed_entries(), *entries)),
            workers=(self._worker(reply, tsc_hz),),
            ports={name: _as_ours(ports.get(number, {})) for number, name in enumerate(DUT_PORTS)},
        )

    def _missed_entries(self) -> list[Entry]:
        for interface, packets in packet_drops(self._console.pid).items():
            self._missed[interface] = self._missed.get(interface, 0) + packets
        return [
            Entry(
                place=f"testpmd {name}: rx missed (socket full)",
                kind="loss",
                packets=self._missed.get(name, 0),
            )
            for name in DUT_PORTS
        ]

    def workers(self, tsc_hz: int) -> tuple[WorkerReading, ...]:
        """Cycles of the calls that found packets; it polls all the time."""
        return (self._worker(self._console.ask("show fwd stats all"), tsc_hz),)

    def ledger(self) -> PacketLedger:
        """Nothing: its console takes its time."""
        return PacketLedger()

    def _worker(self, reply: str, tsc_hz: int) -> WorkerReading:
        now = round(time.monotonic() * tsc_hz)
        match = _BUSY.search(reply)
        busy, packets = (int(match[1]), int(match[2])) if match else (0, 0)
        return WorkerReading(
            name="testpmd",
            cpu=self._cpu,
            tid=0,
            role="forwarder",
            tsc_hz=tsc_hz,
            tsc=now,
            loops=0,
            overhead_clocks=0,
            nodes={"testpmd": NodeTime(vectors=packets, clocks=busy, idle_clocks=now - busy)},
            polling=("testpmd",),
        )


def port_counters(reply: str) -> dict[int, dict[str, int]]:
    """Counters of each port, by its number, in what testpmd printed."""
    evidence = testpmd_stats(text_of(reply, PROGRAM))
    ports = evidence.ports if evidence else ()
    return {int(port.name.removeprefix("port ")): port.counters for port in ports}


class TestpmdDut:
    """testpmd on the kernel's interfaces (net_af_packet, net_af_xdp) or on memif."""

    __test__ = False  # pytest would take it for a test class

    name = "testpmd"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """The program."""
        return missing_program(PROGRAM, "dpdk-dev", "testpmd")

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """All: it looks at MAC addresses at most."""
        return ALL_FRAMES

    def routes(self, testbed: Testbed) -> bool:
        """In mode mac, whose peers are the tester."""
        return testbed.dut.mode == "mac"

    @contextmanager
    def running(self, testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Start it, and start forwarding."""
        if ends.dut is None:
            raise SetupError("testpmd needs two ports: use `wire: veth` or memif")
        prefix = ownership.new_name("testpmd")
        vdevs = [_vdev(end, index + 2) for index, end in enumerate(ends.dut)]
        # Its words stay in the order of its prompts, which it does not buffer.
        command = [
            "stdbuf",
            "-oL",
            PROGRAM,
            *_eal(prefix, place),
            *vdevs,
            "--",
            *APP,
            *_mode(testbed, place),
        ]
        console: Console | None = None
        try:
            console = Console(ends.dut[0].netns, command, place.file("log"), place.cpus)
            console.ask("set record-core-cycles on", "start")
            yield _RunningTestpmd(console, place.cpus[-1])
        finally:
            if console is not None:
                console.close()
            for base in dpdk_runtime.bases():
                dpdk_runtime.remove(base / prefix)


def _eal(prefix: str, place: Place) -> list[str]:
    lcores = f"0@{place.cpus[0]},1@{place.cpus[-1]}"
    eal = ["--lcores", lcores, "--main-lcore", "0", "--no-pci", "--file-prefix", prefix]
    return [*eal, *MEMORY]


def _mode(testbed: Testbed, place: Place) -> list[str]:
    macs = [place.macs.get(mac, mac) for mac in TESTER_MACS]
    peers = [f"--eth-peer={index},{mac}" for index, mac in enumerate(macs)]
    return [f"--forward-mode={testbed.dut.mode}", *peers]


def _vdev(end: End, number: int) -> str:
    """A port on an end; drivers of ours it has not, so net_af_packet stands for them."""
    port = end.port
    if port["driver"] != "ethdev":
        port = on_interface("af_packet", end.interface, end.netns, number)
    return f"--vdev={port['device']},{port['devargs']}"


def _as_ours(counters: dict[str, int]) -> dict[str, int]:
    names = {
        "rx_packets": "RX-packets",
        "tx_packets": "TX-packets",
        "rx_missed": "RX-missed",
        "tx_full": "TX-dropped",
    }
    return {ours: counters[its] for ours, its in names.items() if its in counters}


register(TestpmdDut())
