"""The matrix: every configuration that this host can run, side by side.

Cases are data; each is checked before anything is measured, and one that can't run is listed with
its reason and its remedy. The cost of each beside the link is computed from its trial.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from linerate.base.drivers import on_interface
from linerate.base.errors import TestbedError
from linerate.base.prerequisites import Prerequisite, of_refusal
from linerate.engine.engine_process import refusal
from linerate.experiments.sweep import Line
from linerate.lab import links, rig
from linerate.lab.engine_config import bench_config, dut_config
from linerate.lab.links import End, Ends
from linerate.model.suites import Loadtest, Traffic
from linerate.model.sut_config import Configuration, applied
from linerate.model.testbed import Testbed
from linerate.results.store import Absent

#: The published comparison is of the smallest frames; larger ones hide what a packet costs.
FRAME_BYTES = 64

#: Beside its trial each case needs so long: processes and wires come and go, packets drain.
AROUND_SECONDS = 0.9


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


def lacking(testbed: Testbed, case: Configuration) -> Prerequisite | None:
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


def _refused(config: dict[str, Any]) -> Prerequisite | None:
    line = refusal(config)
    return of_refusal(line) if line else None
