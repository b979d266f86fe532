"""Power of a run from a meter's table that was read afterwards, by its times."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from linerate.analysis.measured_evidence import written
from linerate.analysis.power_windows import At, window
from linerate.base.atomic_write import write_whole
from linerate.model.power import MeterAbout, PowerTrial, PowerWindow, figures_of
from linerate.parsers.meter_csv import MeterTable
from linerate.results import journal
from linerate.results.store import Run, StoreError, load_measurement

#: After the load a box is not idle at once.
COOLING_SECONDS = 0.5
#: Longest idle time before and after a load that counts.
IDLE_SECONDS = 30.0
#: Shorter ones say nothing.
IDLE_SECONDS_MIN = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """Load of a trial; seconds since 1970."""

    trial: str
    begin: float
    end: float


def spans(folder: Path) -> list[Span]:
    """When packets were sent in each trial, from the run's live.jsonl."""
    begins: dict[int, float] = {}
    ends: dict[int, float] = {}
    found = []
    for line in journal.read(folder / journal.FILE):
        number, at, event = line.get("number"), line.get("at"), line.get("event")
        if not isinstance(number, int) or not isinstance(at, int | float):
            continue
        if event == "sending":
            begins[number] = float(at)
        elif event in ("draining", "closed"):
            ends.setdefault(number, float(at))
        elif event == "measured" and number in begins and number in ends:
            found.append(Span(str(line.get("trial")), begins[number], ends[number]))
    return found


def attach(run: Run, folder: Path, table: MeterTable, about: MeterAbout, shift: float) -> Run:
    """The run with power, written to its folder; `shift`: seconds that the meter is late."""
    loads = spans(folder)
    if not loads:
        raise StoreError(f"{folder}: its live.jsonl has no times of trials")
    readings = [At(row.at + shift, row.watts, None) for row in table.rows]
    _check_overlap(readings, loads, folder)
    powers = {
        span.trial: _trial(span, loads, readings, about)
        for span in loads
        if (folder / "evidence" / f"{span.trial}.json").is_file()
    }
    results = tuple(
        result.model_copy(update={"power": figures_of(powers[result.trial], result.received_pps)})
        if result.trial in powers
        else result
        for result in run.results
    )
    for trial, power in powers.items():
        measured = load_measurement(folder, trial).model_copy(update={"power": power})
        write_whole(folder / "evidence" / f"{trial}.json", written(measured))
    changed = run.model_copy(update={"results": results})
    write_whole(folder / "run.json", changed.model_dump_json(indent=1, by_alias=False))
    return changed


def _check_overlap(readings: list[At], loads: list[Span], folder: Path) -> None:
    first, last = readings[0].seconds, readings[-1].seconds
    begin, end = loads[0].begin, loads[-1].end
    if last < begin or first > end:
        raise StoreError(
            f"{folder}: measured {_clock(begin)} to {_clock(end)}, the meter's rows are from "
            f"{_clock(first)} to {_clock(last)}: --shift gives the seconds between the clocks"
        )


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _trial(span: Span, loads: list[Span], readings: list[At], about: MeterAbout) -> PowerTrial:
    before = max((one.end for one in loads if one.end <= span.begin), default=None)
    after = min((one.begin for one in loads if one.begin >= span.end), default=None)
    # Two clocks agree to an interval of the meter at best.
    margin = about.interval_seconds
    earliest = span.begin - IDLE_SECONDS
    if before is not None:
        earliest = max(earliest, before + max(margin, COOLING_SECONDS))
    latest = span.end + IDLE_SECONDS
    if after is not None:
        latest = min(latest, after - margin)
    load = _window(readings, span.begin, span.end, about)
    return PowerTrial(
        about=about,
        idle_before=_idle(readings, earliest, span.begin - margin, about),
        load=load,
        idle_after=_idle(readings, span.end + max(margin, COOLING_SECONDS), latest, about),
        missing="" if load is not None else f"{about.source}: no row in the time of its load",
    )


def _idle(readings: list[At], begin: float, end: float, about: MeterAbout) -> PowerWindow | None:
    long_enough = end - begin >= max(IDLE_SECONDS_MIN, 2 * about.interval_seconds)
    return _window(readings, begin, end, about) if long_enough else None


def _window(
    readings: Iterable[At], begin: float, end: float, about: MeterAbout
) -> PowerWindow | None:
    if end <= begin:
        return None
    near = [
        one
        for one in readings
        if begin - 2 * about.interval_seconds <= one.seconds <= end + 2 * about.interval_seconds
    ]
    return window(near, begin, end, about)
