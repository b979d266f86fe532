"""Device `ovs`: an Open vSwitch of the lab's own between two interfaces, asked as a box.

Its datapath is the one in user space, which every Debian has: no kernel module, no hugepages. With
`at`, or with ports by name, it is a box that somebody else started.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns import programs
from linerate.host.netns.interfaces import Interface, statistics
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.host.netns.sockets import packet_drops
from linerate.lab.box.access import Access, opened
from linerate.lab.box.asked_box import AskedBox
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.dut._linux import interfaces, steer_to
from linerate.lab.links import Ends
from linerate.model.box import BoxPort
from linerate.model.box_path import SOCKET_FULL
from linerate.model.ledger import Entry, NodeTime, PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.suites import DUT_PORTS
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Dut, Testbed

BRIDGE = "br0"
PROGRAM = "ovs-vswitchd"
PACKAGE = "openvswitch-switch"
#: Each program of it that the lab runs.
PROGRAMS = (PROGRAM, "ovsdb-server", "ovsdb-tool", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
READY_SECONDS = 30.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.05
#: Frames from one port to the other; a scenario puts its own flows in their place.
FLOWS = ("in_port={0},actions=output:{1}", "in_port={1},actions=output:{0}")
#: Where each of its programs finds the others.
_FOLDERS = ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR")
_NANOSECONDS = 1e9


class OvsDut:
    """A bridge of the two interfaces whose flows join them, in a network namespace of its own."""

    name = "ovs"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Privilege, and its programs."""
        what = f"`dut: {{kind: {self.name}}}`"
        lacking = [lack for program in PROGRAMS for lack in missing_program(program, PACKAGE, what)]
        return missing_privilege(what) + lacking[:1]

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """All: its flows look at ports alone."""
        return ALL_FRAMES

    def routes(self, _testbed: Testbed) -> bool:
        """Never: frames pass as they are, unless a scenario says otherwise."""
        return False

    @contextmanager
    def running(self, testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Start it, make the bridge, and ask it as a box."""
        ports = interfaces(ends)
        if not place.shared:
            steer_to(place.cpus, ports)
        switch = Switch(ports[0].netns, place)
        with switch.running(), opened(f"netns:{switch.netns}") as access:
            switch.make_bridge(tuple(port.name for port in ports))
            dut = _as_box(testbed.dut, switch)
            yield RunningOvs(dut, access, ports, switch)


@dataclass(frozen=True, slots=True)
class _Started:
    """A program that runs, and what it prints."""

    process: programs.Process
    log: Path


class Switch:
    """The database and the switch, as processes in a namespace; their files are in a folder."""

    def __init__(self, netns: str, place: Place) -> None:
        self.netns = netns
        self.place = place
        self.folder = Path(tempfile.gettempdir()) / ownership.new_name("ovs")
        self._started: list[_Started] = []

    @property
    def socket(self) -> Path:
        """The database's."""
        return self.folder / "db.sock"

    @property
    def pid(self) -> int:
        """The process that forwards."""
        return int((self.folder / f"{PROGRAM}.pid").read_text(encoding="ascii"))

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which its programs find each other."""
        return dict.fromkeys(_FOLDERS, str(self.folder))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start both; nothing is left behind. Raises SetupError."""
        self.folder.mkdir(mode=0o700)
        try:
            database = str(self.folder / "conf.db")
            self.asked("ovsdb-tool", "create", database, str(SCHEMA))
            self._start("ovsdb-server", database, f"--remote=punix:{self.socket}")
            self._await(self.socket)
            self.asked("ovs-vsctl", "--no-wait", "init")
            self._start(PROGRAM, f"unix:{self.socket}")
            self._await(self.folder / f"{PROGRAM}.ctl", self.folder / f"{PROGRAM}.pid")
            yield
        finally:
            for one in reversed(self._started):
                one.process.terminate()
                programs.end(one.process, STOP_SECONDS)
            shutil.rmtree(self.folder, ignore_errors=True)

    def make_bridge(self, names: tuple[str, ...]) -> None:
        """Join interfaces by a bridge, with flows from one to the other. Raises SetupError."""
        words = ["ovs-vsctl", f"--timeout={READY_SECONDS:.0f}", "add-br", BRIDGE]
        words += ["--", "set", "bridge", BRIDGE, "datapath_type=netdev", "fail_mode=secure"]
        for number, name in enumerate(names, start=1):
            words += ["--", "add-port", BRIDGE, name]
            words += ["--", "set", "interface", name, f"ofport_request={number}"]
        self.asked(*words)
        for flow in FLOWS:
            self.asked("ovs-ofctl", "add-flow", BRIDGE, flow.format(*names))

    def asked(self, *words: str) -> str:
        """Answer of one of its programs. Raises SetupError."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        done = programs.run_in(self.netns, ["env", *variables, *words])
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise SetupError(f"{words[0]}: {lines[-1] if lines else 'no output'}{self._why()}")
        return done.stdout

    def _start(self, program: str, *words: str) -> None:
        """The kernel ends it when the lab is killed."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        control = self.folder / program
        log = self.place.file("log" if program == PROGRAM else f"{program}.log")
        command = [
            *("env", *variables, "setpriv", "--pdeathsig", "KILL", program, *words),
            *(f"--unixctl={control}.ctl", f"--pidfile={control}.pid", "-vconsole:warn"),
        ]
        with log.open("wb") as file:
            process = programs.start_in(self.netns, command, file, self.place.cpus)
        self._started.append(_Started(process, log))

    def _await(self, *files: Path) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not all(file.exists() for file in files):
            if self._started[-1].process.poll() is not None or time.monotonic() > deadline:
                raise SetupError(f"Open vSwitch did not start{self._why()}")
            time.sleep(POLL_SECONDS)

    def _why(self) -> str:
        """The last line that the program started last printed."""
        return f"; {programs.last_line(self._started[-1].log)}" if self._started else ""


class RunningOvs(AskedBox):
    """A switch that forwards: a box's answers, and what only its host knows."""

    def __init__(
        self, dut: Dut, access: Access, ports: tuple[Interface, Interface], switch: Switch
    ) -> None:
        super().__init__(dut, access, None, switch.place.tester_cpus)
        self._interfaces = ports
        self._switch = switch
        #: By port: what the kernel dropped at its packet sockets, which it does not ask for.
        self._missed = dict.fromkeys(DUT_PORTS, 0)

    def readings(self, tsc_hz: int) -> Reading:
        """A box's, with what the kernel lost before and behind the switch."""
        reading = super().readings(tsc_hz)
        entries = (*self._before(), *reading.ledger.entries, *self._behind())
        return reading.model_copy(
            update={"ledger": PacketLedger(entries=entries), "workers": self.workers(tsc_hz)}
        )

    def workers(self, tsc_hz: int) -> tuple[WorkerReading, ...]:
        """CPU time of its process: it sleeps while nothing arrives."""
        if self._switch.place.shared:
            return ()
        self._ask_sockets()
        came = sum(statistics(port)["rx_packets"] for port in self._interfaces)
        return (_worker(self._switch, tsc_hz, came - sum(self._missed.values())),)

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which its own programs find it."""
        return self._switch.environment

    def _ask_sockets(self) -> None:
        for name, packets in packet_drops(self._switch.pid).items():
            if name in self._missed:
                self._missed[name] += packets

    def _before(self) -> Iterator[Entry]:
        self._ask_sockets()
        for name, packets in self._missed.items():
            yield Entry(place=f"{name}: {SOCKET_FULL}", kind="loss", packets=packets)

    def _behind(self) -> Iterator[Entry]:
        for name, port in zip(DUT_PORTS, self._interfaces, strict=True):
            lost = statistics(port)["tx_dropped"]
            yield Entry(place=f"{name}: tx dropped by the interface", kind="loss", packets=lost)


def _worker(switch: Switch, tsc_hz: int, packets: int) -> WorkerReading:
    now = time.monotonic()
    busy = 0
    with contextlib.suppress(OSError, ValueError):
        # sched-stats.rst: nanoseconds on a CPU of the main thread, which polls the ports.
        text = Path(f"/proc/{switch.pid}/schedstat").read_text(encoding="ascii")
        busy = round(int(text.split()[0]) / _NANOSECONDS * tsc_hz)
    total = round(now * tsc_hz)
    return WorkerReading(
        name="ovs",
        cpu=switch.place.cpus[-1],
        tid=switch.pid,
        role="forwarder",
        tsc_hz=tsc_hz,
        tsc=total,
        loops=0,
        overhead_clocks=0,
        sleep_clocks=max(0, total - busy),
        nodes={"ovs": NodeTime(vectors=packets, clocks=busy)},
    )


def _as_box(dut: Dut, switch: Switch) -> Dut:
    """The same, asked as a box in its namespace."""
    first, second = DUT_PORTS
    return dut.model_copy(
        update={
            "at": f"netns:{switch.netns}",
            "ports": (BoxPort(name=first), BoxPort(name=second)),
            "socket": str(switch.socket),
        }
    )


register(OvsDut())
