"""RFC 2544's benchmarks by frame size."""

from functools import partial
from pathlib import Path

from pydantic import Field

from linerate.base.published import Number, Output, published
from linerate.model.run_records import FrameSize
from linerate.report import json_output, marks, power, rfc2544_lead, trial
from linerate.report.document import (
    NONE,
    Chapter,
    Document,
    Listing,
    Note,
    Section,
    Table,
    figures,
    table,
    text,
)
from linerate.report.figures import benchmarks, power_loads
from linerate.report.framed import NOTHING, framed
from linerate.report.search import why
from linerate.results.goals import limiting, trial_named
from linerate.results.store import Result, Run

SIZE_COLUMNS = (
    *text("frames"),
    *figures("throughput", "% of line", "p50 µs", "p99 µs", "burst", "buffer µs", marks.COLUMN),
)
LEGEND = (
    "throughput: Mpps of all directions without loss (26.1); p50, p99: latency there (26.2); "
    "burst: frames in a row at the highest rate without loss, average (26.4); "
    "buffer: RFC 9004's corrected buffer time"
)


def document(run: Run, folder: Path) -> Document:
    """A whole run."""
    return framed(
        run,
        folder,
        "rfc2544",
        _sections(run) if run.rfc2544 else [NOTHING],
        data=partial(output, run, folder),
        details=lambda: trial.all_sections(shown(run)),
        more=(f"the page: {folder}/report.html",),
    )


def _sections(run: Run) -> list[Section]:
    return [
        rfc2544_lead.outcome(run),
        benchmarks.throughput(run),
        Table("RFC 2544 by frame size", SIZE_COLUMNS, tuple(size_rows(run))),
        Note(LEGEND),
        Chapter("Loss over load", "loss"),
        benchmarks.loss(run),
        table("Frame loss (26.3), % at % of line", *curve_table(run)),
        Chapter("Limits", "limits"),
        Listing(
            "What limits throughput, and how we know", ("frames", "why"), tuple(limit_lines(run))
        ),
        *map(Note, notes(run)),
        *_power(run),
    ]


def _power(run: Run) -> list[Section]:
    return [
        Chapter("Power", "power"),
        *power_loads.pictures(run.results),
        *power.sections(_at_throughput(run)),
    ]


def _at_throughput(run: Run) -> list[Result]:
    """The trial that each size's throughput rests on."""
    trials = {one.throughput_trial for one in run.rfc2544}
    return [result for result in run.results if result.trial in trials]


def shown(run: Run) -> list[Result]:
    """Trials that are shown in full: what limits each size, or else the one at its throughput."""
    found = [
        limiting(run, search, goal) or trial_named(run, goal.lower_trial)
        for search in run.searches
        for goal in search.goals[:1]
    ]
    return [result for result in found if result is not None and result.valid]


def size_rows(run: Run) -> list[tuple[str, ...]]:
    """The figures of each frame size."""
    return [_size_row(run, one) for one in run.rfc2544]


def _size_row(run: Run, one: FrameSize) -> tuple[str, ...]:
    latency, buffer = one.latency, one.buffer_seconds
    pps, lost = one.throughput_pps, marks.of_frame_size(run, one)
    return (
        one.loadtest + _marks(run, one, lost),
        NONE if pps is None else f"{pps / 1e6:.4f}",
        NONE if pps is None else f"{100 * pps / one.line_pps:.2f}",
        _us(None if latency is None else latency.p50_us),
        _us(None if latency is None else latency.p99_us),
        _burst(one),
        NONE if buffer is None else f"{1e6 * buffer:.0f}",
        f"{sum(lost.values()):,}",
    )


def _marks(run: Run, one: FrameSize, lost: dict[str, int]) -> str:
    """The trial that throughput rests on."""
    shown = (result for result in run.results if result.trial == one.throughput_trial)
    suspect = any(result.suspect for result in shown)
    return marks.SUSPECT * suspect + marks.LEFT_OUT * bool(lost)


def _us(microseconds: float | None) -> str:
    return NONE if microseconds is None else f"{microseconds:.1f}"


def _burst(one: FrameSize) -> str:
    if one.mean_burst is None:
        return NONE
    return f"> {one.burst_most:,}" if one.all_bursts_pass else f"{one.mean_burst:,.0f}"


def curve_table(run: Run) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns and rows: the loads that any frame size was tried at, the highest first."""
    loads = sorted(
        {f"{point.line_percent:.0f}" for one in run.rfc2544 for point in one.loss_curve},
        key=int,
        reverse=True,
    )
    rows = []
    for one in run.rfc2544:
        lost = marks.of_frame_size(run, one)
        known = {
            f"{point.line_percent:.0f}": loss_text(point.loss_ratio)
            + marks.LEFT_OUT * (point.trial in lost)
            for point in one.loss_curve
        }
        cells = (known.get(load, "") for load in loads)
        rows.append((one.loadtest, *cells))
    return ("frames", *loads), rows


def loss_text(ratio: float) -> str:
    """Per cent, so that little is not read as none."""
    if not ratio:
        return "0"
    return "<0.1" if ratio < 0.001 else f"{100 * ratio:.1f}"


def limit_lines(run: Run) -> list[tuple[str, str]]:
    """Each frame size, and what limits its throughput."""
    return [
        (search.loadtest, why(run, search, search.goals[0]))
        for search in run.searches
        if search.goals
    ]


def notes(run: Run) -> list[str]:
    """Notes for the reader."""
    lines = []
    if run.searches and run.searches[0].duration_seconds < 60:
        seconds = run.searches[0].duration_seconds
        lines.append(f"trials of {seconds:g} s; RFC 2544 wants 60 s: --duration 60s")
    if any(one.max_pps < 0.999 * one.line_pps for one in run.rfc2544):
        lines.append("where the tester can't fill the line, curve and bursts begin at what it can")
    if lost := sum(sum(search.lost_by_host.values()) for search in run.searches):
        lines.append(
            f"{marks.LEFT_OUT} {lost:,} packets lost while a worker was descheduled: not counted"
        )
    return lines


class FrameSizeOutput(Output, FrameSize):
    """The benchmarks of one frame size, and what limits its throughput."""

    #: Average of the longest bursts without loss, frames (26.4).
    mean_burst_frames: Number | None
    #: Whether the longest burst that was tried lost nothing, each time.
    passed_by_all: bool = Field(serialization_alias="all_bursts_pass")
    #: RFC 9004's corrected buffer time.
    corrected_buffer_seconds: Number | None
    limit: str | None
    #: By trial: packets lost that count as the host's.
    left_out: dict[str, int]


class _Asked(Output):
    trial: str
    asked_pps: float


class Rfc2544Trial(json_output.TrialOutput, _Asked):
    """One trial."""


@published("rfc2544", "JSON of `linerate search --rfc2544 --json`")
class Rfc2544Output(json_output.RunOutput):
    """RFC 2544's benchmarks by frame size, and every trial."""

    sizes: tuple[FrameSizeOutput, ...]
    trials: tuple[Rfc2544Trial, ...]


def output(run: Run, folder: Path) -> Rfc2544Output:
    """As JSON."""
    limits = dict(limit_lines(run))
    return Rfc2544Output(
        **json_output.run_fields(run, folder),
        sizes=tuple(
            FrameSizeOutput(
                **dict(one),
                mean_burst_frames=one.mean_burst,
                passed_by_all=one.all_bursts_pass,
                corrected_buffer_seconds=one.buffer_seconds,
                limit=limits.get(one.loadtest),
                left_out=marks.of_frame_size(run, one),
            )
            for one in run.rfc2544
        ),
        trials=tuple(_trial(result) for result in run.results),
    )


def _trial(result: Result) -> Rfc2544Trial:
    return Rfc2544Trial(
        trial=result.trial, asked_pps=result.asked_pps, **json_output.trial_fields(result)
    )
