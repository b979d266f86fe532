"""RFC 2544's benchmarks as one page: throughput by frame size beside the line, loss curves."""

from linerate.report import rfc2544
from linerate.report.html import ceilings, sankey
from linerate.report.html.page import document, environment, picture_html, section, status
from linerate.report.html.picture import BLUE, GREY, PALETTE, Picture, Style, layout, plain
from linerate.report.html.table import Table, text
from linerate.report.html.table import render as table_html
from linerate.report.render.html import Page
from linerate.report.terminal import heading
from linerate.results.goals import limiting, trial_named
from linerate.results.store import Run


def render(run: Run, name: str) -> Page:
    """The whole page."""
    drawn = [throughput(run), loss(run)]
    sizes = Table("By frame size", rfc2544.SIZE_COLUMNS, tuple(rfc2544.size_rows(run)))
    limits = tuple(rfc2544.limit_lines(run))
    body = [
        status(run),
        table_html(sizes),
        f'<p class="note">{text(rfc2544.LEGEND)}</p>',
        table_html(Table("What limits throughput", ("frames", "why"), limits, frozenset({0, 1}))),
        *map(picture_html, drawn),
        *(f'<p class="note">{text(line)}</p>' for line in rfc2544.notes(run)),
    ]
    pictures = drawn
    for search in run.searches:
        for goal in search.goals[:1]:
            shows = limiting(run, search, goal) or trial_named(run, goal.lower_trial)
            if shows is not None and shows.valid:
                own = [sankey.picture(shows), ceilings.picture(shows)]
                pictures = [*pictures, *own]
                body.append(section(shows, own))
    body.append(environment(run))
    return document(f"{name}: linerate rfc2544", heading(run).plain, body, pictures)


def throughput(run: Run) -> Picture:
    """Frames a second without loss over frame size, and the line's."""
    title = "Throughput by frame size"
    known = [one for one in run.rfc2544 if one.throughput_pps is not None]
    if not known:
        return Picture("throughput", title, "", None, "No load passed without loss.")
    lines = {
        "line": ([one.line_pps / 1e6 for one in known], GREY, "dash"),
        "throughput": ([(one.throughput_pps or 0) / 1e6 for one in known], BLUE, "solid"),
    }
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [one.frame_bytes for one in known],
            "y": values,
            "line": {"color": colour, "dash": dash},
            "marker": {"color": colour},
            "hovertemplate": f"{name}, %{{x}} bytes: %{{y:.4f}} Mpps<extra></extra>",
        }
        for name, (values, colour, dash) in lines.items()
    ]
    words = ", ".join(f"{one.frame_bytes} B {(one.throughput_pps or 0) / 1e6:.2f}" for one in known)
    return Picture(
        name="throughput",
        title=title,
        alt=f"Mpps without loss: {words}.",
        figure={
            "data": data,
            "layout": layout(
                380,
                xaxis={"title": {"text": "frame size, bytes"}, "rangemode": "tozero"},
                yaxis={"title": {"text": "Mpps"}, "automargin": True, "rangemode": "tozero"},
            ),
        },
        legend=tuple((name, Style(colour)) for name, (_, colour, _) in lines.items()),
    )


def loss(run: Run) -> Picture:
    """Frames lost over the load, a line for each frame size."""
    title = "Frame loss over offered load"
    known = [one for one in run.rfc2544 if one.loss_curve]
    if not known:
        return Picture("loss-curve", title, "", None, "No loss curve was measured.")
    data = []
    for number, one in enumerate(known):
        colour = PALETTE[number % len(PALETTE)]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(one.loadtest),
                "x": [point.percent_of_line for point in one.loss_curve],
                "y": [100 * point.loss_ratio for point in one.loss_curve],
                "line": {"color": colour},
                "marker": {"color": colour},
                "hovertemplate": f"{plain(one.loadtest)} at %{{x:.0f}} % of line: "
                "%{y:.3g} % lost<extra></extra>",
            }
        )
    worst = ", ".join(f"{one.loadtest} {100 * one.loss_curve[0].loss_ratio:.1f}" for one in known)
    columns, rows = rfc2544.curve_table(run)
    return Picture(
        name="loss-curve",
        title=title,
        alt=f"Per cent lost at the highest load: {worst}.",
        figure={
            "data": data,
            "layout": layout(
                380,
                xaxis={"title": {"text": "% of line offered"}},
                yaxis={"title": {"text": "% lost"}, "automargin": True, "rangemode": "tozero"},
            ),
        },
        legend=tuple(
            (one.loadtest, Style(PALETTE[number % len(PALETTE)]))
            for number, one in enumerate(known)
        ),
        table=Table("Frame loss, %", columns, tuple(rows)),
    )
