"""The page: verdict, table, pictures over all tests, each test by itself, what it ran on.

It asks for nothing from anywhere: script, style and icon are in it, and a policy in its
head forbids the rest, so that no text of a run can do anything but be read.
"""

from collections.abc import Iterable, Mapping

from linerate.model.measurement import Measurement
from linerate.report import flow_table, latency, repeats
from linerate.report.html import (
    ceilings,
    clocks,
    over_time,
    percentiles,
    sankey,
    slices,
    time_shares,
)
from linerate.report.html.picture import Picture, node_styles
from linerate.report.html.table import Table, details, results_table, text
from linerate.report.html.table import render as table_html
from linerate.report.marks import footnotes
from linerate.report.render.html import Page, joined, plots_json
from linerate.report.summary import about, headline
from linerate.report.terminal import heading
from linerate.results.store import Result, Run


def render(run: Run, name: str, measurements: Mapping[str, Measurement]) -> Page:
    """The whole page. `measurements` by the name of their trial; missing ones are noted."""
    results = run.reported()
    valid = [result for result in results if result.valid]
    styles = node_styles(valid)
    overview = [
        clocks.picture(valid, styles),
        over_time.picture(valid, measurements, styles),
        slices.picture(valid, measurements),
        time_shares.picture(valid),
    ]
    pictures = [*overview] if valid else []
    sections = []
    for result in results:
        own = [sankey.picture(result), *([ceilings.picture(result)] if result.valid else [])]
        pictures += own
        sections.append(section(result, own))
    timed = [percentiles.of_trial(result) for result in valid if result.latency]
    pictures += timed
    body = [
        status(run),
        f'<p class="verdict">{text(headline(run))}</p>',
        table_html(results_table(results)) if results else "<p>Nothing was measured.</p>",
        _repeats(run),
        _flow_table(results),
        _suspect(results),
        *([_overview(overview)] if valid else []),
        _latency(results, timed),
        *sections,
        environment(run),
    ]
    return document(f"{name}: linerate report", heading(run).plain, body, pictures)


def document(title: str, top: str, body: Iterable[str], pictures: Iterable[Picture]) -> Page:
    """Put a page together; `body` is HTML, all else text."""
    figures = {picture.name: picture.figure for picture in pictures if picture.figure}
    return Page(title, top, joined(body), plots_json(figures))


def picture_html(picture: Picture) -> str:
    """A picture with its heading, its words, its table."""
    parts = [f"<h3>{text(picture.title)}</h3>"]
    if picture.figure:
        height = int(picture.figure["layout"]["height"])
        parts.append(
            f'<div class="picture" id="{text(picture.name)}" role="img" tabindex="0" '
            f'aria-label="{text(picture.alt)}" style="min-height:{height}px"></div>'
        )
    if picture.figure and picture.legend:
        parts.append(_legend(picture))
    if picture.note:
        parts.append(f'<p class="note">{text(picture.note)}</p>')
    if picture.table:
        parts.append(details("The same as a table", table_html(picture.table)))
    return f'<section class="drawn">{"".join(parts)}</section>'


def _legend(picture: Picture) -> str:
    """In words that wrap, which plotly's own do not on a narrow page."""
    entries = (
        f'<li><span class="swatch{" second" * bool(style.pattern)}" '
        f'style="background-color:{style.colour}"></span>{text(name)}</li>'
        for name, style in picture.legend
    )
    return f'<ul class="legend" aria-label="colours">{"".join(entries)}</ul>'


def status(run: Run) -> str:
    """Say when it was not ended as planned."""
    if run.status == "complete":
        return ""
    why = run.problem or "stopped before the end"
    return f'<p class="warning">{text(run.status)}: {text(why)}</p>'


def _repeats(run: Run) -> str:
    """Medians and spreads of tests that were measured several times."""
    found = repeats.rows(run)
    if not found:
        return ""
    return table_html(Table(repeats.TITLE, repeats.COLUMNS, tuple(found)))


def _overview(pictures: list[Picture]) -> str:
    return (
        f'<section id="overview"><h2>All tests</h2>{"".join(map(picture_html, pictures))}</section>'
    )


def section(result: Result, pictures: list[Picture]) -> str:
    """One test: what limits it, how we know, what to try, where the packets went."""
    title = f"<h2>{text(result.test)} <small>{text(result.text)}</small></h2>"
    drawn = "".join(map(picture_html, pictures))
    name = f"test-{text(result.test)}"
    if result.valid:
        inner = f"{title}{_verdict(result)}{drawn}"
        return f'<section class="test" id="{name}">{inner}</section>'
    reasons = "".join(f"<li>{text(reason)}</li>" for reason in result.invalid)
    return (
        f'<section class="test invalid" id="{name}">{title}'
        f'<p class="warning">Invalid: this trial has no result, because</p><ul>{reasons}</ul>'
        + details("What it counted nevertheless: evidence, no result", drawn)
        + "</section>"
    )


def _verdict(result: Result) -> str:
    verdict = result.verdict
    named = ", ".join((verdict.limit, *verdict.also))
    parts = [
        f"<p><strong>{text(named)}</strong> ({text(verdict.confidence)} confidence): "
        f"{text(verdict.sentence)}</p>"
    ]
    if verdict.try_:
        tries = "".join(f"<li>{text(one)}</li>" for one in verdict.try_)
        parts.append(f"<h3>What to try</h3><ul>{tries}</ul>")
    if verdict.evidence:
        quotes = Table(
            f"{result.test}: evidence",
            ("source", "line", "text"),
            tuple((quote.source, str(quote.line), quote.text) for quote in verdict.evidence),
            frozenset({0, 2}),
        )
        parts.append(table_html(quotes))
    if verdict.configured:
        lost = Table(
            f"{result.test}: lost because it is configured so, which is no limit",
            ("place", "packets"),
            tuple((place, f"{packets:,}") for place, packets in verdict.configured.items()),
        )
        parts.append(table_html(lost))
    if verdict.reference:
        parts.append(f'<p class="note">Rule from: {text(verdict.reference)}</p>')
    return "".join(parts)


def _flow_table(results: list[Result]) -> str:
    """With the cards' lookup and without; nothing where the device has no flow table."""
    rows = tuple(row.cells for row in flow_table.rows(results))
    if not rows:
        return ""
    words = frozenset(range(flow_table.WORDS))
    table = Table(flow_table.TITLE, flow_table.COLUMNS, rows, words)
    return f'{table_html(table)}<p class="note">{text(flow_table.EXPLAINED)}</p>'


def _latency(results: list[Result], pictures: list[Picture]) -> str:
    """Timed streams; nothing without any."""
    rows = tuple(latency.rows(results))
    if not rows:
        return ""
    table = Table(latency.TITLE, latency.COLUMNS, rows, frozenset({0, 1}))
    message = (f"{test}: {line}" for test, line in latency.notes(results))
    notes = "".join(f'<p class="note">{text(line)}</p>' for line in (*message, latency.EXPLAINED))
    drawn = "".join(map(picture_html, pictures))
    return f'<section id="latency"><h2>Latency</h2>{table_html(table)}{notes}{drawn}</section>'


def _suspect(results: list[Result]) -> str:
    return "".join(
        details(title, table_html(Table(title, ("test", "what"), tuple(rows), frozenset({0, 1}))))
        for title, rows in footnotes(results)
    )


def environment(run: Run) -> str:
    """On what it was measured, and by which command."""
    table = Table("Environment and command", ("what", "value"), about(run), frozenset({0, 1}))
    return f'<section id="environment"><h2>Measured on</h2>{table_html(table)}</section>'
