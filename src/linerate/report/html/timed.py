"""Latency over offered load as one page."""

from linerate.report import latency, latency_loads
from linerate.report.html import ceilings, percentiles, sankey
from linerate.report.html.page import document, environment, picture_html, section, status
from linerate.report.html.table import Table, text
from linerate.report.html.table import render as table_html
from linerate.report.render.html import Page
from linerate.report.terminal import heading
from linerate.results.store import Run


def render(run: Run, name: str) -> Page:
    """The whole page."""
    body, pictures = [status(run)], []
    for loads in run.latencies:
        drawn = [percentiles.over_load(run, loads), percentiles.over_loads(run, loads)]
        pictures += drawn
        rows = tuple(latency_loads.load_rows(run, loads))
        table = Table(
            f"{loads.loadtest}: {latency.TITLE}", latency_loads.COLUMNS, rows, frozenset({0, 1, 2})
        )
        body += [
            f'<p class="verdict">{text(percentiles.headline(run, loads))}</p>',
            f'<p class="note">{text(latency_loads.top_text(loads))}</p>',
            *map(picture_html, drawn),
            table_html(table),
            *(
                f'<p class="note">{text(message)}</p>'
                for message in latency_loads.load_notes(run, loads)
            ),
            f'<p class="note">{text(latency.EXPLAINED)}</p>',
        ]
        for _, _, result in latency_loads.points(run, loads)[-1:]:
            own = [sankey.picture(result), *([ceilings.picture(result)] if result.valid else [])]
            pictures += own
            body.append(section(result, own))
    body.append(environment(run))
    return document(f"{name}: linerate latency", heading(run).plain, body, pictures)
