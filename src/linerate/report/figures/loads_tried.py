"""Loads of a search in the order in which they were tried, and where they closed in."""

from linerate.model.run_records import Search
from linerate.report.document import Figure, Style
from linerate.report.figures.picture import BLUE, PALETTE, VERMILLION, layout, plain
from linerate.results.goals import goal_name, headline, trials_of
from linerate.results.store import Run

HELD, LOST = "nothing lost", "packets lost"


def picture(run: Run, search: Search) -> Figure:
    """Loads in the order in which they were tried, and each goal's two."""
    name, title = f"search-{search.loadtest.replace('@', '-')}", "Loads tried, one after the other"
    valid = [result for result in trials_of(run, search) if result.valid]
    if not valid:
        return Figure(name, title, "", None, "No trial has a valid result.")
    groups = {
        HELD: ([one for one in valid if not one.loss_percent], BLUE, "circle"),
        LOST: ([one for one in valid if one.loss_percent], VERMILLION, "x"),
    }
    number = {one.trial: place for place, one in enumerate(valid, start=1)}
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": group,
            "x": [number[one.trial] for one in ones],
            "y": [one.asked_pps / 1e6 for one in ones],
            "marker": {"color": colour, "symbol": symbol, "size": 9},
            "customdata": [[plain(one.trial), f"{one.loss_percent:.3g}"] for one in ones],
            "hovertemplate": "%{customdata[0]}: %{y:.4f} Mpps<br>%{customdata[1]} % lost"
            "<extra></extra>",
        }
        for group, (ones, colour, symbol) in groups.items()
    ]
    lines = {
        goal_name(goal.loss_ratio): goal.lower_pps / 1e6
        for goal in search.goals
        if goal.lower_pps is not None
    }
    styles = {one: PALETTE[1 + at % (len(PALETTE) - 1)] for at, one in enumerate(lines)}
    data += [
        {
            "type": "scatter",
            "mode": "lines",
            "name": one,
            "x": [1, len(valid)],
            "y": [mpps, mpps],
            "line": {"color": styles[one], "dash": "dash"},
            "hovertemplate": f"{plain(one)}: %{{y:.4f}} Mpps<extra></extra>",
        }
        for one, mpps in lines.items()
    ]
    return Figure(
        name=name,
        title=title,
        alt=headline(run, search),
        plot={
            "data": data,
            "layout": layout(
                380,
                xaxis={"title": {"text": "trial"}},
                yaxis={"title": {"text": "Mpps offered"}, "automargin": True, "type": "log"},
            ),
        },
        note="Dashed: the highest load that held a goal.",
        legend=(
            *((group, Style(colour)) for group, (_, colour, _) in groups.items()),
            *((one, Style(colour)) for one, colour in styles.items()),
        ),
    )
