"""Latency over offered load."""

from functools import partial
from pathlib import Path
from typing import Any, Literal

from linerate.base.line_rate import format_pps
from linerate.base.published import Number, Output, published
from linerate.model.measurement.latency import LatencyLoads
from linerate.report import json_output, latency, latency_lead, power, trial
from linerate.report.document import NONE, Document, Heading, Listing, Note, Section, table
from linerate.report.figures import percentiles, power_loads
from linerate.report.figures.percentiles import points
from linerate.report.framed import NOTHING, framed
from linerate.results.store import Result, Run

#: Behind load, rate and direction: of all figures those that fit.
FIGURES = tuple(name for name in latency.FIGURES if name != "p99.99")
COLUMNS = ("load", "Mpps", "of", *FIGURES)


def load_rows(run: Run, loads: LatencyLoads) -> list[tuple[str, ...]]:
    """By COLUMNS."""
    found = []
    for percent, pps, result in points(run, loads):
        load = (f"{percent:g} %", f"{pps / 1e6:.4f}")
        if not result.valid:
            found.append((*load, "invalid", *[NONE] * len(FIGURES)))
            continue
        for number, row in enumerate(latency.stream_rows(result)):
            shown = (
                cell
                for name, cell in zip(("of", *latency.FIGURES), row, strict=True)
                if name in COLUMNS
            )
            found.append((*(load if not number else ("", "")), *shown))
    return found


def load_notes(run: Run, loads: LatencyLoads) -> list[tuple[str, str]]:
    """Loads with invalid trials, and with disturbances by the host."""
    found = []
    for percent, _, result in points(run, loads):
        load = f"{percent:g} %"
        found += [(load, why) for why in result.invalid]
        disturbed = sum(one.disturbed for one in result.latency)
        if result.valid and disturbed:
            longest = max(one.disturbed_max_us or 0.0 for one in result.latency)
            message = f"{disturbed:,} frames not counted, up to {latency.us(longest)} µs"
            found.append((load, f"{message}: a worker was descheduled"))
    return found


def top_text(loads: LatencyLoads) -> str:
    """Meaning of 100 %."""
    what = {"NDR": "the NDR", "given": "as given", "line": "the line's rate"}[loads.top]
    return f"100 % is {what}, {format_pps(loads.top_pps, '.4f')}, all directions together"


def document(run: Run, folder: Path) -> Document:
    """A whole run."""
    return framed(
        run,
        folder,
        "latency",
        [section for loads in run.latencies for section in _sections(run, loads)] or [NOTHING],
        data=partial(output, run, folder),
        details=lambda: trial.all_sections(
            result for loads in run.latencies for _, _, result in points(run, loads)[-1:]
        ),
        more=(
            f"each packet and cycle: linerate show ledger {folder}",
            f"the page: {folder}/report.html",
        ),
    )


def _sections(run: Run, loads: LatencyLoads) -> list[Section]:
    name = loads.loadtest
    rows = table(latency.TITLE, COLUMNS, load_rows(run, loads), words=(0, 1, 2))
    top = (
        Heading(name, f"latency-of-{name.replace('@', '-')}", loads.text),
        latency_lead.outcome(run, loads),
    )
    return [
        # One of several stands in its own section.
        *(top if len(run.latencies) > 1 else reversed(top)),
        percentiles.over_load(run, loads),
        Note(top_text(loads)),
        rows,
        Listing("Notes", ("load", "note"), tuple(load_notes(run, loads)), titled=False),
        Note(latency.EXPLAINED),
        percentiles.over_loads(run, loads),
        *_power(f"power-of-{name.replace('@', '-')}", [one for *_, one in points(run, loads)]),
    ]


def _power(name: str, results: list[Result]) -> list[Section]:
    pictures = (one.beside_table for one in power_loads.pictures(results, name))
    return [*pictures, *power.sections(results)]


class _Loaded(Output):
    #: Share of the highest load.
    load_percent: float
    #: All directions together.
    asked_pps: float
    trial: str


class LatencyTrial(json_output.TrialOutput, _Loaded):
    """Latency at one load."""


class LoadtestLatency(Output):
    """Latency of one loadtest over offered load."""

    loadtest: str = ""
    #: FCS counted.
    frame_bytes: Number = 0
    #: Meaning of the highest load.
    top: Literal["NDR", "given", "line"] | None
    top_pps: float | None
    points: tuple[LatencyTrial, ...]


@published("latency", "JSON of `linerate latency --json`")
class LatencyOutput(LoadtestLatency, json_output.RunOutput):
    """Latency over load; the first loadtest's figures stand at the top."""

    #: Where there are several.
    loadtests: tuple[LoadtestLatency, ...] = ()


def output(run: Run, folder: Path) -> LatencyOutput:
    """For programs."""
    all_loads = [_loads(run, loads) for loads in run.latencies]
    nothing: dict[str, Any] = {"top": None, "top_pps": None, "points": ()}
    return LatencyOutput(
        **json_output.run_fields(run, folder),
        **(dict(all_loads[0]) if all_loads else nothing),
        **({"loadtests": all_loads} if len(all_loads) > 1 else {}),
    )


def _loads(run: Run, loads: LatencyLoads) -> LoadtestLatency:
    return LoadtestLatency(
        loadtest=loads.loadtest,
        frame_bytes=loads.frame_bytes,
        top=loads.top,
        top_pps=loads.top_pps,
        points=tuple(
            LatencyTrial(
                load_percent=percent,
                asked_pps=pps,
                trial=result.trial,
                **json_output.trial_fields(result),
            )
            for percent, pps, result in points(run, loads)
        ),
    )
