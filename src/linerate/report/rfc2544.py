"""RFC 2544's benchmarks by frame size: terminal, Markdown, JSON."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from linerate.base.line_rate import format_pps
from linerate.model.run_records import FrameSize, Search
from linerate.report import json_output, markdown, marks
from linerate.report.ending import how_it_ended
from linerate.report.terminal import environment_line, heading, plain_table
from linerate.results.goals import at_goal, limiting
from linerate.results.store import Result, Run

NONE = "–"
SIZE_COLUMNS = (
    "frames",
    "throughput",
    "% of line",
    "p50 µs",
    "p99 µs",
    "burst",
    "buffer µs",
    marks.COLUMN,
)
LEGEND = (
    "throughput: Mpps of all directions without loss (26.1); p50, p99: latency there (26.2); "
    "burst: frames in a row at the highest rate without loss, average (26.4); "
    "buffer: RFC 9004's corrected buffer time"
)
INDENT = 9


def terminal(console: Console, run: Run, folder: Path) -> None:
    """Print a whole run."""
    console.print(heading(run))
    console.print(environment_line(run.environment), style="dim")
    console.print()
    if not run.rfc2544:
        console.print("nothing was measured")
    else:
        _print_table(console, "RFC 2544 by frame size", SIZE_COLUMNS, size_rows(run))
        console.print(Text(LEGEND, "dim"))
        console.print()
        _print_table(console, "Frame loss (26.3), % at % of line", *curve_table(run))
        _print_limits(console, run)
        for line in notes(run):
            console.print(Text(line, "dim"))
    how_it_ended(console, run, folder, f"the page: {folder}/report.html")


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
        {f"{point.percent_of_line:.0f}" for one in run.rfc2544 for point in one.loss_curve},
        key=int,
        reverse=True,
    )
    rows = []
    for one in run.rfc2544:
        lost = marks.of_frame_size(run, one)
        known = {
            f"{point.percent_of_line:.0f}": loss_text(point.loss_ratio)
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
    return [(search.loadtest, _why(run, search)) for search in run.searches if search.goals]


def _why(run: Run, search: Search) -> str:
    goal = search.goals[0]
    result = limiting(run, search, goal)
    if result is None:
        return "no trial shows it"
    where = f" ({result.trial}, {format_pps(result.asked_pps, '.4f')})"
    spare = at_goal(run, goal)
    parts = [f"{result.verdict.limit}: {result.verdict.sentence.rstrip('.')}{where}"]
    return "; ".join([*parts, spare] if spare else parts)


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


def _print_table(
    console: Console, title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> None:
    console.print(Text(title, "bold"))
    table = plain_table(("frames", "left"), *((name, "right") for name in columns[1:]))
    for cells in rows:
        table.add_row(*cells)
    console.print(table)


def _print_limits(console: Console, run: Run) -> None:
    console.print()
    console.print(Text("What limits throughput, and how we know", "bold"))
    for name, why in limit_lines(run):
        for number, line in enumerate(
            Text(f"{name:<{INDENT - 3}} {why}").wrap(console, console.width - INDENT)
        ):
            line.rstrip()
            console.print(Text(" " * (INDENT if number else 2)) + line)


def as_markdown(run: Run) -> str:
    """The whole run."""
    columns, rows = curve_table(run)
    parts = [
        markdown.table(SIZE_COLUMNS, size_rows(run)),
        markdown.plain(LEGEND),
        "## Frame loss, % at % of line",
        markdown.table(columns, rows),
        markdown.table(("frames", "what limits throughput"), limit_lines(run), words=2),
        *map(markdown.plain, notes(run)),
    ]
    return markdown.framed(run, parts)


def document(run: Run, folder: Path) -> dict[str, Any]:
    """As JSON; every trial is in it."""
    limits = dict(limit_lines(run))
    return {
        "run": str(folder),
        "status": run.status,
        "problem": run.problem,
        "sizes": [
            one.model_dump()
            | {
                "mean_burst_frames": one.mean_burst,
                "all_bursts_pass": one.all_bursts_pass,
                "corrected_buffer_seconds": one.buffer_seconds,
                "limit": limits.get(one.loadtest),
                "left_out": marks.of_frame_size(run, one),
            }
            for one in run.rfc2544
        ],
        "trials": [_trial(result) for result in run.results],
    }


def _trial(result: Result) -> dict[str, Any]:
    return {"trial": result.trial, "asked_pps": result.asked_pps} | json_output.trial(result)
