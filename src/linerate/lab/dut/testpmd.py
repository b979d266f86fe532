"""Device `testpmd`: DPDK's dpdk-testpmd, any of its modes, driven by its command line."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from linerate.base.drivers import on_interface
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns.privilege import missing_program
from linerate.host.netns.sockets import packet_drops
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.links import End, Ends
from linerate.lab.testpmd import BUFFERS, PACKAGE, PROGRAM, Console, Testpmd, port_counters
from linerate.model.ledger import Entry, NodeTime, PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.suites import DUT_PORTS, TESTER_MACS
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed

_BUSY = re.compile(r"cycles/packet=[\d.]+ \(\w+ cycles=(\d+) / total (?:\w+ )?packets=(\d+)\)")
#: testpmd's counters that are losses, where the parser says them of a port.
_LOSSES = {
    "RX-missed": "rx missed (ring full)",
    "RX-nombuf": "no mbuf",
    "RX-errors": "rx errors",
    "TX-errors": "tx errors",
    "TX-dropped": "no free tx slots",
}


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


class TestpmdDut:
    """testpmd on the kernel's interfaces (net_af_packet, net_af_xdp) or on memif."""

    __test__ = False  # pytest would take it for a test class

    name = "testpmd"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """The program."""
        return missing_program(PROGRAM, PACKAGE, "testpmd")

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
        macs = [place.macs.get(mac, mac) for mac in TESTER_MACS]
        testpmd = Testpmd(
            testbed.dut.mode,
            tuple(_vdev(end, index + 2) for index, end in enumerate(ends.dut)),
            (place.cpus[0], place.cpus[-1]),
            (*BUFFERS, *(f"--eth-peer={index},{mac}" for index, mac in enumerate(macs))),
            netns=ends.dut[0].netns,
        )
        with testpmd.running(place.file("log")) as console:
            console.ask("set record-core-cycles on", "start")
            yield _RunningTestpmd(console, place.cpus[-1])


def _vdev(end: End, number: int) -> str:
    """A port on an end; drivers of ours it has not, so net_af_packet stands for them."""
    port = end.port
    if port["driver"] != "ethdev":
        port = on_interface("af_packet", end.interface, end.netns, number)
    return f"{port['device']},{port['devargs']}"


def _as_ours(counters: dict[str, int]) -> dict[str, int]:
    names = {
        "rx_packets": "RX-packets",
        "tx_packets": "TX-packets",
        "rx_missed": "RX-missed",
        "tx_full": "TX-dropped",
    }
    return {ours: counters[its] for ours, its in names.items() if its in counters}


register(TestpmdDut())
