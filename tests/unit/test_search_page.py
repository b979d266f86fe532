"""The page of a search: loss over load near the answer, and of a failed one why, and what to do."""

import json
from pathlib import Path

import pytest

from linerate.model.run_records import Goal, Search
from linerate.report import search, search_lead
from linerate.report.of_run import document_of
from linerate.report.render import html

MISSED = "card0 port 0: rx missed (ring full)"
LINE = 14_880_952.0


def searched(goals, found=True):
    return Search(
        loadtest="U2",
        text="64 B many flows, one direction",
        frame_bytes=64,
        width=0.005,
        duration_seconds=1.0,
        min_pps=1e5,
        max_pps=LINE,
        line_pps=LINE,
        found=found,
        goals=goals,
    )


@pytest.fixture
def trial(result, evidence):
    """A trial of a search: its number, the load asked for, packets lost."""

    def make(number, mpps, lost=0, **changes):
        name = f"U2.{number}"
        one = result(name, evidence(losses={MISSED: lost} if lost else {}))
        update = {"trial": name, "asked_pps": mpps * 1e6, **changes}
        return one.model_copy(update=update)

    return make


@pytest.fixture
def tried(trial):
    return [
        trial(1, 14.8, 20_000_000),
        trial(2, 1.0),
        trial(3, 9.9),
        trial(4, 10.0),
        trial(5, 10.04, 1_000),
    ]


@pytest.fixture
def goals():
    return (
        Goal(loss_ratio=0, lower_pps=10e6, upper_pps=10.04e6, lower_trial="U2.4",
             upper_trial="U2.5"),
        Goal(loss_ratio=0.005, lower_pps=10.04e6, lower_trial="U2.5"),
    )  # fmt: skip


def test_loss_is_drawn_near_the_answer_with_the_goals_lines(run, tried, goals):
    made = html.page(document_of(run(*tried, searches=(searched(goals),)), Path("s")))
    plot = json.loads(made.figures)["loss-over-load-U2"]
    low, high = plot["layout"]["xaxis"]["range"]
    assert low < 10.0 < high
    loads = {trace["name"]: trace["x"] for trace in plot["data"]}
    assert loads == {"nothing lost": [9.9, 10.0], "packets lost": [10.04]}
    upright = [shape["x0"] for shape in plot["layout"]["shapes"] if shape.get("yref") == "paper"]
    level = [shape["y0"] for shape in plot["layout"]["shapes"] if shape.get("xref") == "paper"]
    assert upright == [10.0, 10.04]
    assert level[1] == 0.5
    assert level[0] < min(plot["data"][1]["y"])
    assert "2 trials at loads far from these" in made.body


def test_the_outcome_is_the_rate_without_loss(run, tried, goals):
    search = searched(goals)
    found = search_lead.outcome(run(*tried, searches=(search,)), search)
    assert (found.value, found.unit) == ("10.00", "Mpps NDR")
    assert dict(found.facts) == {"of the line": "67.2 %", "PDR": "10.04 Mpps"}


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("forwarder-0 was descheduled for 90 %: stop what else runs", "linerate doctor"),
        ("offered below asked: 1 of 2 Mpps, the tester was saturated", "a faster CPU"),
        ("packet ledger violated: 7 packets unexplained", "linerate show ledger"),
    ],
)
def test_a_failed_search_says_why_and_what_to_do(run, trial, reason, remedy):
    invalid = [trial(number, 14.8, valid=False, invalid=(reason,)) for number in (1, 2)]
    search = searched((), found=False)
    measured = run(*invalid, searches=(search,), status="failed", problem="no valid trial")
    found = search_lead.outcome(measured, search)
    assert (found.value, found.tone, found.sure) == ("Not found", "failed", "2 trials, 2 invalid")
    assert reason.partition(":")[0] in found.verdict
    assert remedy in found.verdict
    made = html.page(document_of(measured, Path("s")))
    assert made.figures == "{}"
    assert found.verdict.split(".")[0] in made.body


def test_a_search_whose_lowest_load_loses_names_another_goal(run, trial):
    search = searched((Goal(loss_ratio=0, upper_pps=1e5, upper_trial="U2.1"),), found=True)
    found = search_lead.outcome(run(trial(1, 0.1, 50), searches=(search,)), search)
    assert found.verdict.startswith("Even the lowest load tried, 0.10 Mpps, lost packets.")
    assert "--goal" in found.verdict


def test_a_loss_is_never_written_as_a_power_of_ten(run, trial, goals):
    tiny = trial(1, 10.0, 1).model_copy(update={"loss_percent": 6.44e-06})
    rows = search.trial_rows(run(tiny, searches=(searched(goals),)), searched(goals))
    assert rows[0][5] == "<0.0001 %"
