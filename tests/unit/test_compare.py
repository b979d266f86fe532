"""Comparisons: their arithmetic, what the rank test makes of them, what they say."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from linerate.base.published import plain
from linerate.model.testbed import parse
from linerate.report import comparison
from linerate.report.compared_lead import outcome
from linerate.report.figures import diverging
from linerate.report.render import html, markdown, terminal
from linerate.results.compare import CompareError, Difference, Side, compare, sentence, sides
from linerate.results.statistics import SIGNIFICANCE, Rates, least_p

MISSED = "card0 port 0: rx missed (ring full)"
RATES = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=7).map(lambda pps: Rates(tuple(pps)))
OPPOSITE = {"faster": "slower", "slower": "faster", "same": "same", "unknown": "unknown"}
IO = parse({"dut": {"mode": "io"}}, "x")


@given(RATES, RATES)
def test_a_against_b_is_the_inverse_of_b_against_a(a, b):
    there, back = Difference("U1", a, b), Difference("U1", b, a)
    assert (there.ratio or 0) * (back.ratio or 0) == pytest.approx(1)
    assert there.judgement == OPPOSITE[back.judgement]


@given(RATES, RATES)
def test_too_few_trials_tell_nothing(a, b):
    few = least_p(len(a.trials), len(b.trials)) > SIGNIFICANCE
    assert (Difference("U1", a, b).judgement == "unknown") == few


@given(RATES)
def test_nothing_differs_from_itself(rates):
    difference = Difference("U1", rates, rates)
    assert difference.percent == 0
    assert difference.judgement in ("same", "unknown")


@pytest.fixture
def measured(run, result, evidence):
    """A run in which this number of packets of U2 was lost."""

    def make(lost, **changes):
        return run(result("U1"), result("U2", evidence(losses={MISSED: lost})), **changes)

    return make


def pairs_of(*groups):
    return compare(sides(groups))


def test_one_trial_each_tells_nothing(measured):
    (pair,) = pairs_of([("a", measured(10))], [("b", measured(20_000_000))])
    assert {difference.judgement for difference in pair.rates} == {"unknown"}
    text = sentence(pair)
    assert "one trial of one of them: needs at least 4 repeats of each to tell" in text
    assert "linerate bench --repeat" in text


def test_a_difference_too_small_to_be_written_has_no_minus(measured):
    (pair,) = pairs_of([("a", measured(0))], [("b", measured(700))])
    assert pair.rates[-1].other.middle < pair.rates[-1].base.middle
    assert "+0.0 %" in sentence(pair)
    assert "-0.0 %" not in sentence(pair)


def test_a_page_does_not_name_a_run_by_its_name(measured):
    (pair,) = pairs_of([("a", measured(0))], [("b", measured(700))])
    assert comparison.document([pair]).about == ()


def test_runs_of_one_testbed_are_repeats_when_there_is_another(measured):
    devices = sides(
        [
            [("a1", measured(10))],
            [("b1", measured(10, testbed=IO))],
            [("a2", measured(11))],
            [("b2", measured(12, testbed=IO))],
        ]
    )
    assert [(side.name, len(side.runs)) for side in devices] == [("a1", 2), ("b1", 2)]


def test_runs_of_one_testbed_alone_stand_against_each_other(measured):
    devices = sides([[("a", measured(10))], [("a", measured(10))]])
    assert [(side.name, len(side.runs)) for side in devices] == [("a", 1), ("a (2)", 1)]


def test_what_is_more_than_noise_is_named(measured):
    slow = [(f"a{n}", measured(20_000_000 + n)) for n in range(4)]
    fast = [(f"b{n}", measured(10 + n)) for n in range(4)]
    (pair,) = pairs_of(slow, fast)
    judged = {difference.test: difference.judgement for difference in pair.rates}
    assert judged == {"U1": "same", "U2": "faster"}
    assert "faster in 1 of 2 tests (+36.8 %, p ≤ 0.029)" in sentence(pair)
    (change,) = pair.losses
    assert (change.test, change.name) == ("U2", MISSED)
    assert change.by == pytest.approx(-26.88, abs=0.01)


def test_invalid_trials_are_not_compared(run, result, evidence):
    bad = run(result("U2", evidence(unexplained=1)))
    with pytest.raises(CompareError, match="no test in common"):
        pairs_of([("a", bad)], [("b", run(result("U2")))])


def test_one_run_alone_has_nothing_to_be_compared_with(measured):
    with pytest.raises(CompareError, match="nothing to compare"):
        compare([Side("a", (measured(1),))])


def test_another_machine_is_reported(measured):
    other = measured(10)
    machine = other.environment.model_copy(update={"cpu_model": "Another CPU"})
    (pair,) = pairs_of(
        [("a", measured(10))], [("b", other.model_copy(update={"environment": machine}))]
    )
    assert pair.conditions == (("cpu_model", "Some CPU @ 3.00 GHz", "Another CPU"),)


def test_what_line_or_tester_held_back_is_reported(measured):
    (pair,) = pairs_of([("a", measured(20_000_000))], [("b", measured(10))])
    assert pair.held_back == ("U1",)
    assert "limited both in 1 of 2 tests" in sentence(pair)


def test_all_forms_say_the_same(measured):
    pairs = pairs_of([("a", measured(20_000_000))], [("<b>", measured(10))])
    out = io.StringIO()
    made_once = comparison.document(pairs)
    terminal.show(Console(file=out, width=80, highlight=False), made_once)
    page = html.page(made_once).html
    document = plain(comparison.outputs(pairs))
    assert document[0]["tests"][1]["change_percent"] == pytest.approx(36.76, abs=0.01)
    for made in (out.getvalue(), markdown.render(made_once), page):
        assert "+36.76 %" in made or "\\+36.76 %" in made
    assert "<b>" not in page.split("<script>")[0]
    assert "too few repeats" in out.getvalue()


def test_titles_say_what_differs(measured, run, result):
    (pair,) = pairs_of([("a", measured(10))], [("b", measured(10, testbed=IO))])
    assert (pair.other.called, pair.base.called) == ("io", "router")
    document = comparison.document([pair])
    assert document.title == "io against router"
    assert dict(document.about) == {"router": "a", "io": "b"}
    here = measured(10)
    newer = here.environment.model_copy(update={"kernel": "6.12"})
    there = here.model_copy(update={"environment": newer})
    (pair,) = pairs_of([("a", here)], [("b", there)])
    assert (pair.other.called, pair.base.called) == (
        "kernel 6.12",
        f"kernel {here.environment.kernel}",
    )
    (pair,) = pairs_of([("a", here)], [("b", here)])
    assert (pair.other.called, pair.base.called) == ("b", "a")


def slowed(measured_run, factor):
    """The same run, this number of times slower."""
    results = tuple(
        one.model_copy(
            update={
                "received_pps": one.received_pps / factor,
                "verdict": one.verdict.model_copy(update={"limit": "worker-cpu"}),
            }
        )
        for one in measured_run.results
    )
    return measured_run.model_copy(update={"results": results})


def test_a_factor_of_100_is_not_hidden_by_too_few_repeats(measured):
    base = measured(10)
    (pair,) = pairs_of([("a", base)], [("b", slowed(base, 100))])
    assert {difference.judgement for difference in pair.rates} == {"unknown"}
    rows = [comparison.row(difference) for difference in pair.rates]
    assert {(row[3], row[-1]) for row in rows} == {("100 × slower", "slower")}
    assert "100 × slower" in sentence(pair)
    assert "needs at least" not in sentence(pair)
    found = outcome(pair)
    assert (found.value, found.unit, found.tone) == ("100 ×", "slower", "limited")
    (back,) = pairs_of([("b", slowed(base, 100))], [("a", base)])
    assert outcome(back).unit == "faster"


def test_cycles_are_the_result_where_both_reach_the_line(run, result):
    base = run(result("U1"))
    dear = result("U1")
    forwarder = dear.time_at_load[1]
    nodes = {
        name: node.model_copy(update={"clocks": 3 * node.clocks})
        for name, node in forwarder.nodes.items()
    }
    ledgers = (dear.time_at_load[0], forwarder.model_copy(update={"nodes": nodes}))
    dear = dear.model_copy(update={"time_at_load": ledgers})
    (pair,) = pairs_of([("a", base)], [("b", run(dear))])
    found = outcome(pair)
    assert (found.value, found.unit) == ("3 ×", "more cycles a packet")
    plot = diverging.of_costs(1, pair).plot
    assert plot is not None
    assert [trace["name"] for trace in plot["data"]] == ["b has more"]


def test_pictures_of_no_difference_are_left_out(measured):
    base = measured(10)
    (pair,) = pairs_of([("a", base)], [("b", base)])
    assert "more-cycles" not in html.page(comparison.document([pair])).figures


def test_trials_of_one_start_are_no_repeats_of_runs_that_took_turns():
    # Starts are 1000 from each other by chance, their trials 1: four of one start show nothing new.
    rates = [
        (9e6, 9.001e6),
        (9.002e6, 9e6),
        (9e6, 9.003e6),
        (9e6, 9.004e6),
        (9e6, 9.005e6),
        (9e6, 9.006e6),
    ]
    base, new = [
        Rates(tuple(pair[which] + n for pair in rates for n in range(4))) for which in (0, 1)
    ]
    medians = tuple((one + 1.5, other + 1.5) for one, other in rates)
    assert Difference("U1", base, new).judgement == "faster"
    assert Difference("U1", base, new, turns=medians).judgement == "same"
    better = tuple((one, one + 1000 + n) for n, (one, _) in enumerate(rates))
    assert Difference("U1", base, new, turns=better).judgement == "faster"


@pytest.mark.parametrize(("rounds", "name"), [(5, "Mann–Whitney"), (6, "Wilcoxon's signed ranks")])
def test_six_runs_of_each_that_took_turns_are_compared_in_pairs(measured, rounds, name):
    def side(which, *lost):
        runs = [
            measured(one, started=f"2026-11-27T10:{2 * number + which:02}:00Z")
            for number, one in enumerate(lost[:rounds])
        ]
        return Side("base" if which == 0 else "new", tuple(runs))

    base = side(0, 10, 20, 30, 40, 50, 60)
    (pair,) = compare([base, side(1, *(20_000_000 + n for n in range(6)))])
    found = {one.test: one for one in pair.rates}
    assert found["U2"].rank_test.name == f"{name}, two-sided"
    assert found["U2"].judgement == "slower"
    assert found["U1"].judgement == "same"
