"""Cost of a feature, in cycles a packet and per cent."""

from linerate.base.published import Output, published
from linerate.report.document import NONE, Column, Document, Note, Section, Table, figures, text
from linerate.report.terminal import mpps
from linerate.results.scenario_cost import Cost, Pair, Side

#: Nodes that add less, cycles a packet, are left out.
NODE_CYCLES_MIN = 0.5
NODES_MAX = 8


class SideOutput(Output):
    """One side of a pair: medians over its trials."""

    pps: float
    cycles_per_packet: float | None
    trials: int
    limit: str
    nodes: dict[str, float]


class CostOutput(Output):
    """One test on both sides, and what the feature adds."""

    test: str
    without: SideOutput
    with_it: SideOutput
    cycles: float | None
    cycles_percent: float | None
    rate_percent: float | None


@published("scenario-cost", "JSON of `linerate scenario cost --json`")
class PairOutput(Output):
    """Cost of a feature."""

    scenario: str
    box: str
    #: The value that differs, and both of its choices.
    value: str
    without: str
    with_it: str
    costs: tuple[CostOutput, ...]


def document(pair: Pair) -> Document:
    """A pair: each test without and with, then the nodes that cost."""
    names = (pair.without.values[pair.value], pair.with_it.values[pair.value])
    columns = (
        *text("test"),
        Column("Mpps without", spelled=f"Mpps, {pair.value} {names[0]}"),
        Column("with", spelled=f"Mpps, {pair.value} {names[1]}"),
        *figures("rate"),
        Column("cycles/packet without", spare=1),
        Column("with", spare=1, spelled="cycles/packet with"),
        *figures("cycles added", "in %"),
    )
    sections: list[Section] = [
        Table("Cost", columns, tuple(map(_row, pair.costs)), titled=False),
        *(_nodes(cost) for cost in pair.costs if _added(cost)),
        Note(
            "Cycles are all of the box's nodes, for a packet that entered; medians over the trials "
            "of each side."
        ),
    ]
    return Document(
        title=pair.text,
        sections=tuple(sections),
        data=lambda: _output(pair),
        schema="scenario-cost",
    )


def _row(cost: Cost) -> tuple[str, ...]:
    return (
        cost.test,
        mpps(cost.without.pps.middle),
        mpps(cost.with_it.pps.middle),
        _signed(cost.rate_percent, " %"),
        _cycles(cost.without),
        _cycles(cost.with_it),
        _signed(cost.cycles),
        _signed(cost.cycles_percent),
    )


def _cycles(side: Side) -> str:
    return f"{side.cycles.middle:.1f}" if side.cycles.trials else NONE


def _signed(value: float | None, unit: str = "") -> str:
    return NONE if value is None else f"{value:+.1f}{unit}"


def _added(cost: Cost) -> list[tuple[str, float]]:
    found = [one for one in cost.nodes.items() if abs(one[1]) >= NODE_CYCLES_MIN]
    return found[:NODES_MAX] if len(cost.nodes) > 1 else []


def _nodes(cost: Cost) -> Table:
    """Nodes whose cycles differ most."""
    rows = tuple(
        (
            name,
            f"{cost.without.nodes.get(name, 0.0):.1f}",
            f"{cost.with_it.nodes.get(name, 0.0):.1f}",
            f"{added:+.1f}",
        )
        for name, added in _added(cost)
    )
    columns = (*text("node"), *figures("without", "with", "added"))
    return Table(f"{cost.test}: cycles/packet, by node", columns, rows)


def _output(pair: Pair) -> PairOutput:
    return PairOutput(
        scenario=pair.without.name,
        box=pair.without.box,
        value=pair.value,
        without=pair.without.values[pair.value],
        with_it=pair.with_it.values[pair.value],
        costs=tuple(
            CostOutput(
                test=cost.test,
                without=_side(cost.without),
                with_it=_side(cost.with_it),
                cycles=cost.cycles,
                cycles_percent=cost.cycles_percent,
                rate_percent=cost.rate_percent,
            )
            for cost in pair.costs
        ),
    )


def _side(side: Side) -> SideOutput:
    return SideOutput(
        pps=side.pps.middle,
        cycles_per_packet=side.cycles.middle if side.cycles.trials else None,
        trials=len(side.pps.trials),
        limit=side.limit,
        nodes=side.nodes,
    )
