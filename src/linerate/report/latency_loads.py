"""Latency over offered load: terminal, Markdown, JSON."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from linerate.base.line_rate import format_pps
from linerate.model.measurement.latency import LatencyLoads
from linerate.report import json_output, latency, markdown
from linerate.report.ending import how_it_ended
from linerate.report.terminal import environment_line, heading
from linerate.results.store import Result, Run

#: Behind load, rate and direction: of all figures those that fit.
FIGURES = tuple(name for name in latency.FIGURES if name != "p99.99")
COLUMNS = ("load", "Mpps", "of", *FIGURES)


def points(run: Run, loads: LatencyLoads) -> list[tuple[float, float, Result]]:
    """Percent of the highest load, packets a second, and the trial."""
    by_trial = {result.trial: result for result in run.results}
    return [
        (point.percent, point.pps, by_trial[point.trial])
        for point in loads.points
        if point.trial in by_trial
    ]


def load_rows(run: Run, loads: LatencyLoads) -> list[tuple[str, ...]]:
    """By COLUMNS."""
    found = []
    for percent, pps, result in points(run, loads):
        load = (f"{percent:g} %", f"{pps / 1e6:.4f}")
        if not result.valid:
            found.append((*load, "invalid", *[latency.NONE] * len(FIGURES)))
            continue
        for number, row in enumerate(latency.stream_rows(result)):
            shown = (
                cell
                for name, cell in zip(("of", *latency.FIGURES), row, strict=True)
                if name in COLUMNS
            )
            found.append((*(load if not number else ("", "")), *shown))
    return found


def load_notes(run: Run, loads: LatencyLoads) -> list[str]:
    """Invalid trials, and disturbances by the host."""
    message = []
    for percent, _, result in points(run, loads):
        message += [f"{percent:g} %: {why}" for why in result.invalid]
        disturbed = sum(one.disturbed for one in result.latency)
        if result.valid and disturbed:
            longest = max(one.disturbed_max_us or 0.0 for one in result.latency)
            message.append(
                f"{percent:g} %: {disturbed:,} frames not counted, up to {latency.us(longest)} µs: "
                "a worker was descheduled"
            )
    return message


def top_text(loads: LatencyLoads) -> str:
    """Meaning of 100 %."""
    what = {"NDR": "the NDR", "given": "as given", "line": "the line's rate"}[loads.top]
    return f"100 % is {what}, {format_pps(loads.top_pps, '.4f')}, all directions together"


def loads_report(console: Console, run: Run, folder: Path) -> None:
    """Print a whole run."""
    console.print(heading(run))
    console.print(environment_line(run.environment), style="dim")
    for loads in run.latencies:
        console.print()
        console.print(Text(f"{loads.loadtest}  {loads.text}", "bold"))
        console.print(Text(top_text(loads), "dim"))
        console.print(latency.table(COLUMNS, 3, load_rows(run, loads)))
        for message in load_notes(run, loads):
            console.print(Text(f"  {message}"), soft_wrap=True)
        console.print(latency.EXPLAINED, style="dim")
    if not run.latencies:
        console.print("nothing was measured")
    how_it_ended(
        console,
        run,
        folder,
        f"each packet and cycle: linerate show ledger {folder}",
        f"the page: {folder}/report.html",
    )


def loads_markdown(run: Run) -> str:
    """The whole run."""
    parts: list[str] = []
    for loads in run.latencies:
        parts += [
            f"## {markdown.plain(f'{loads.loadtest}: {latency.TITLE}')}",
            markdown.plain(top_text(loads)),
            markdown.table(COLUMNS, load_rows(run, loads), words=3),
            *map(markdown.plain, load_notes(run, loads)),
            markdown.plain(latency.EXPLAINED),
        ]
    return markdown.framed(run, parts)


def loads_document(run: Run, folder: Path) -> dict[str, Any]:
    """For programs; the first loadtest's figures stand at the top."""
    all_loads = [_loads(run, loads) for loads in run.latencies]
    return {
        "run": str(folder),
        "status": run.status,
        "problem": run.problem,
        **(all_loads[0] if all_loads else {"top": None, "top_pps": None, "points": []}),
        **({"loadtests": all_loads} if len(all_loads) > 1 else {}),
    }


def _loads(run: Run, loads: LatencyLoads) -> dict[str, Any]:
    return {
        "loadtest": loads.loadtest,
        "frame_bytes": loads.frame_bytes,
        "top": loads.top,
        "top_pps": loads.top_pps,
        "points": [
            {"percent": percent, "pps": pps, "trial": result.trial} | json_output.trial(result)
            for percent, pps, result in points(run, loads)
        ],
    }
