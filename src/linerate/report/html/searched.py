"""A search as one page: the loads that were tried, where they closed in, what limits there."""

from linerate.model.run_records import Search
from linerate.report.html import ceilings, sankey
from linerate.report.html.page import document, environment, picture_html, section, status
from linerate.report.html.picture import BLUE, PALETTE, VERMILLION, Picture, Style, layout, plain
from linerate.report.html.table import Table, text
from linerate.report.html.table import render as table_html
from linerate.report.render.html import Page
from linerate.report.search import (
    GOAL_COLUMNS,
    TRIAL_COLUMNS,
    definitions,
    goal_rows,
    limit_lines,
    notes,
    trial_rows,
)
from linerate.report.terminal import heading
from linerate.results.goals import goal_name, headline, limiting, trial_named, trials_of
from linerate.results.store import Result, Run

HELD, LOST = "nothing lost", "packets lost"


def render(run: Run, name: str) -> Page:
    """The whole page."""
    body, pictures = [status(run)], []
    for search in run.searches:
        drawn = picture(run, search)
        pictures.append(drawn)
        body += [
            f'<p class="verdict">{text(headline(run, search))}</p>',
            table_html(Table(f"{search.loadtest}: goals", GOAL_COLUMNS, tuple(goal_rows(search)))),
            f'<p class="note">{text(definitions(search))}</p>',
            table_html(_limits(run, search)),
            picture_html(drawn),
            table_html(_trials(run, search)),
            *(f'<p class="note">{text(line)}</p>' for line in notes(run, search)),
        ]
        for result in shown(run, search):
            own = [sankey.picture(result), ceilings.picture(result)]
            pictures += own
            body.append(section(result, own))
    body.append(environment(run))
    return document(f"{name}: linerate search", heading(run).plain, body, pictures)


def shown(run: Run, search: Search) -> list[Result]:
    """The trials that a section tells of: at each goal, and what limits it."""
    found = []
    for goal in search.goals:
        found += [trial_named(run, goal.lower_trial), limiting(run, search, goal)]
    return list({result.trial: result for result in found if result and result.valid}.values())


def _limits(run: Run, search: Search) -> Table:
    rows = tuple(limit_lines(run, search))
    return Table("What limits", ("goal", "why it is no higher"), rows, frozenset({0, 1}))


def _trials(run: Run, search: Search) -> Table:
    rows = tuple(trial_rows(run, search))
    return Table(f"{search.loadtest}: trials", TRIAL_COLUMNS, rows, frozenset({0, 6}))


def picture(run: Run, search: Search) -> Picture:
    """Loads in the order in which they were tried, and each goal's two."""
    name, title = f"search-{search.loadtest.replace('@', '-')}", "Loads tried, one after the other"
    valid = [result for result in trials_of(run, search) if result.valid]
    if not valid:
        return Picture(name, title, "", None, "No trial has a valid result.")
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
    return Picture(
        name=name,
        title=title,
        alt=headline(run, search),
        figure={
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
