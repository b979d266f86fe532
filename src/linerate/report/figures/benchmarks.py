"""Throughput by frame size beside the line's, and loss over load, as RFC 2544 has them."""

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import BLUE, GREY, PALETTE, layout, plain
from linerate.report.figures.sizes import size_axis
from linerate.results.store import Run


def throughput(run: Run) -> Figure:
    """Frames a second without loss over frame size, and the line's."""
    title = "Throughput by frame size"
    known = [one for one in run.rfc2544 if one.throughput_pps is not None]
    if not known:
        return Figure("throughput", title, "", None, "No load passed without loss.")
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
    return Figure(
        name="throughput",
        title=title,
        alt=f"Mpps without loss: {words}.",
        plot={
            "data": data,
            "layout": layout(
                380,
                xaxis=size_axis(one.frame_bytes for one in known),
                yaxis={"title": {"text": "Mpps"}, "automargin": True, "rangemode": "tozero"},
            ),
        },
        legend=tuple((name, Style(colour)) for name, (_, colour, _) in lines.items()),
    )


def loss(run: Run) -> Figure:
    """Frames lost over the load, a line for each frame size."""
    title = "Frame loss over offered load"
    known = [one for one in run.rfc2544 if one.loss_curve]
    if not known:
        return Figure("loss-curve", title, "", None, "No loss curve was measured.")
    data = []
    for number, one in enumerate(known):
        colour = PALETTE[number % len(PALETTE)]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(one.loadtest),
                "x": [point.line_percent for point in one.loss_curve],
                "y": [100 * point.loss_ratio for point in one.loss_curve],
                "line": {"color": colour},
                "marker": {"color": colour},
                "hovertemplate": f"{plain(one.loadtest)} at %{{x:.0f}} % of line: "
                "%{y:.3g} % lost<extra></extra>",
            }
        )
    worst = ", ".join(f"{one.loadtest} {100 * one.loss_curve[0].loss_ratio:.1f}" for one in known)
    return Figure(
        name="loss-curve",
        title=title,
        alt=f"Per cent lost at the highest load: {worst}.",
        plot={
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
    )
