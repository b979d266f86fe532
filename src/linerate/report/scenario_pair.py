"""Cost of a feature, in cycles a packet and per cent, and how sure that is."""

from linerate.base.published import Output, published
from linerate.report.document import NONE, Column, Document, Note, Section, Table, figures, text
from linerate.report.terminal import mpps
from linerate.results.repeats_to_tell import REPEATS_MAX
from linerate.results.scenario_cost import FOUND_PERCENT, Cost, Pair, Side
from linerate.results.signed_ranks import CONFIDENCE, Size, pairs_needed

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
    #: Pairs of runs that took turns; 0 of others, whose figures have no interval.
    pairs: int
    #: Interval of 95 % of each; None: too few pairs.
    cycles_interval: tuple[float, float] | None
    cycles_percent_interval: tuple[float, float] | None
    rate_percent_interval: tuple[float, float] | None
    #: Whether no cost was found, and noise would hide one of 3 %.
    too_noisy: bool
    #: Pairs with which one of 3 % is found nine times in ten; None: more than 500, or unknown.
    pairs_to_tell: int | None


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
    """A pair: each test without and with, what that comes to, then the nodes that cost."""
    names = (pair.without.values[pair.value], pair.with_it.values[pair.value])
    columns = (
        *text("test"),
        Column("Mpps without", spelled=f"Mpps, {pair.value} {names[0]}"),
        Column("with", spelled=f"Mpps, {pair.value} {names[1]}"),
        Column("cycles/packet without", spare=1),
        Column("with", spare=1, spelled="cycles/packet with"),
    )
    sides = Table("Both sides", columns, tuple(map(_row, pair.costs)), titled=False)
    costs = tuple(row for cost in pair.costs for row in _cost_rows(cost))
    sections: list[Section] = [
        sides,
        Table(f"Cost of {pair.value} {names[1]}", COST_COLUMNS, costs),
        *(note for cost in pair.costs if (note := _noise(cost))),
        *(_nodes(cost) for cost in pair.costs if _added(cost)),
        Note(_explanation(pair)),
    ]
    return Document(
        title=pair.text,
        sections=tuple(sections),
        data=lambda: _output(pair),
        schema="scenario-cost",
    )


#: Columns of a cost.
COST_COLUMNS = (
    *text("test", "figure"),
    *figures("change", "from", "to"),
    *text("more than noise"),
)


def _row(cost: Cost) -> tuple[str, ...]:
    return (
        cost.test,
        mpps(cost.without.pps.middle),
        mpps(cost.with_it.pps.middle),
        _cycles(cost.without),
        _cycles(cost.with_it),
    )


def _cost_rows(cost: Cost) -> list[tuple[str, ...]]:
    """Each figure of a test's cost, with its interval."""
    return [
        (cost.test, name, _signed(size.middle), *_interval(size), _judged(size))
        for name, size in (
            ("cycles/packet", cost.cycles),
            ("cycles/packet, %", cost.cycles_percent),
            ("rate, %", cost.rate_percent),
        )
        if size is not None
    ]


def _interval(size: Size) -> tuple[str, str]:
    low, high = size.interval or (None, None)
    return _signed(low), _signed(high)


def _judged(size: Size) -> str:
    return NONE if size.interval is None else "yes" if size.is_beyond_noise else "no"


def _noise(cost: Cost) -> Note | None:
    """Whether the pairs are too few, or their noise too large."""
    if 0 < cost.pairs < pairs_needed():
        return Note(
            f"{cost.test}: {cost.pairs} pairs have no interval: needs {pairs_needed()}", "doubt"
        )
    if not cost.is_too_noisy:
        return None
    needed = cost.pairs_to_tell or f"more than {REPEATS_MAX}"
    return Note(
        f"{cost.test}: too noisy: a cost of {FOUND_PERCENT:g} % is found nine times in ten by "
        f"{needed} pairs, here are {cost.pairs}",
        "doubt",
    )


def _explanation(pair: Pair) -> str:
    whole = "Cycles are all of the box's nodes, for a packet that entered; medians over all trials."
    most = max((cost.pairs for cost in pair.costs), default=0)
    if not most:
        return f"{whole} The runs did not take turns: drift of the machine may be in the change."
    return (
        f"{whole} Changes are those within {most} pairs of runs that took turns; from … to is "
        f"their interval of {100 * CONFIDENCE:.0f} %."
    )


def _cycles(side: Side) -> str:
    return f"{side.cycles.middle:.1f}" if side.cycles.trials else NONE


def _signed(value: float | None) -> str:
    return NONE if value is None else f"{value:+.1f}"


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
                cycles=_middle(cost.cycles),
                cycles_percent=_middle(cost.cycles_percent),
                rate_percent=_middle(cost.rate_percent),
                pairs=cost.pairs,
                cycles_interval=cost.cycles and cost.cycles.interval,
                cycles_percent_interval=cost.cycles_percent and cost.cycles_percent.interval,
                rate_percent_interval=cost.rate_percent and cost.rate_percent.interval,
                too_noisy=cost.is_too_noisy,
                pairs_to_tell=cost.pairs_to_tell,
            )
            for cost in pair.costs
        ),
    )


def _middle(size: Size | None) -> float | None:
    return None if size is None else size.middle


def _side(side: Side) -> SideOutput:
    return SideOutput(
        pps=side.pps.middle,
        cycles_per_packet=side.cycles.middle if side.cycles.trials else None,
        trials=len(side.pps.trials),
        limit=side.limit,
        nodes=side.nodes,
    )
