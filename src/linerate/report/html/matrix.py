"""The matrix as one page: bars of the rates, factors, costs, limits, what was not run."""

from linerate.matrix import Row
from linerate.report.html.page import environment, picture_html
from linerate.report.html.picture import BLUE, Figure, Picture, layout, plain
from linerate.report.html.swept import absent, limits, page, status
from linerate.report.html.table import Table
from linerate.report.html.table import render as table_html
from linerate.report.matrix import cost_cells, cost_columns, figure
from linerate.report.terminal import mpps
from linerate.store import Run

NAME = "rates"
ROW_HEIGHT = 26


def render(run: Run, name: str, rows: list[Row]) -> str:
    """The whole page."""
    drawn = [
        bars(wire, [row for row in rows if row.wire == wire])
        for wire in dict.fromkeys(row.wire for row in rows)
    ]
    body = [
        status(run),
        *map(picture_html, drawn),
        table_html(_costs(rows)) if rows else "<p>Nothing was measured.</p>",
        table_html(limits(run)),
        absent(run),
        environment(run),
    ]
    return page(run, name, body, drawn)


def bars(wire: str, rows: list[Row]) -> Picture:
    """Rates over one wire, in the order of the table."""
    valid = [row for row in rows if row.point.pps is not None]
    title = f"Packet rates over wire {wire}"
    name = f"{NAME}-{wire}"
    if not valid:
        return Picture(name, title, "", None, "No trial has a valid result.", _rates(wire, rows))
    words = ", ".join(f"{row.configuration} {mpps(row.point.pps or 0.0)}" for row in valid)
    return Picture(
        name=name,
        title=title,
        alt=f"Median Mpps: {words}.",
        figure=_figure(valid),
        note="Medians of repeated trials; thin lines reach from the slowest to the fastest.",
        table=_rates(wire, rows),
    )


def _figure(valid: list[Row]) -> Figure:
    middles = [(row.point.pps or 0.0) / 1e6 for row in valid]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [plain(row.configuration) for row in valid],
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


def _rates(wire: str, rows: list[Row]) -> Table:
    columns = ("configuration", "Mpps", "spread", "% of line", "× slowest", "× DPDK", "limit")
    made = tuple(
        (
            row.configuration,
            figure(None if row.point.pps is None else row.point.pps / 1e6, 3),
            figure(row.point.spread_percent, 1),
            figure(row.point.percent, 1),
            figure(row.over_slowest, 2),
            figure(row.over_dpdk, 2),
            row.verdict.limit,
        )
        for row in rows
    )
    return Table(f"Rates over wire {wire}", columns, made, frozenset({0, 6}))


def _costs(rows: list[Row]) -> Table:
    columns = cost_columns(rows)
    made = []
    for row in rows:
        cells = cost_cells(row)
        made.append((row.configuration, *(cells[name] for name in columns)))
    return Table("What a packet costs", ("configuration", *columns), tuple(made))
