"""Rows of the matrix: rates, verdicts and costs of a run, grouped for comparison."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from linerate.analysis.cost import Costs, costs_of
from linerate.analysis.explain import Verdict
from linerate.model.matrix_cases import Case, cases
from linerate.model.measurement import Measurement
from linerate.model.sut_config import Configuration
from linerate.results.store import Run, StoreError, load_measurement
from linerate.results.sweep_points import Point, factors, points


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
