"""The matrix as one page: bars of the rates, factors, costs, limits, what was not run."""

from linerate.report.html.page import environment, picture_html, status
from linerate.report.html.picture import BLUE, Figure, Picture, layout, plain
from linerate.report.html.swept import limits, page, unmeasured
from linerate.report.html.table import Table
from linerate.report.html.table import render as table_html
from linerate.report.matrix import cost_cells, cost_columns, figure
from linerate.report.render.html import Page
from linerate.report.terminal import mpps
from linerate.results.matrix_rows import Group, Row, groups
from linerate.results.store import Run

NAME = "rates"
ROW_HEIGHT = 26


def render(run: Run, name: str, rows: list[Row]) -> Page:
    """The whole page."""
    drawn = [bars(group) for group in groups(rows)]
    body = [
        status(run),
        *map(picture_html, drawn),
        table_html(_costs(rows)) if rows else "<p>Nothing was measured.</p>",
        table_html(limits(run)),
        unmeasured(run),
        environment(run),
    ]
    return page(run, name, body, drawn)


def bars(group: Group) -> Picture:
    """Rates of what is compared with each other, in the order of the table."""
    rows = list(group.rows)
    valid = [row for row in rows if row.point.pps is not None]
    title = f"Packet rates over wire {group.wire}" + f", {group.mode}" * bool(group.mode)
    name = f"{NAME}-{group.wire}-{group.mode}".rstrip("-").replace(" ", "-")
    if not valid:
        return Picture(name, title, "", None, "No trial has a valid result.", _rates(title, rows))
    words = ", ".join(f"{row.label} {mpps(row.point.pps or 0.0)}" for row in valid)
    return Picture(
        name=name,
        title=title,
        alt=f"Median Mpps: {words}.",
        figure=_figure(valid),
        note="Medians of repeated trials; thin lines reach from the slowest to the fastest.",
        table=_rates(title, rows),
    )


def _figure(valid: list[Row]) -> Figure:
    middles = [(row.point.pps or 0.0) / 1e6 for row in valid]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [plain(row.label) for row in valid],
                "x": middles,
                "marker": {"color": BLUE},
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [
                        max(row.point.rates_pps) / 1e6 - middle
                        for row, middle in zip(valid, middles, strict=True)
                    ],
                    "arrayminus": [
                        middle - min(row.point.rates_pps) / 1e6
                        for row, middle in zip(valid, middles, strict=True)
                    ],
                    "color": "#808080",
                },
                "hovertemplate": "%{y}: %{x:.3f} Mpps<extra></extra>",
            }
        ],
        "layout": layout(
            90 + ROW_HEIGHT * len(valid),
            xaxis={"title": {"text": "Mpps"}, "rangemode": "tozero"},
            yaxis={"autorange": "reversed", "automargin": True, "type": "category"},
        ),
    }


def _rates(title: str, rows: list[Row]) -> Table:
    columns = ("configuration", "Mpps", "spread", "% of line", "× slowest", "× DPDK", "limit")
    made = tuple(
        (
            row.label,
            figure(None if row.point.pps is None else row.point.pps / 1e6, 3),
            figure(row.point.spread_percent, 1),
            figure(row.point.percent, 1),
            figure(row.over_slowest, 2),
            figure(row.over_dpdk, 2),
            row.verdict.limit,
        )
        for row in rows
    )
    return Table(title, columns, made, frozenset({0, 6}))


def _costs(rows: list[Row]) -> Table:
    columns = cost_columns(rows)
    made = []
    for row in rows:
        cells = cost_cells(row)
        made.append((row.configuration, *(cells[name] for name in columns)))
    return Table("What a packet costs", ("configuration", *columns), tuple(made))
