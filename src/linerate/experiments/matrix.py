"""The matrix: every configuration that this host can run, side by side.

Cases are data; each is checked before anything is measured, and one that can't run is listed with
its reason and its remedy. The cost of each beside the link is computed from its trial.
"""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, get_args

from linerate.analysis.cost import Costs, costs_of
from linerate.analysis.explain import Verdict
from linerate.base.drivers import on_interface
from linerate.base.prerequisites import Need, of_refusal
from linerate.engine.engine_process import refusal
from linerate.experiments.sweep import Line, Point, factors, points
from linerate.lab import links, rig
from linerate.lab.engine_config import bench_config, dut_config
from linerate.lab.links import End, Ends
from linerate.model.measurement import Measurement
from linerate.model.suites import Loadtest, Traffic
from linerate.model.sut_config import Configuration, Device, Driver, applied
from linerate.model.testbed import Testbed, TestbedError, Threading
from linerate.results.store import Absent, Run, StoreError, load_measurement

#: The published comparison is of the smallest frames; larger ones hide what a packet costs.
FRAME_BYTES = 64
#: Devices of the comparison: name, mode, ports.
MODES: dict[str, tuple[str, int]] = {
    "rx-only": ("rxonly", 2),
    "tx-only": ("txonly", 2),
    "loopback-2": ("io", 2),
    "loopback-4": ("io", 4),
    "l2-switch": ("l2switch", 2),
}
LOOPBACK = "loopback-2"

DPDK_DRIVERS: tuple[Driver, ...] = ("af_packet", "af_xdp")
LINUX_DRIVERS: tuple[Driver, ...] = (
    "socket-single",
    "socket-vector",
    "socket-mmap",
    "libpcap",
    "io_uring",
)
FOREIGN: tuple[Device, ...] = ("kernel", "bridge", "nftables", "testpmd")
#: The only mode of iperf3, which is its own tester: one direction. Others do the same beside it.
ONE_WAY = "one-way"
THREADINGS: tuple[Threading, ...] = get_args(Threading)
HANDED_OVER = THREADINGS[1:]
#: Keys that select cases, beside their names.
CHOSEN_BY = ("mode", "driver", "threading", "wire", "dut")
#: Modes in which nothing is received, so that nothing can be handed over.
ALONE = ("txonly",)
#: Beside its trial each case needs so long: processes and wires come and go, packets drain.
AROUND_SECONDS = 0.9


@dataclass(frozen=True, slots=True)
class Case:
    """One configuration of the comparison, and where it stands in the report."""

    configuration: Configuration
    #: A key of `MODES`, or a mode of its own.
    mode: str
    #: Its name among those of the same wire and mode.
    label: str
    #: Name of the case that it is compared with: DPDK on the same wire, in the same mode.
    dpdk: str = ""

    @property
    def wire(self) -> str:
        """The wire that it is on."""
        return self.configuration.wire

    def words(self, key: str) -> tuple[str, ...]:
        """Values by which `--only KEY=…` chooses it; raises AttributeError."""
        given = getattr(self.configuration, key)
        return (self.mode, str(given)) if key == "mode" else (str(given),)


def cases() -> tuple[Case, ...]:
    """All of them, in the order of the report: by wire, then by mode."""
    return (*_on_card(), *_on_veth(), *_on_memif())


def _on_card() -> list[Case]:
    """Our own card, where no kernel is in the way."""
    made = [
        Configuration(mode=mode, ports=ports, given_name=name)
        for name, (mode, ports) in MODES.items()
    ]
    made += [Configuration(mode=mode) for mode in ("macswap", "router")]
    made += [
        Configuration(threading=threading, given_name=f"{LOOPBACK} {threading}")
        for threading in HANDED_OVER
    ]
    return [Case(one, one.name.partition(" ")[0], one.name, LOOPBACK) for one in made]


def _on_veth() -> list[Case]:
    """Every driver that a kernel's interface can be given to, then other people's devices."""
    found = []
    for mode in MODES:
        found += [_driven(driver, mode, THREADINGS[0]) for driver in DPDK_DRIVERS]
        found += [
            _driven(driver, mode, threading)
            for driver in LINUX_DRIVERS
            for threading in THREADINGS
            if threading not in HANDED_OVER or MODES[mode][0] not in ALONE
        ]
        if mode == LOOPBACK:
            others = [Configuration(dut=dut, wire="veth") for dut in FOREIGN]
            found += [Case(one, mode, one.name, _dpdk_on_veth(mode)) for one in others]
    return found + _one_way()


def _one_way() -> list[Case]:
    """Frames in one direction: by iperf3, and by our tester over the same way."""
    dpdk = Configuration(driver=DPDK_DRIVERS[0], wire="veth", directions=1)
    kernel = Configuration(dut="kernel", wire="veth", directions=1)
    iperf3 = Configuration(dut="iperf3", wire="veth")
    labelled = {DPDK_DRIVERS[0]: dpdk, "kernel": kernel, "iperf3": iperf3}
    return [
        Case(replace(one, given_name=f"{label} {ONE_WAY}"), ONE_WAY, label, _dpdk_on_veth(ONE_WAY))
        for label, one in labelled.items()
    ]


def _driven(driver: Driver, mode: str, threading: Threading) -> Case:
    kind, ports = MODES[mode]
    word = Configuration(driver=driver, wire="veth").driver_text
    handed = f" {threading}" if threading in HANDED_OVER else ""
    one = Configuration(
        mode=kind,
        driver=driver,
        threading=threading,
        wire="veth",
        ports=ports,
        given_name=f"{word} {mode}{handed}",
    )
    return Case(one, mode, f"{word}{handed}", _dpdk_on_veth(mode))


def _dpdk_on_veth(mode: str) -> str:
    return f"{DPDK_DRIVERS[0]} {mode}"


def _on_memif() -> list[Case]:
    """Two processes: the tester's, and the device's."""
    ours = [
        Configuration(driver="memif", wire="memif", mode=mode, given_name=f"memif {mode}")
        for mode in ("io", "macswap")
    ]
    testpmd = Configuration(dut="testpmd", wire="memif", given_name="memif testpmd")
    return [
        Case(one, "two processes", one.name.partition(" ")[2], "memif io")
        for one in (*ours, testpmd)
    ]


def select(only: str | None) -> tuple[Case, ...]:
    """All cases, or those that any of the words names; raises ValueError.

    A word is a name, one with `*` and `?` in it, or KEY=VALUE of the configuration.
    """
    known = cases()
    if only is None:
        return known
    wanted = [word.strip().lower() for word in only.split(",") if word.strip()]
    if not wanted:
        raise ValueError("only: no case named; --list says which there are")
    for word in wanted:
        if not any(_is(case, word) for case in known):
            raise ValueError(f"only: no case '{word}'; --list says which there are")
    return tuple(case for case in known if any(_is(case, word) for word in wanted))


def _is(case: Case, word: str) -> bool:
    key, equals, value = word.partition("=")
    if equals:
        return key in CHOSEN_BY and any(fnmatchcase(one, value) for one in case.words(key))
    names = (case.configuration.name.lower(), case.configuration.key.lower())
    return any(fnmatchcase(name, word) for name in names)


def seconds(trials: int, duration_seconds: float) -> float:
    """Duration of the trials with all around them, if none is repeated."""
    return trials * (duration_seconds + AROUND_SECONDS)


@dataclass(frozen=True, slots=True)
class Looked:
    """Cases that can run, and those that can't."""

    lines: tuple[Line, ...]
    absent: tuple[Absent, ...]


def look(base: Testbed, wanted: Iterable[Configuration]) -> Looked:
    """Say of each case whether this host can run it; nothing is started."""
    lines: list[Line] = []
    absent: list[Absent] = []
    for case in wanted:
        try:
            testbed = applied(base, case)
        except TestbedError as error:
            absent.append(Absent(configuration=case.name, reason=error.lines[0], planned=True))
            continue
        if need := lacking(testbed, case):
            absent.append(
                Absent(configuration=case.name, reason=need.what, remedy=need.remedy, planned=True)
            )
        else:
            lines.append(Line(case, testbed))
    return Looked(tuple(lines), tuple(absent))


def lacking(testbed: Testbed, case: Configuration) -> Need | None:
    """Prerequisites of a case that this host or this engine lacks."""
    if here := rig.missing(testbed):
        return here[0]
    loadtest = Loadtest("look", Traffic(FRAME_BYTES, "many"), 2, case.ports // 2)
    if testbed.wire == "card":
        with links.find("card").joined(testbed) as ends:
            return _refused(bench_config(testbed, ends, loadtest, "look"))
    if testbed.dut.built_in and testbed.dut.driver is not None:
        pair = [End(on_interface(testbed.dut.driver, f"look{at}", "look", at)) for at in (0, 1)]
        return _refused(dut_config(testbed, Ends((pair[0], pair[1]), (pair[0], pair[1])), "look"))
    return None


def _refused(config: dict[str, Any]) -> Need | None:
    line = refusal(config)
    return of_refusal(line) if line else None


@dataclass(frozen=True, slots=True)
class Row:
    """One case of the matrix as it was measured."""

    case: Case
    point: Point
    costs: Costs
    #: Ratio of its rate: to the slowest of its group, to DPDK's in the same mode on that link.
    over_slowest: float | None
    over_dpdk: float | None
    #: Cost of the link for its sender per packet, where the device pays it.
    hop_clocks: float | None = None

    @property
    def tx_above_clocks(self) -> float | None:
        """Cost of sending a packet, without the link's own."""
        return self.costs.tx_above(self.hop_clocks)

    @property
    def free_wire_pps(self) -> float | None:
        """Its rate on a wire that costs nothing."""
        return self.costs.free_wire_pps(self.hop_clocks)

    @property
    def configuration(self) -> str:
        """Its name."""
        return self.case.configuration.name

    @property
    def wire(self) -> str:
        """The wire that it was on."""
        return self.case.wire

    @property
    def label(self) -> str:
        """Its name within its group."""
        return self.case.label

    @property
    def verdict(self) -> Verdict:
        """The limit of its median trial."""
        return self.point.result.verdict


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that are compared with each other."""

    wire: str
    #: Common mode of all of them; empty where they differ.
    mode: str
    rows: tuple[Row, ...]


def rows(run: Run, costs: dict[str, Costs]) -> list[Row]:
    """Join rates, verdicts and costs; `costs` by the name of the trial in the middle."""
    found = {point.configuration: point for point in points(run).values()}
    known = {case.configuration.name: case for case in cases()}
    placed = {name: known.get(name) or _unknown(name) for name in found}
    made = []
    for name, point in found.items():
        case = placed[name]
        group = [one for one in found if _group(placed[one]) == _group(case)]
        rates = {one: found[one].pps for one in group}
        baseline = found.get(case.dpdk)
        of_group = [costs.get(found[one].result.trial, Costs()) for one in group]
        dpdk = {name: point.pps, case.dpdk: baseline.pps if baseline else None}
        made.append(
            Row(
                case=case,
                point=point,
                costs=costs.get(point.result.trial, Costs()),
                over_slowest=factors(rates)[name],
                over_dpdk=factors(dpdk, case.dpdk)[name],
                hop_clocks=_hop_clocks(run, case, of_group),
            )
        )
    return made


def _hop_clocks(run: Run, case: Case, costs: Iterable[Costs]) -> float | None:
    """The cheapest of the bare loops and of the drivers: no hop costs less than that."""
    hop = run.sweep.hop if run.sweep else None
    if hop is None or case.wire != "veth":
        return None
    return min([hop.clocks, *(one.tx.clocks for one in costs if one.tx.clocks is not None)])


def _unknown(name: str) -> Case:
    """A case of another version's run."""
    return Case(Configuration(given_name=name), "", name)


def _group(case: Case) -> tuple[str, str]:
    """Cases on the card are few: they stand together."""
    return (case.wire, "" if case.wire == "card" else case.mode)


def groups(rows: Iterable[Row]) -> list[Group]:
    """Rows by what they are compared with, in the order of the matrix."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault(_group(row.case), []).append(row)
    return [Group(wire, mode, tuple(mine)) for (wire, mode), mine in found.items()]


def measured_costs(
    run: Run, folder: Path, evidence: Callable[[Path, str], Measurement | None] = load_measurement
) -> dict[str, Costs]:
    """Read the costs off the evidence of the trials that are reported."""
    found = {}
    for result in run.reported():
        measurement = None
        with contextlib.suppress(StoreError):
            measurement = evidence(folder, result.trial)
        found[result.trial] = costs_of(measurement) if measurement is not None else Costs()
    return found
