"""A box in a few figures for those who choose hardware, of one run or several, and a ranking.

Of each size the best evidence counts: an NDR of a search or RFC 2544's throughput; only where
there is none, what came through when the box was offered more than it took.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from linerate.base.line_rate import line_rate
from linerate.model.power import Estimate, MeterAbout, PowerFigures
from linerate.model.run_records import FrameSize, Search
from linerate.results.compare import Side
from linerate.results.goals import NDR, limiting, trial_named
from linerate.results.store import Result, Run

Kind = Literal["NDR", "throughput", "received"]
#: Better evidence comes first.
KINDS: tuple[Kind, ...] = ("NDR", "throughput", "received")
IMIX = "IMIX"
#: Frames that a datasheet has, where they were measured; others follow.
USUAL = ("64 B", IMIX, "1518 B")


@dataclass(frozen=True, slots=True)
class Line:
    """One kind of traffic through one box."""

    #: `64 B`, `IMIX`, `1518 B`.
    frames: str
    loadtest: str
    text: str
    kind: Kind
    #: All directions together.
    pps: float
    l1_bps: float
    line_percent: float
    p99_us: float | None
    limit: str
    sentence: str
    trial: str
    power: PowerFigures | None

    @property
    def order(self) -> tuple[int, float]:
        """Usual frames first, the smaller ones before."""
        size = float("".join(one for one in self.frames if one.isdigit()) or 0)
        return (USUAL.index(self.frames) if self.frames in USUAL else len(USUAL), size)


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a box, in the user's own currency."""

    amount: float
    currency: str = ""

    def __str__(self) -> str:
        return f"{self.amount:,.10g} {self.currency}".strip()


@dataclass(frozen=True, slots=True)
class Sheet:
    """One box."""

    name: str
    about: str
    machine: str
    lines: tuple[Line, ...]
    idle_watts: Estimate | None
    meter: MeterAbout | None
    price: Price | None

    def line(self, frames: str) -> Line | None:
        """The first line of such frames."""
        return next((one for one in self.lines if one.frames == frames), None)

    @property
    def missing(self) -> list[str]:
        """Usual frames that no run has."""
        return [one for one in USUAL if self.line(one) is None]

    def pps_for_price(self, line: Line) -> float | None:
        """Packets a second for each unit of money."""
        return line.pps / self.price.amount if self.price and self.price.amount else None


def sheet(side: Side, price: Price | None = None) -> Sheet:
    """All that is known of a box."""
    best: dict[tuple[str, str], Line] = {}
    for run in side.runs:
        for line in _lines(run):
            key = (line.frames, line.text)
            known = best.get(key)
            if known is None or KINDS.index(line.kind) < KINDS.index(known.kind):
                best[key] = line
    timed = {text: p99 for run in side.runs for text, p99 in _timed(run)}
    lines = tuple(
        line if line.p99_us is not None else replace(line, p99_us=timed.get(line.text))
        for line in sorted(best.values(), key=lambda line: line.order)
    )
    figures = [
        result.power for run in side.runs for result in run.results if result.power is not None
    ]
    first = side.runs[0]
    return Sheet(
        name=side.name,
        about=first.testbed.dut.name,
        machine=first.environment.cpu_model,
        lines=lines,
        idle_watts=_idle(figures),
        meter=figures[0].about if figures else None,
        price=price,
    )


def _idle(figures: Sequence[PowerFigures]) -> Estimate | None:
    """Power without load over all trials: their mean, and how far they differ."""
    found = [one.idle_watts for one in figures if one.idle_watts is not None]
    if not found:
        return None
    values = [one.value for one in found]
    own = sum(one.plus_minus for one in found) / len(found)
    mean = sum(values) / len(values)
    return Estimate(value=mean, plus_minus=math.hypot(own, (max(values) - min(values)) / 2))


def _lines(run: Run) -> Iterator[Line]:
    for size in run.rfc2544:
        if size.throughput_pps is not None:
            yield from _throughput(run, size)
    for search in run.searches:
        yield from _ndr(run, search)
    if not run.searches and not run.rfc2544 and not run.latencies:
        for result in run.reported():
            if result.valid and result.received_pps:
                yield _line(result, "received", result.received_pps, result)


def _timed(run: Run) -> Iterator[tuple[str, float]]:
    """By traffic: p99 at the highest load at which latency was measured."""
    for loads in run.latencies:
        for point in sorted(loads.points, key=lambda point: point.percent):
            result = trial_named(run, point.trial)
            if result is None or not result.valid:
                continue
            known = [one.p99_us for one in result.latency if one.p99_us is not None]
            if known:
                yield loads.text, max(known)


def _throughput(run: Run, size: FrameSize) -> Iterator[Line]:
    result = trial_named(run, size.throughput_trial)
    if result is None or size.throughput_pps is None:
        return
    p99 = size.latency.p99_us if size.latency is not None else None
    shows = _limit_of(run, size.loadtest) or result
    yield _line(result, "throughput", size.throughput_pps, shows, p99)


def _limit_of(run: Run, loadtest: str) -> Result | None:
    """The trial that shows what limits a loadtest."""
    for search in run.searches:
        for goal in search.goals[:1]:
            if search.loadtest == loadtest:
                return limiting(run, search, goal)
    return None


def _ndr(run: Run, search: Search) -> Iterator[Line]:
    for goal in search.goals:
        if goal.loss_ratio == NDR and goal.lower_pps is not None and search.found:
            result = trial_named(run, goal.lower_trial)
            if result is not None:
                yield _line(result, "NDR", goal.lower_pps, limiting(run, search, goal) or result)


def _line(
    result: Result, kind: Kind, pps: float, shows: Result, p99_us: float | None = None
) -> Line:
    """A line; `shows`: the trial that says what limits."""
    one = line_rate(1.0, result.frame_bytes).packets_per_second
    # The rate that 100 % of the line would be, by the same trial.
    full = result.received_pps / result.line_percent * 100 if result.line_percent else 0.0
    known = [one.p99_us for one in result.latency if one.p99_us is not None]
    return Line(
        frames=frames_of(result),
        loadtest=result.test,
        text=result.text,
        kind=kind,
        pps=pps,
        l1_bps=pps / one,
        line_percent=100 * pps / full if full else 0.0,
        p99_us=p99_us if p99_us is not None else max(known, default=None),
        limit=shows.verdict.limit,
        sentence=shows.verdict.sentence,
        trial=result.trial,
        power=result.power,
    )


def frames_of(result: Result) -> str:
    """Frames of a trial in a word."""
    if result.profile is not None and len(result.profile.sizes) > 1:
        name = result.profile.profile
        return IMIX if name.startswith("imix") else name
    return f"{result.frame_bytes:g} B"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A box among others, by one kind of frames."""

    place: int
    sheet: Sheet
    line: Line


By = Literal["rate", "energy", "price"]


def common_frames(sheets: Sequence[Sheet]) -> str | None:
    """Frames by which boxes can be ranked: the first that all have; small ones ask for most."""
    for line in sheets[0].lines:
        if all(one.line(line.frames) is not None for one in sheets):
            return line.frames
    return None


def ranking(sheets: Sequence[Sheet], frames: str, by: By) -> list[Ranked]:
    """The best first; those that lack the figure are last."""
    found = [(one, line) for one in sheets if (line := one.line(frames)) is not None]
    found.sort(key=lambda pair: _key(pair[0], pair[1], by))
    return [Ranked(place, one, line) for place, (one, line) in enumerate(found, start=1)]


def _key(one: Sheet, line: Line, by: By) -> float:
    if by == "energy":
        energy = line.power.nj_per_packet if line.power is not None else None
        return math.inf if energy is None else energy.value
    if by == "price":
        worth = one.pps_for_price(line)
        return math.inf if worth is None else -worth
    return -line.pps


def meters(sheets: Iterable[Sheet]) -> set[tuple[str, str]]:
    """Kinds of meters: figures of several are not of the same parts."""
    return {(one.meter.source, one.meter.covers) for one in sheets if one.meter is not None}
