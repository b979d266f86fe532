"""Trends as a document: what changed since when, by how much, how sure, and what inside."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from pydantic import Field

from linerate.base.published import Number, Output, published
from linerate.report.case import Case
from linerate.report.document import (
    NONE,
    Column,
    Document,
    Heading,
    Lead,
    Listing,
    Note,
    Section,
    Table,
    Weight,
    figures,
    sentences,
)
from linerate.report.figures import commits as drawn
from linerate.report.framed import filled
from linerate.report.terminal import mpps
from linerate.results.statistics import p_text
from linerate.results.trend.changes import Change, MachineChange, Trend
from linerate.results.trend.inside import Part
from linerate.results.trend.series import CYCLES, FigureName

#: Widest sparkline.
SPARKS = 16
SIGNS = "▁▂▃▄▅▆▇█"
#: A sparkline's height is at least this share of its middle: noise is no drama.
SPARK_SHARE = 0.1
#: Parts of a change that a sentence names.
NAMED = 2
#: Commits between that are listed.
LISTED = 12


#: From two commits to the digits and subjects of those between, and how many there are.
Between = Callable[[str, str], tuple[Sequence[tuple[str, str]], int]]


def _unknown(_good: str, _bad: str) -> tuple[Sequence[tuple[str, str]], int]:
    """Nothing between, as no repository is given."""
    return (), 0


@dataclass(frozen=True, slots=True)
class Judged:
    """Trends, and what they were asked for."""

    trends: Sequence[Trend]
    #: Figures that were looked at together.
    family: int
    #: Slowdowns from which on it fails, per cent.
    limit: float | None = None
    between: Between = _unknown
    #: Problems, a line each.
    doubts: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def failing(self) -> list[tuple[Trend, Change]]:
        """Slowdowns beyond the limit that stand."""
        if self.limit is None:
            return []
        return [(one, change) for one in self.trends for change in one.standing(self.limit)]

    @property
    def unknown(self) -> list[Trend]:
        """Series in which one could not be distinguished from noise yet."""
        if self.limit is None:
            return []
        return [one for one in self.trends if not one.can_tell(self.family)]


def document(judged: Judged) -> Document:
    """All series in a table; a section for each that changed, or went on on another machine."""
    numbered = list(enumerate(judged.trends, start=1))
    parts = [
        part
        for number, one in numbered
        if one.changes or one.machines or len(numbered) == 1
        for part in _section(number, one, judged)
    ]
    return Document(
        title=f"trend: {_count(len(judged.trends), 'series', 'series')}, {_found(judged.trends)}",
        sections=filled(
            (
                *([_lead(judged)] if judged.trends else []),
                *(Note(one, "doubt") for one in judged.doubts),
                *_gate(judged),
                _table(judged.trends),
                *parts,
            )
        ),
        data=partial(output, judged),
        schema="trend",
        cases=partial(_cases, judged),
        sheet=partial(_rows, judged.trends),
        page_title="linerate trend",
        about=tuple(judged.about.items()),
    )


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _found(trends: Sequence[Trend]) -> str:
    changes = [change for one in trends for change in one.changes]
    slower = sum(one.slower for one in changes)
    return (
        f"{_count(len(changes), 'change', 'changes')} ({slower} slower, "
        f"{len(changes) - slower} faster)"
        if changes
        else "no change"
    )


def _lead(judged: Judged) -> Lead:
    """The largest slowdown that stands; else that there is none."""
    slower = [(one, change) for one in judged.trends for change in one.standing(0.0)]
    count = _count(len(judged.trends), "series", "series")
    if not slower:
        return Lead("No slowdown", "", count, f"{_capital(_found(judged.trends))}.")
    trend, change = max(slower, key=lambda pair: pair[1].slower_percent)
    return Lead(
        value=f"{change.slower_percent:.1f} %",
        unit="slower",
        subject=trend.series.key.text,
        verdict=f"{_capital(sentence(change))}.",
        sure=_sure(change),
        tone="failed" if judged.failing else "limited",
        facts=(("series", f"{len(judged.trends)}"), ("slowdowns that stand", f"{len(slower)}")),
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _gate(judged: Judged) -> Iterator[Note]:
    if judged.limit is None:
        return
    failing, unknown = judged.failing, judged.unknown
    line = f"slower by {judged.limit:g} % or more: {_count(len(failing), 'change', 'changes')}"
    yield Note(line, "warning" if failing else "passed")
    if unknown:
        few = _count(len(unknown), "series has", "series have")
        yield Note(f"{few} too few commits or trials to tell of the newest one", "doubt")


def sentence(change: Change) -> str:
    """Where, by how much, and what inside."""
    way = "slower" if change.slower else "faster"
    what = "; ".join(_what(change)) or "no part of it by more than noise"
    return (
        f"{way} by {abs(change.percent):.1f} % from {change.after.called} on "
        f"(before: {change.before.called}): {what}"
    )


def _sure(change: Change) -> str:
    few = min(change.at - change.start, change.end - change.at)
    firm = "" if change.firm else f"; {_count(few, 'commit', 'commits')} alone: the next will tell"
    p = p_text(change.p)
    return f"p {p if p.startswith('<') else '= ' + p}{firm}"


def _what(change: Change) -> Iterator[str]:
    """Nodes, places of loss and limits, in words."""
    found = change.inside
    if found.alike:
        yield "all nodes alike, as another compiler or the machine would"
    else:
        for one in found.nodes[:NAMED]:
            yield f"{one.name} {one.by:+.1f} cycles a packet{_new(one)}"
    for one in found.places[:NAMED]:
        yield f"{one.by:+.2f} % lost at {one.name}"
    if found.limits is not None:
        yield f"limited by {found.limits[1]}, no longer by {found.limits[0]}"


def _new(one: Part) -> str:
    if not one.before:
        return " (a new node)"
    return " (gone)" if not one.after else f" ({100 * one.by / one.before:+.0f} %)"


def sparks(values: Sequence[float], width: int = SPARKS) -> str:
    """Values as bars, several of a long series in each."""
    step = max(1.0, len(values) / width)
    count = min(len(values), width)
    bins = [
        values[int(at * step) : max(int((at + 1) * step), int(at * step) + 1)]
        for at in range(count)
    ]
    bars = [median(one) for one in bins if one]
    low, high = min(bars), max(bars)
    middle, room = (low + high) / 2, max(high - low, SPARK_SHARE * (low + high) / 2)
    if not room:
        return SIGNS[0] * len(bars)
    shares = (0.5 + (bar - middle) / room for bar in bars)
    return "".join(SIGNS[min(int(share * len(SIGNS)), len(SIGNS) - 1)] for share in shares)


def value_text(figure: FigureName, value: float) -> str:
    """With its unit."""
    return f"{value:,.1f} cyc" if figure == CYCLES else f"{mpps(value)} Mpps"


def _table(trends: Sequence[Trend]) -> Table:
    columns = (
        *sentences("series"),
        Column("commits", spare=1),
        Column("over time", "text", elsewhere=True),
        *figures("now"),
        Column("noise", spare=2, spelled="noise between commits"),
        *figures("changed"),
    )
    rows = tuple(
        (
            one.series.key.text,
            str(len(one.series.points)),
            sparks(one.series.values),
            value_text(one.series.figure, one.groups[-1].middle),
            NONE if one.noise_percent is None else f"{one.noise_percent:.1f} %",
            ", ".join(f"{change.percent:+.1f} %" for change in one.changes) or NONE,
        )
        for one in trends
    )
    links = {one.series.key.text: f"series-{number}" for number, one in enumerate(trends, start=1)}
    return Table("Series", columns, rows, titled=False, links=links)


def _section(number: int, trend: Trend, judged: Judged) -> Iterator[Section]:
    yield Heading(trend.series.key.text, f"series-{number}")
    for change in trend.changes:
        weight: Weight = "warning" if change.slower else "passed"
        yield Note(f"{_capital(sentence(change))} ({_sure(change)}).", weight)
    for machine in trend.machines:
        yield Note(_machine(trend, machine), "text")
    yield drawn.picture(number, trend)
    yield from drawn.nodes(number, trend)
    for change in trend.changes:
        yield from _inside(change)
        yield from _between(change, judged)


def _machine(trend: Trend, machine: MachineChange) -> str:
    stamps = ", ".join(
        f"{name.replace('_', ' ')} {before or 'unknown'} → {after or 'unknown'}"
        for name, (before, after) in machine.stamps.items()
    )
    point = trend.series.points[machine.at]
    return f"Another machine from {point.called} on, not compared with the one before: {stamps}."


def _inside(change: Change) -> Iterator[Section]:
    rows = [(f"{one.name}, cycles", *_cells(one, 1)) for one in change.inside.nodes]
    rows += [(f"{one.name}, % lost", *_cells(one, 3)) for one in change.inside.places]
    columns = (*sentences("part"), *figures("before", "after", "change", "p"))
    yield Table(f"What changed inside at {change.after.called}", columns, tuple(rows))


def _cells(one: Part, digits: int) -> tuple[str, ...]:
    return (
        f"{one.before:.{digits}f}",
        f"{one.after:.{digits}f}",
        f"{one.by:+.{digits}f}",
        p_text(one.p),
    )


def _between(change: Change, judged: Judged) -> Iterator[Section]:
    commits, count = judged.between(change.before.name, change.after.name)
    if not commits:
        return
    more = [("", f"and {count - LISTED} more")] if count > LISTED else []
    title = f"Commits behind {change.before.called} up to {change.after.called}"
    yield Listing(title, ("commit", "subject"), (*commits[:LISTED], *more))


class PartOutput(Output):
    """A node's cycles a packet, or a place's loss in per cent."""

    name: str
    before: Number
    after: Number
    change: Number = Field(validation_alias="by")
    #: Probability that chance alone makes it.
    p: Number


class CommitOutput(Output):
    """A commit between two that were measured."""

    commit: str
    subject: str


class ChangeOutput(Output):
    """A step of a series."""

    #: Number of the first point behind it, from 0.
    at: int
    #: The last commit before it, and the first behind it.
    before: str
    after: str
    change_percent: Number
    slower: bool
    #: Probability that chance alone makes it, anywhere in all that was looked at.
    p: Number
    #: Whether three commits or more on each side show it.
    firm: bool
    #: Whether no later change takes it back.
    stands: bool
    #: Where it was seen best: `all nodes`, or a node.
    seen_in: str
    nodes: tuple[PartOutput, ...]
    places: tuple[PartOutput, ...]
    #: The limit before, and now, where that is not the same.
    limits: tuple[str, str] | None
    #: Whether all nodes changed by one factor.
    all_nodes_alike: bool
    sentence: str
    #: Commits of the repository, where one is given.
    commits: tuple[CommitOutput, ...]


class MachineOutput(Output):
    """Another machine from a point on."""

    at: int
    #: By stamp: before and after.
    stamps: dict[str, tuple[str, str]]


class PointOutput(Output):
    """One commit."""

    commit: str
    version: str
    started: str
    #: Median of its trials.
    value: Number
    trials: tuple[Number, ...]


class SeriesOutput(Output):
    """One figure over commits."""

    testbed: str
    device: str
    scenario: str
    loadtest: str
    frame_bytes: str
    values: str
    workers: str
    setting: str
    load: str
    figure: FigureName
    #: Standard deviation of the commits within their groups, robust.
    noise_percent: Number | None
    #: Whether a step at the newest commit could be distinguished from noise.
    can_tell: bool
    points: tuple[PointOutput, ...]
    changes: tuple[ChangeOutput, ...]
    machines: tuple[MachineOutput, ...]


@published("trend", "JSON of `linerate trend --json`")
class TrendOutput(Output):
    """All series."""

    series: tuple[SeriesOutput, ...]
    #: Slowdowns beyond the limit of --fail-on that stand; None without a limit.
    failing: int | None


def output(judged: Judged) -> TrendOutput:
    """The same for programs, figures unrounded."""
    return TrendOutput(
        series=tuple(_series(one, judged) for one in judged.trends),
        failing=None if judged.limit is None else len(judged.failing),
    )


def _series(trend: Trend, judged: Judged) -> SeriesOutput:
    series = trend.series
    standing = trend.standing(0.0)
    return SeriesOutput(
        **{name: getattr(series.key, name) for name in series.key.__slots__},
        figure=series.figure,
        noise_percent=trend.noise_percent,
        can_tell=trend.can_tell(judged.family),
        points=tuple(
            PointOutput(
                commit=one.commit,
                version=one.version,
                started=one.started.isoformat(),
                value=value,
                trials=one.values(series.figure),
            )
            for one, value in zip(series.points, series.values, strict=True)
        ),
        changes=tuple(_change(one, one in standing, judged) for one in trend.changes),
        machines=tuple(MachineOutput(at=one.at, stamps=dict(one.stamps)) for one in trend.machines),
    )


def _change(change: Change, stands: bool, judged: Judged) -> ChangeOutput:
    commits, _ = judged.between(change.before.name, change.after.name)
    return ChangeOutput(
        at=change.at,
        before=change.before.name,
        after=change.after.name,
        change_percent=change.percent,
        slower=change.slower,
        p=change.p,
        firm=change.firm,
        stands=stands,
        seen_in=change.seen_in,
        nodes=tuple(map(PartOutput.model_validate, change.inside.nodes)),
        places=tuple(map(PartOutput.model_validate, change.inside.places)),
        limits=change.inside.limits,
        all_nodes_alike=change.inside.alike,
        sentence=sentence(change),
        commits=tuple(CommitOutput(commit=one, subject=subject) for one, subject in commits),
    )


def _cases(judged: Judged) -> Iterator[Case]:
    """A case for each series."""
    failing = {id(trend): change for trend, change in reversed(judged.failing)}
    unknown = {id(one) for one in judged.unknown}
    for one in judged.trends:
        name = one.series.key.text
        whole = "\n".join(map(sentence, one.changes))
        if id(one) in failing:
            yield Case("trend", name, "failure", sentence(failing[id(one)]), whole)
        elif id(one) in unknown:
            yield Case("trend", name, "error", "too few commits or trials to tell", whole)
        else:
            yield Case("trend", name, text=whole)


def _rows(trends: Sequence[Trend]) -> Iterator[Sequence[object]]:
    """A row for each change."""
    yield ("series", "before", "after", "change_percent", "slower", "p", "firm", "sentence")
    for one in trends:
        for change in one.changes:
            found = (change.before.name, change.after.name, change.percent, change.slower)
            yield (one.series.key.text, *found, change.p, change.firm, sentence(change))
