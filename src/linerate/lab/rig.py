"""The rig: links, device under test and tester, set up for trials and torn down again.

Whatever measures (bench, sweep) asks it for a tester and gives that to `run_trial`.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linerate.base.errors import SetupError
from linerate.base.memory_size import needed_megabytes
from linerate.base.prerequisites import Prerequisite
from linerate.engine.engine_process import Engine, Files, own_prefix
from linerate.engine.telemetry import Telemetry
from linerate.host import machine
from linerate.lab import dut, links, neighbors
from linerate.lab.box.asked_box import AskedBox, running
from linerate.lab.dut import Addressed, Place, Running
from linerate.lab.engine_config import (
    bare_config,
    bench_config,
    cards_of,
    ceiling_config,
    devices_of,
    refused_macs,
    tester_config,
    with_macs,
)
from linerate.lab.links import BareLinkKind, Ends, OnWait
from linerate.lab.metered import Metered, Watch, watching
from linerate.lab.recorder import Watched
from linerate.lab.tester import LoadTool, Tester, find_tool
from linerate.lab.tester._links import PortLinks, Say
from linerate.lab.tester._with_dut import WithDut
from linerate.lab.tester.engine import EngineTester
from linerate.lab.tester.trex import refusal, trex_tester
from linerate.lab.tester_cpus import tester_cpus
from linerate.model.counting import generates
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Asked, Load, Measurement, Progress, ToolCpu
from linerate.model.measurement.counters import counters_since
from linerate.model.suites import DUT_MACS, Loadtest
from linerate.model.testbed import Testbed
from linerate.results.journal import Journal

FileNamer = Callable[[str], Path]
#: Makes a tester's configuration.
Configure = Callable[[Testbed, Ends, Loadtest, str], dict[str, Any]]
#: MAC addresses that ports report, by those that they were configured with and refused.
Macs = dict[str, str]
#: Most starts of engines until their ports' addresses must be settled.
STARTS = 3


@dataclass(frozen=True, slots=True)
class Trials:
    """A rig that is ready for trials."""

    tester: Tester
    #: The tester's engine's /linerate/info.
    info: dict[str, Any]
    #: Raises SetupError when the links have been removed.
    check: Callable[[], None]
    #: Ports that refused the configured address.
    refused_macs: Macs = field(default_factory=dict)
    #: The device, where it is asked by commands.
    box: AskedBox | None = None
    #: Telemetry of the tester's engine, where that is ours: frames of its ports can be captured.
    telemetry: Telemetry | None = None


def metered(trials: Trials, power: Watch) -> Trials:
    """The same; the device's power is measured in each trial."""
    return replace(trials, tester=Metered(trials.tester, power))


def missing(testbed: Testbed) -> list[Prerequisite]:
    """Prerequisites of the testbed that this host lacks; checked before any work."""
    lacking = links.find(testbed.wire).prerequisites(testbed)
    lacking += dut.of_testbed(testbed).prerequisites(testbed)
    if tool := _tool(testbed):
        lacking += tool.prerequisites()
    return list(dict.fromkeys(lacking))


def hugepages_megabytes(testbed: Testbed) -> int:
    """Hugepages that all engines of the testbed ask for together, in MiB."""
    if testbed.memory.pages in ("thp", "4k"):
        return 0
    alone = (
        testbed.by_tool or not testbed.dut.built_in or not links.find(testbed.wire).two_processes
    )
    # A device of ours behind another's tester is an engine, as is our tester before another's.
    engines = 1 if alone else 2
    if testbed.by_server:
        engines = 0
    if testbed.by_tool and not testbed.dut.built_in:
        engines = 0
    return engines * needed_megabytes(testbed.memory.megabytes)


def can_run(testbed: Testbed, loadtest: Loadtest) -> bool:
    """Whether the tester can send the frames of a loadtest, and the device forward them."""
    tool = _tool(testbed)
    if tool is not None and not tool.offers(loadtest):
        return False
    if testbed.hairpin and not _of_one_port(loadtest):
        return False
    if testbed.by_server and refusal(testbed, loadtest):
        return False
    return loadtest.traffic.protocol in dut.of_testbed(testbed).forwards(testbed)


def lacking(testbed: Testbed, loadtest: Loadtest, what: str) -> str:
    """Why our tester can't offer a loadtest to a device for `what`, or nothing."""
    if testbed.by_tool or not generates(testbed):
        return f"{testbed.dut.name}: {what} needs our tester to offer loads, expected another"
    if absent := missing(testbed):
        return "\n".join(map(str, absent))
    return "" if can_run(testbed, loadtest) else f"{loadtest.name}: {why_not(testbed, loadtest)}"


def _of_one_port(loadtest: Loadtest) -> bool:
    """Whether all its frames enter at one port, one by one."""
    traffic = loadtest.traffic
    one_way = tuple(traffic.sides(loadtest.directions)) == (0,)
    return one_way and loadtest.loopbacks == 1 and traffic.connections(DUT_MACS) is None


def why_not(testbed: Testbed, loadtest: Loadtest) -> str:
    """Why a loadtest can't be run, in words."""
    if testbed.hairpin:
        return "one port receives what it sends: frames of one direction fill its link both ways"
    if tool := _tool(testbed):
        return f"{tool.name} cannot send them: {tool.limits}"
    if testbed.by_server and (refused := refusal(testbed, loadtest)):
        return refused
    return f"{testbed.dut.name} here has no MPLS"


def _tool(testbed: Testbed) -> LoadTool | None:
    return find_tool(testbed.tester.kind) if testbed.tester and testbed.by_tool else None


def has_ceiling(testbed: Testbed) -> bool:
    """Whether what the tester can do by itself can be measured: `Rig.bare` works."""
    # Two ports that are joined say nothing of what one does both ways.
    alone = not testbed.by_tool and not testbed.hairpin and not testbed.by_server
    return isinstance(links.find(testbed.wire), BareLinkKind) and alone


class Rig:
    """Puts a testbed together, once for each loadtest."""

    def __init__(
        self,
        testbed: Testbed,
        file: FileNamer,
        journal: Journal | None = None,
        on_wait: OnWait = lambda _text, _seconds: None,
        say: Say = lambda _text: None,
    ) -> None:
        """`file` says where a file of the run is kept, by its name; trials go into `journal`.

        `on_wait` is called at waits for a device that somebody else starts, `say` of links.
        """
        self._testbed = testbed
        self._file = file
        self._journal = journal
        self._on_wait = on_wait
        self._say = say
        self._cpus = testbed.cpus or machine.allowed_cpus()
        self._wire = links.find(testbed.wire)
        self._dut = dut.of_testbed(testbed)
        self._started = 0
        #: MAC addresses that neighbours answered, by those that stand in for them.
        self._learnt: Macs = {}
        #: Lines about neighbours that are known already: engines are started again and again.
        self._known_lines: set[str] = set()
        self._box: AskedBox | None = None

    @contextmanager
    def with_box(self) -> Iterator[None]:
        """Keep the way to a box open over all trials: it is set up once, and torn down on exit."""
        if not self._testbed.dut.is_box:
            yield
            return
        with running(self._testbed.dut, self._cpus[:1]) as box:
            self._box = box
            try:
                yield
            finally:
                self._box = None

    @property
    def pushes_back(self) -> bool:
        """Whether the tester can send no more than the wires take."""
        return self._wire.pushes_back(self._testbed)

    @property
    def _together(self) -> bool:
        """Whether one engine is tester and device."""
        return self._testbed.dut.built_in and not self._wire.two_processes

    @property
    def _starter(self) -> Callable[[Ends, Loadtest, str, Macs], AbstractContextManager[Trials]]:
        if self._testbed.by_server:
            return self._from_server
        return self._in_one if self._together else self._beside_dut

    @contextmanager
    def under_test(self, loadtest: Loadtest, label: str) -> Iterator[Trials]:
        """The whole testbed; `label` names its files. Raises SetupError, EngineError."""
        with self._wire.joined(self._testbed, loadtest.loopbacks) as ends:
            start = self._starter
            with (
                self._addressed(lambda macs: start(ends, loadtest, label, macs)) as trials,
                watching(self._testbed.dut) as power,
            ):
                watched = self._watched(trials, loadtest, label)
                yield watched if power is None else metered(watched, power)

    @contextmanager
    def _addressed(
        self, start: Callable[[Macs], AbstractContextManager[Trials]]
    ) -> Iterator[Trials]:
        """Start the engines; again where a port has another address than frames are sent to."""
        macs: Macs = {}
        for _ in range(STARTS):
            with start(macs) as trials:
                if not trials.refused_macs:
                    yield trials
                    return
                macs |= trials.refused_macs
        raise SetupError(
            f"ports report other MAC addresses at each start ({', '.join(macs.values())}): give "
            "them fixed ones by their devargs"
        )

    @contextmanager
    def _in_one(self, ends: Ends, loadtest: Loadtest, label: str, macs: Macs) -> Iterator[Trials]:
        """Tester and device in one engine."""
        config = bench_config(self._testbed, ends, loadtest, self._name())
        with self._tester(with_macs(config, macs), ends, label, self._cpus) as trials:
            yield trials

    @contextmanager
    def bare(self, loadtest: Loadtest, label: str) -> Iterator[Trials]:
        """The tester alone, its two ports joined, as fast as it can."""
        with self._bare(loadtest, label, ceiling_config) as trials:
            yield trials

    @contextmanager
    def bare_at_rate(self, loadtest: Loadtest, label: str) -> Iterator[Trials]:
        """The same at the rate that a device would be offered."""
        with self._bare(loadtest, label, bare_config) as trials:
            yield trials

    @contextmanager
    def _bare(self, loadtest: Loadtest, label: str, configure: Configure) -> Iterator[Trials]:
        assert isinstance(self._wire, BareLinkKind), "has_ceiling was not asked"
        with self._wire.bare(self._testbed) as ends:
            config = configure(self._testbed, ends, loadtest, self._name())
            cpus = self._cpus if self._together else self._tester_cpus
            with self._tester(config, ends, label, cpus) as trials:
                yield self._watched(trials, loadtest, label)

    def _watched(self, trials: Trials, loadtest: Loadtest, label: str) -> Trials:
        """The same; whatever trials read is noted for those who watch the run."""
        if self._journal is None:
            return trials
        traffic = loadtest.traffic
        asked = Asked(
            frame_bytes=traffic.frame_bytes,
            directions=loadtest.links,
            link_bps=self._testbed.line_bps,
        )
        about: dict[str, str | int] = {
            "label": label,
            "loadtest": loadtest.name,
            "text": loadtest.text,
            "line_pps": round(asked.line.packets_per_second),
        }
        return replace(trials, tester=Watched(trials.tester, self._journal, about))

    def by_tool(self, loadtest: Loadtest, load: Load, label: str) -> Measurement:
        """Let the testbed's load tool run once, and read the device before and after."""
        tool = _tool(self._testbed)
        assert tool is not None
        hertz = machine.tsc_hz()
        routed = self._dut.routes(self._testbed)
        with (
            self._wire.joined(self._testbed) as ends,
            self._dut.running(self._testbed, ends, self._place(self._name(), label)) as device,
            watching(self._testbed.dut) as power,
        ):
            if power is not None:
                power.rest(load.duration_us / 1e6)
            before = device.readings(hertz)
            if power is not None:
                power.begin()
            message = tool.measure(ends, loadtest, load.duration_us / 1e6, routed)
            if power is not None:
                power.end()
            after = device.readings(hertz)
            measured = None if power is None else power.trial()
            ends.check()
        between = after.ledger.minus(before.ledger).entries
        ledger = PacketLedger(entries=(*message.sent, *between, *message.received))
        time = tuple(
            late.since(early) for late, early in zip(after.workers, before.workers, strict=True)
        )
        # It was asked for all that it can.
        sent = ledger.sent / message.seconds / load.line.packets_per_second
        asked = {"duration_us": round(message.seconds * 1e6), "scale_ppm": round(1e6 * sent)}
        return Measurement(
            load=load.model_copy(update=asked),
            progress=Progress(
                trial=1,
                state="done",
                elapsed_us=round(message.seconds * 1e6),
                sent_packets=ledger.sent,
                received_packets=ledger.received,
                drained=True,
            ),
            packets=ledger,
            time=time,
            time_at_load=time,
            ports=counters_since(after.ports, before.ports),
            foreign=True,
            tool=ToolCpu(
                name=tool.name,
                sender_percent=message.sender_cpu_percent,
                receiver_percent=message.receiver_cpu_percent,
            ),
            power=measured,
        )

    @property
    def _tester_cpus(self) -> tuple[int, ...]:
        """Those of a tester beside a device."""
        return tester_cpus(self._testbed, self._cpus)

    def _place(self, name: str, label: str) -> Place:
        """Give the device all CPUs but the tester's."""
        return Place(
            cpus=self._cpus[len(self._tester_cpus) :] or self._cpus[1:] or self._cpus,
            shared=len(self._cpus) == 1,
            tester_cpus=self._tester_cpus,
            name=f"{name}-dut",
            file=lambda kind: self._file(f"{label}-dut.{kind}"),
        )

    @contextmanager
    def _beside_dut(
        self, ends: Ends, loadtest: Loadtest, label: str, macs: Macs
    ) -> Iterator[Trials]:
        """The tester on the first CPUs, the device on the others."""
        name = self._name()
        place = replace(self._place(name, label), networks=loadtest.traffic.networks, macs=macs)
        config = with_macs(tester_config(self._testbed, ends, loadtest, name), macs)
        foreign = not self._testbed.dut.built_in
        with (
            self._running(ends, place) as device,
            self._beside_neighbors(config, ends, label) as trials,
        ):
            assert isinstance(trials.tester, EngineTester)
            both = WithDut(trials.tester, device, foreign)
            refused = dict(device.refused_macs) if isinstance(device, Addressed) else {}
            yield replace(
                trials,
                tester=both,
                refused_macs=refused | trials.refused_macs,
                box=device if isinstance(device, AskedBox) else None,
            )

    @contextmanager
    def _from_server(
        self, ends: Ends, loadtest: Loadtest, label: str, _macs: Macs
    ) -> Iterator[Trials]:
        """Somebody's TRex server as the tester."""
        place = replace(self._place(self._name(), label), networks=loadtest.traffic.networks)
        with (
            self._running(ends, place) as device,
            trex_tester(
                self._testbed, ends, loadtest, lambda kind: self._file(f"{label}.{kind}")
            ) as tester,
        ):
            both = WithDut(tester, device, foreign=True)
            box = device if isinstance(device, AskedBox) else None
            yield Trials(both, tester.info, ends.check, box=box)

    def _say_once(self, text: str) -> None:
        """Say what is not known yet."""
        if text not in self._known_lines:
            self._known_lines.add(text)
            self._say(text)

    def _running(self, ends: Ends, place: Place) -> AbstractContextManager[Running]:
        """The device, started for these trials unless it is a box that is open already."""
        if self._box is not None:
            return nullcontext(self._box)
        return self._dut.running(self._testbed, ends, place)

    @contextmanager
    def _beside_neighbors(self, config: dict[str, Any], ends: Ends, label: str) -> Iterator[Trials]:
        """The tester, sending to the MAC addresses that its neighbours answer when they are asked.

        It is started again when these are others than it was started with.
        """
        for _ in range(STARTS):
            known = self._learnt
            with self._tester(with_macs(config, known), ends, label, self._tester_cpus) as trials:
                assert isinstance(trials.tester, EngineTester)
                self._learnt = neighbors.learnt(trials.tester, self._testbed, self._say_once)
                if self._learnt == known:
                    yield trials
                    return
        raise SetupError(
            f"neighbours answer with other MAC addresses at each start "
            f"({', '.join(self._learnt.values())}): give them as dut.macs"
        )

    @contextmanager
    def _tester(
        self, config: dict[str, Any], ends: Ends, label: str, cpus: tuple[int, ...]
    ) -> Iterator[Trials]:
        files = Files(config=self._file(f"{label}.config.json"), log=self._file(f"{label}.log"))
        if cpus != self._cpus or list(cpus) != sorted(cpus):
            config = config | {"cpus": list(cpus)}
        cards = cards_of(config)
        with Engine(config, files, cpus) as engine, engine.connect() as telemetry:
            if ends.await_peers is not None:
                ends.await_peers(telemetry, self._on_wait)
            links = PortLinks(telemetry, devices_of(config), self._testbed.link_bps, self._say)
            tester = EngineTester(telemetry, cards, links)
            refused = refused_macs(config, telemetry.table("/linerate/ports"))
            yield Trials(tester, tester.info, ends.check, refused, telemetry=telemetry)

    def _name(self) -> str:
        """Name an engine."""
        self._started += 1
        return f"{own_prefix()}{self._started}"


def dpdk_devices(testbed: Testbed) -> tuple[str, ...]:
    """DPDK devices that a run uses, by name; those on PCI are looked at before it."""
    ports = [*(testbed.dut.devices or ())]
    if testbed.tester is not None and testbed.tester.ports is not None:
        ports += testbed.tester.ports
    return tuple(port.device for port in ports)
