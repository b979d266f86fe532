"""Loss over offered load, near the answer of a search: its trials, its goals, their loads."""

from collections.abc import Sequence
from math import log10

from linerate.model.run_records import Goal, Search
from linerate.report import marks
from linerate.report.document import Figure, Style
from linerate.report.figures.picture import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    Plot,
    layout,
    plain,
)
from linerate.results.goals import goal_name, headline, trials_of
from linerate.results.store import Result, Run

TITLE = "Loss over offered load"
HELD, LOST = "nothing lost", "packets lost"
#: Room beside the goals' loads, of the highest of them.
BESIDE = 0.12
#: Lowest loss of the axis, per cent; none at all is drawn beneath it.
LEAST = 1e-6
GOAL_COLOURS = (GREEN, ORANGE, PURPLE)
#: Marks on the axis of loss, per cent.
TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)


def picture(run: Run, search: Search) -> Figure:
    """Valid trials; those of loads far from the answer are left out."""
    name = f"loss-over-load-{search.loadtest.replace('@', '-')}"
    valid = [result for result in trials_of(run, search) if result.valid]
    if not valid:
        return Figure(name, TITLE, "", None)
    low, high = _zoom(search.goals, valid)
    near = [result for result in valid if low <= result.asked_pps / 1e6 <= high]
    floor = _floor(near)
    found = [goal for goal in search.goals if goal.lower_pps is not None]
    groups = {
        HELD: ([one for one in near if not one.loss_percent], BLUE, "circle"),
        LOST: ([one for one in near if one.loss_percent], VERMILLION, "x"),
    }
    shown = {name: look for name, look in groups.items() if look[0]}
    return Figure(
        name=name,
        title=TITLE,
        alt=headline(run, search),
        plot={
            "data": [_points(group, *look, floor) for group, look in shown.items()],
            "layout": layout(
                400,
                margin={"l": 60, "r": 16, "t": 40, "b": 48},
                xaxis={"title": {"text": "Mpps offered"}, "range": [low, high]},
                yaxis={
                    "type": "log",
                    "title": {"text": "% lost"},
                    "range": [log10(floor / 2), log10(2 * _ceiling(near, search.goals))],
                    "tickvals": [floor, *(tick for tick in TICKS if tick > 2 * floor)],
                    "ticktext": ["0", *(_plain(tick) for tick in TICKS if tick > 2 * floor)],
                    "automargin": True,
                },
                shapes=[
                    shape
                    for at, goal in enumerate(found)
                    for shape in _lines(goal, GOAL_COLOURS[at % len(GOAL_COLOURS)], floor)
                ],
                annotations=[_name(at, goal, low, high) for at, goal in enumerate(found)],
            ),
        },
        note=_note(len(valid) - len(near)),
        legend=(
            *((group, Style(colour)) for group, (_, colour, _) in shown.items()),
            *(
                (_of_goal(goal), Style(GOAL_COLOURS[at % len(GOAL_COLOURS)]))
                for at, goal in enumerate(found)
            ),
        ),
    )


def _of_goal(goal: Goal) -> str:
    upper = "" if goal.upper_pps is None else f" to {goal.upper_pps / 1e6:.4g}"
    return f"{goal_name(goal.loss_ratio)}: {(goal.lower_pps or 0) / 1e6:.4g}{upper} Mpps"


def _note(left_out: int) -> str:
    text = "Upright: the highest load that held a goal. Level: the loss that the goal allows."
    return text + (f" {left_out} trials at loads far from these are not drawn." if left_out else "")


def _zoom(goals: Sequence[Goal], valid: Sequence[Result]) -> tuple[float, float]:
    """Loads around those of the goals; all, where none was found."""
    loads = [pps for goal in goals for pps in (goal.lower_pps, goal.upper_pps) if pps is not None]
    loads = loads or [result.asked_pps for result in valid]
    beside = BESIDE * max(loads)
    return max(0.0, (min(loads) - beside) / 1e6), (max(loads) + beside) / 1e6


def _floor(near: Sequence[Result]) -> float:
    """Height at which trials without loss are drawn: beneath all others."""
    lost = [result.loss_percent for result in near if result.loss_percent]
    return max(LEAST, min(lost, default=0.01) / 4)


def _ceiling(near: Sequence[Result], goals: Sequence[Goal]) -> float:
    """The highest loss, or that which a goal allows."""
    losses = [*(one.loss_percent for one in near), *(100 * goal.loss_ratio for goal in goals)]
    return max(*losses, 0.01)


def _plain(tick: float) -> str:
    """Without an exponent."""
    return f"{tick:.6f}".rstrip("0").rstrip(".")


def _points(group: str, ones: list[Result], colour: str, symbol: str, floor: float) -> Plot:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": group,
        "x": [one.asked_pps / 1e6 for one in ones],
        "y": [max(one.loss_percent, floor) for one in ones],
        "marker": {"color": colour, "symbol": symbol, "size": 9},
        "customdata": [
            f"{plain(one.trial)}{marks.SUSPECT * bool(one.suspect)}<br>"
            f"{one.asked_pps / 1e6:.4f} Mpps, {one.loss_percent:.3g} % lost"
            for one in ones
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _lines(goal: Goal, colour: str, floor: float) -> list[Plot]:
    look = {"color": colour, "width": 2, "dash": "dash"}
    load = (goal.lower_pps or 0) / 1e6
    upright = {"type": "line", "x0": load, "x1": load, "y0": 0, "y1": 1, "yref": "paper"}
    allowed = max(100 * goal.loss_ratio, floor)
    level = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": allowed, "y1": allowed}
    return [upright | {"line": look}, level | {"line": look | {"width": 1}}]


def _name(at: int, goal: Goal, low: float, high: float) -> Plot:
    """Above the drawing, each on a line of its own so that near ones can be read."""
    load = (goal.lower_pps or 0) / 1e6
    return {
        "text": f"<b>{goal_name(goal.loss_ratio)} {load:.4g}</b>",
        "x": load,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": 16 * (at % 2),
        "xanchor": "right" if load > (low + high) / 2 else "left",
    }
