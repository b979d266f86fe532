"""`linerate trend`: figures over commits, where they changed, and what changed inside."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from linerate.cli.ci_files import JunitOption, SummaryOption, write_ci_files
from linerate.cli.commands.report import write
from linerate.cli.dataset_options import DEFAULT, DatasetOption, dataset_at
from linerate.cli.durations import as_percent
from linerate.cli.options import JsonOption
from linerate.cli.usage import GATE_FAILS, GATE_UNKNOWN, mistaken
from linerate.host.git_commits import Repository
from linerate.report import trend as trend_report
from linerate.report.render import html, terminal
from linerate.report.render import json as as_json_text
from linerate.results.store import StoreError
from linerate.results.trend.changes import Trend, family_of, trends
from linerate.results.trend.series import SEARCHING, Series, series_of, unplaced
from linerate.ui.console import Console
from linerate.ui.screen import say

#: Unplaced commits that a line names.
NAMED = 3


def trend(
    dataset: DatasetOption = DEFAULT,
    since: Annotated[
        str | None,
        typer.Option(
            help="Only changes from this commit, version or date on; older ones are what they are "
            "compared with.",
            metavar="COMMIT|DATE",
        ),
    ] = None,
    fail_on: Annotated[
        float | None,
        typer.Option(
            help="End with 3 where a series became slower by as much, and still is; with 4 where "
            "one has too few trials to tell.",
            metavar="3%",
            parser=as_percent,
        ),
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Of this scenario alone.", metavar="NAME")
    ] = None,
    repository: Annotated[
        Path | None,
        typer.Option(
            help="Git's folder with the device's commits: their order, and those between.",
            metavar="DIR",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write a page with pictures here.", metavar="PAGE.html"
        ),
    ] = None,
    as_json: JsonOption = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
) -> None:
    """Say where a figure changed over commits, by how much, how sure, and what changed inside.

    Cycles a packet are judged, or the rate where they are not known. Another kernel, microcode,
    BIOS or firmware splits a series, and is no change.
    """
    git = None if repository is None else Repository(repository)
    judged = _judged(dataset, scenario, git)
    if since is not None:
        judged = replace(judged, trends=_since(judged.trends, since))
    judged = replace(judged, limit=fail_on)
    document = trend_report.document(judged)
    if output is not None:
        write(output, html.page(document).html)
    if as_json:
        say(as_json_text.render(document))
    elif output is None:
        terminal.show(Console(), document)
    write_ci_files(document, junit, summary)
    raise typer.Exit(_gated(judged))


def _judged(url: str, scenario: str | None, git: Repository | None) -> trend_report.Judged:
    conditions = [f"command NOT IN ({', '.join('?' * len(SEARCHING))})"]
    values: list[object] = list(SEARCHING)
    if scenario is not None:
        conditions.append("scenario = ?")
        values.append(scenario)
    rows = dataset_at(url).rows(" AND ".join(conditions), values)
    if not rows:
        what = f"trials of scenario {scenario}" if scenario else "trials"
        raise StoreError(f"{url}: no {what}; linerate dataset add RUN… --to {url} adds some")
    order = git.order(one.commit for one in rows if one.commit) if git is not None else {}
    found = series_of(rows, order)
    if not found:
        raise StoreError(f"{url}: no valid trial has a rate or cycles, so nothing can be compared")
    doubts = _doubts(unplaced(rows, order)) if git is not None else ()
    return trend_report.Judged(
        trends=trends(found),
        family=family_of(found),
        between=_between(git),
        doubts=doubts,
        about=_about(url, found),
    )


def _about(url: str, found: Sequence[Series]) -> dict[str, str]:
    times = [point.started for one in found for point in one.points]
    trials = sum(len(point.trials) for one in found for point in one.points)
    span = f"{min(times):%-d %B %Y} to {max(times):%-d %B %Y}"
    return {"dataset": url, "measured": span, "trials": f"{trials:,}"}


def _doubts(names: Sequence[str]) -> tuple[str, ...]:
    """Commits that the repository has not."""
    if not names:
        return ()
    some = ", ".join(name or "(none)" for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (f"not in the repository: {some}{more}; series with them are in the order of time",)


def _between(git: Repository | None) -> trend_report.Between:
    """Asks the repository once for each pair."""

    @cache
    def ask(good: str, bad: str) -> tuple[Sequence[tuple[str, str]], int]:
        if git is None:
            return (), 0
        commits, count = git.between(good, bad)
        return [(one.digits, one.subject) for one in commits], count

    return ask


def _since(found: Sequence[Trend], words: str) -> list[Trend]:
    """Series with points from there on, and their changes of that time."""
    moment = _moment(words)
    made = []
    for one in found:
        first = _first(one, words, moment)
        if first is not None:
            made.append(replace(one, changes=tuple(c for c in one.changes if c.at >= first)))
    if not made:
        expected = "a commit or version of the dataset, or a date as 2026-11-01"
        mistaken(f"--since: no trial from '{words}' on; expected {expected}")
    return made


def _first(trend: Trend, words: str, moment: datetime | None) -> int | None:
    """Number of the first point from there on."""
    for at, one in enumerate(trend.series.points):
        if moment is not None and one.started >= moment:
            return at
        if moment is None and (one.version == words or (one.commit and _same(one.commit, words))):
            return at
    return None


def _same(commit: str, words: str) -> bool:
    """Whether one is the other, shortened."""
    return (
        commit == words
        or (len(words) >= 4 and commit.startswith(words))
        or (len(commit) >= 4 and words.startswith(commit))
    )


def _moment(words: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(words)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _gated(judged: trend_report.Judged) -> int:
    """Exit code of --fail-on."""
    if judged.failing:
        return GATE_FAILS
    return GATE_UNKNOWN if judged.unknown else 0
