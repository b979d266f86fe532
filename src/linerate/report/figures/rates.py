"""Rates of configurations that are compared with each other, as bars coloured by what limits."""

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import LIMIT_COLOURS, Plot, layout, plain
from linerate.report.terminal import mpps
from linerate.results.matrix_rows import Group, Row

NAME = "rates"
ROW_HEIGHT = 26


def bars(group: Group) -> Figure:
    """Rates of what is compared with each other, in the order of the table."""
    rows = list(group.rows)
    valid = [row for row in rows if row.point.pps is not None]
    title = f"Packet rates over wire {group.wire}" + f", {group.mode}" * bool(group.mode)
    name = f"{NAME}-{group.wire}-{group.mode}".rstrip("-").replace(" ", "-")
    if not valid:
        return Figure(name, title, "", None, "No trial has a valid result.")
    words = ", ".join(f"{row.label} {mpps(row.point.pps or 0.0)}" for row in valid)
    return Figure(
        name=name,
        title=title,
        alt=f"Median Mpps: {words}.",
        plot=_figure(valid),
        legend=tuple(
            (limit, Style(LIMIT_COLOURS[limit]))
            for limit in dict.fromkeys(row.verdict.limit for row in valid)
        ),
        note="Medians of repeated trials; thin lines reach from the slowest to the fastest.",
    )


def _figure(valid: list[Row]) -> Plot:
    middles = [(row.point.pps or 0.0) / 1e6 for row in valid]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [plain(row.label) for row in valid],
                "x": middles,
                "text": [f"{mpps(row.point.pps or 0.0)} Mpps" for row in valid],
                "marker": {"color": [LIMIT_COLOURS[row.verdict.limit] for row in valid]},
                "customdata": [
                    f"{plain(row.label)}: {mpps(row.point.pps or 0.0)} Mpps"
                    f"<br>limit: {plain(row.verdict.limit)}"
                    for row in valid
                ],
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
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        ],
        "layout": layout(
            90 + ROW_HEIGHT * len(valid),
            xaxis={"title": {"text": "Mpps"}, "rangemode": "tozero"},
            yaxis={"autorange": "reversed", "automargin": True, "type": "category"},
        ),
    }
