"""The matrix: every configuration that this host can run, side by side.

Cases are data; each is looked at before anything is measured, and one that can't run is
said with its reason and its remedy. What each costs beside the wire is read off its trial.
"""

from dataclasses import dataclass
from pathlib import Path

from linerate import rig, wires
from linerate.configuration import Configuration, Driver, applied
from linerate.costs import Costs, costs_of
from linerate.drivers import on_interface
from linerate.engine import refusal
from linerate.explain import Verdict
from linerate.store import Absent, Run, StoreError, load_measurement
from linerate.suite import Loadtest, Traffic
from linerate.sweep import Line, Point, factors, points
from linerate.testbed import Testbed, TestbedError, Threading
from linerate.wires import End, Ends
from linerate.wiring import bench_config, dut_config

#: The published comparison is of the smallest frames; larger ones hide what a packet costs.
FRAME_BYTES = 64
#: Over each wire, what the others are compared with: DPDK moves the packets, nothing looks.
DPDK = {"card": "loopback-2", "veth": "af_packet"}

LINUX_DRIVERS: tuple[Driver, ...] = (
    "socket-single",
    "socket-vector",
    "socket-mmap",
    "libpcap",
    "io_uring",
)
HANDED_OVER: tuple[Threading, ...] = ("locked", "lock-free")


def cases() -> tuple[Configuration, ...]:
    """All of them, in the order of the report."""
    named = {
        "rx-only": Configuration(mode="rxonly"),
        "tx-only": Configuration(mode="txonly"),
        "loopback-2": Configuration(),
        "loopback-4": Configuration(ports=4),
        "l2-switch": Configuration(mode="l2switch"),
    }
    card = [_named(name, one) for name, one in named.items()]
    card += [Configuration(mode="macswap"), Configuration(mode="router")]
    card += [Configuration(threading=threading) for threading in HANDED_OVER]
    dpdk: tuple[Driver, ...] = ("af_packet", "af_xdp")
    linux = [
        Configuration(driver=driver, threading=threading, wire="veth")
        for driver in LINUX_DRIVERS
        for threading in ("run-to-completion", *HANDED_OVER)
    ]
    foreign = [
        Configuration(dut=dut, wire="veth")
        for dut in ("kernel", "bridge", "nftables", "testpmd", "iperf3")
    ]
    return (*card, *(Configuration(driver=one, wire="veth") for one in dpdk), *linux, *foreign)


def _named(name: str, one: Configuration) -> Configuration:
    return Configuration(mode=one.mode, ports=one.ports, given_name=name)


def select(only: str | None) -> tuple[Configuration, ...]:
    """All cases, or those whose names are given (`io*` for several); raises ValueError."""
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


def _is(case: Configuration, word: str) -> bool:
    """By name or key; `socket*` takes all that begin so."""
    names = (case.name.lower(), case.key.lower())
    if word.endswith("*"):
        return any(name.startswith(word[:-1]) for name in names)
    return word in names


@dataclass(frozen=True, slots=True)
class Looked:
    """What can be run, and what can't."""

    lines: tuple[Line, ...]
    absent: tuple[Absent, ...]


def look(base: Testbed, wanted: tuple[Configuration, ...]) -> Looked:
    """Say of each case whether this host can run it; nothing is started."""
    lines: list[Line] = []
    absent: list[Absent] = []
    for case in wanted:
        try:
            testbed = applied(base, case)
        except TestbedError as error:
            absent.append(Absent(configuration=case.name, reason=error.lines[0], planned=True))
            continue
        if reason := lacking(testbed, case):
            absent.append(Absent(configuration=case.name, reason=reason, planned=True))
        else:
            lines.append(Line(case, testbed))
    return Looked(tuple(lines), tuple(absent))


def lacking(testbed: Testbed, case: Configuration) -> str:
    """What this host or this engine lacks for a case, in one line; nothing if nothing."""
    if here := rig.missing(testbed):
        return here[0]
    loadtest = Loadtest("look", Traffic(FRAME_BYTES, "many"), 2, case.ports // 2)
    if testbed.wire == "card":
        with wires.find("card").joined(testbed) as ends:
            return refusal(bench_config(testbed, ends, loadtest, "look"))
    if testbed.dut.built_in and testbed.dut.driver is not None:
        pair = [End(on_interface(testbed.dut.driver, f"look{at}", "look", at)) for at in (0, 1)]
        return refusal(dut_config(testbed, Ends((pair[0], pair[1]), (pair[0], pair[1])), "look"))
    return ""


@dataclass(frozen=True, slots=True)
class Row:
    """One case of the matrix as it was measured."""

    configuration: str
    wire: str
    point: Point
    costs: Costs
    #: Of its rate: over the slowest of all on that wire, over DPDK's on that wire.
    over_slowest: float | None
    over_dpdk: float | None

    @property
    def verdict(self) -> Verdict:
        """What limits it, by its middle trial."""
        return self.point.result.verdict


def rows(run: Run, costs: dict[str, Costs]) -> list[Row]:
    """Join rates, verdicts and costs; `costs` by the name of the trial in the middle."""
    found = {point.configuration: point for point in points(run).values()}
    wires = {case.name: case.wire for case in cases()}
    made = []
    for name, point in found.items():
        wire = wires.get(name, "card")
        rates = {one: found[one].pps for one in found if wires.get(one, "card") == wire}
        made.append(
            Row(
                configuration=name,
                wire=wire,
                point=point,
                costs=costs.get(point.result.trial, Costs()),
                over_slowest=factors(rates)[name],
                over_dpdk=factors(rates, DPDK.get(wire, ""))[name],
            )
        )
    return made


def measured_costs(run: Run, folder: Path) -> dict[str, Costs]:
    """Read the costs off the evidence of the trials that are reported."""
    found = {}
    for result in run.reported():
        try:
            found[result.trial] = costs_of(load_measurement(folder, result.trial))
        except StoreError:
            found[result.trial] = Costs()
    return found
