"""Cost of a feature, by two runs of a scenario."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from linerate.model.ledger import NodeTime, TimeLedger, cycles_by_node
from linerate.model.scenario import ScenarioUse
from linerate.report import scenario_pair
from linerate.report.render import json as as_json
from linerate.report.render import markdown
from linerate.results.scenario_cost import pair_of
from linerate.results.signed_ranks import pairs_needed, size
from linerate.results.store import Run, StoreError, load_run

SAVED = Path(__file__).parents[1] / "data" / "runs-0.1" / "base"


def ledger(clocks: dict[str, int]) -> TimeLedger:
    """A forwarder's: 1,000 packets entered by a port, and each node spent these cycles."""
    return TimeLedger(
        worker="e0",
        role="forwarder",
        tsc_hz=1_000_000_000,
        elapsed_clocks=1_000_000,
        overhead_clocks=0,
        nodes={
            name: NodeTime(calls=10, vectors=1000, clocks=spent) for name, spent in clocks.items()
        },
    )


def run(rules: int, pps: float, clocks: dict[str, int], box: str = "kernel") -> Run:
    """A run of one trial, with that many rules."""
    saved = load_run(SAVED)
    changes = {"received_pps": pps, "time_at_load": (ledger(clocks),), "valid": True, "test": "acl"}
    result = saved.results[0].model_copy(update=changes)
    use = ScenarioUse(name="acl", digest="0" * 16, box=box, values={"rules": str(rules)})
    return saved.model_copy(update={"results": (result,), "scenario": use})


WITHOUT = run(0, 2e6, {"port-rx-e0-0": 20_000, "ip4-lookup": 30_000})
WITH_IT = run(100, 1e6, {"port-rx-e0-0": 20_000, "ip4-lookup": 30_000, "acl": 25_000})


def test_cycles_are_for_a_packet_that_entered() -> None:
    """They add up to the box's."""
    assert cycles_by_node(WITH_IT.results[0].time_at_load) == {
        "port-rx-e0-0": 20.0,
        "ip4-lookup": 30.0,
        "acl": 25.0,
    }


def test_a_pair_says_what_a_feature_costs() -> None:
    """In cycles a packet, in per cent, and by node."""
    pair = pair_of([WITHOUT], [WITH_IT])
    (cost,) = pair.costs
    assert pair.text == "acl on kernel: rules 0 and 100"
    sizes = (cost.cycles, cost.cycles_percent, cost.rate_percent)
    assert [size and size.middle for size in sizes] == [25.0, 50.0, -50.0]
    assert [size and size.interval for size in sizes] == [None, None, None]
    assert next(iter(cost.nodes.items())) == ("acl", 25.0)
    document = json.loads(as_json.render(scenario_pair.document(pair)))["result"]
    assert document["value"] == "rules"
    assert document["costs"][0]["cycles"] == 25.0
    assert document["costs"][0]["pairs"] == 0
    assert document["costs"][0]["cycles_interval"] is None
    assert "The runs did not take turns" in markdown.render(scenario_pair.document(pair))
    assert document["costs"][0]["with_it"]["nodes"]["acl"] == 25.0


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (run(100, 1e6, {}, box="ovs"), "expected runs of one scenario's file on one kind of box"),
        (run(0, 1e6, {}), "a pair differs in one value; expected one, not none"),
        (WITH_IT.model_copy(update={"scenario": None}), "a pair is of runs of `linerate"),
    ],
)
def test_what_is_no_pair_is_refused(other: Run, line: str) -> None:
    """With what it lacks."""
    with pytest.raises(StoreError, match=line.replace("`", ".")):
        pair_of([WITHOUT], [other])


def test_one_side_is_of_one_value() -> None:
    """Runs of two are no side."""
    with pytest.raises(StoreError, match="one side has runs of several values"):
        pair_of([WITHOUT, WITH_IT], [WITH_IT])


def in_turn(lookups: list[int], added: list[int]) -> tuple[list[Run], list[Run]]:
    """Pairs of runs, without and with, of a machine whose lookups drift."""
    sides: tuple[list[Run], list[Run]] = ([], [])
    for number, (lookup, more) in enumerate(zip(lookups, added, strict=True)):
        clocks = {"port-rx-e0-0": 20_000, "ip4-lookup": lookup}
        for side, rules in enumerate((0, 100)):
            one = run(rules, 2e6 - rules * 1e3, clocks | ({"acl": more} if rules else {}))
            minutes = timedelta(minutes=2 * number + side)
            sides[side].append(one.model_copy(update={"started": one.started + minutes}))
    return sides


#: Drift of lookups, cycles of 1,000 packets: more than what is looked for.
DRIFT = [30_000, 42_000, 55_000, 38_000, 61_000, 47_000, 33_000, 50_000]


def test_drift_of_the_machine_is_in_both_of_a_pair() -> None:
    """It moves neither the cost nor its interval, which the medians of both sides can't have."""
    costs = [4_900, 5_100, 5_000, 5_050, 4_950, 5_020, 4_980, 5_010]
    (cost,) = pair_of(*in_turn(DRIFT, costs)).costs
    assert cost.cycles is not None
    assert cost.cycles.interval is not None
    low, high = cost.cycles.interval
    assert 4.9 <= low < cost.cycles.middle < high <= 5.1
    assert cost.cycles.is_beyond_noise
    assert not cost.is_too_noisy
    text = markdown.render(scenario_pair.document(pair_of(*in_turn(DRIFT, costs))))
    assert "| acl | cycles/packet | \\+5.0 | \\+4.9 | \\+5.1 | yes |" in text


def test_one_after_the_other_has_no_interval() -> None:
    """All of one side and then all of the other: drift would be in the change."""
    without, with_it = in_turn(DRIFT, [5_000] * len(DRIFT))
    later = [
        one.model_copy(update={"started": one.started + timedelta(hours=1)}) for one in with_it
    ]
    (cost,) = pair_of(without, later).costs
    assert cost.pairs == 0
    assert cost.cycles is not None
    assert cost.cycles.interval is None


def test_noise_that_hides_a_cost_is_reported() -> None:
    """With the pairs that would do; a change that is none is not called one."""
    without, with_it = in_turn(DRIFT, [1_000] * len(DRIFT))
    # The lookups of the next pair: what drifts is not the same for both.
    mixed = [
        one.model_copy(update={"results": other.results})
        for one, other in zip(with_it, [*with_it[1:], with_it[0]], strict=True)
    ]
    pair = pair_of(without, mixed)
    (cost,) = pair.costs
    assert cost.is_too_noisy
    assert cost.pairs_to_tell is None or cost.pairs_to_tell > cost.pairs
    text = markdown.render(scenario_pair.document(pair))
    assert "acl: too noisy: a cost of 3 % is found nine times in ten by" in text


def test_few_pairs_have_no_interval() -> None:
    """And say how many would."""
    pair = pair_of(*in_turn(DRIFT[:3], [5_000] * 3))
    assert pair.costs[0].cycles is not None
    assert pair.costs[0].cycles.interval is None
    assert "acl: 3 pairs have no interval: needs 6" in markdown.render(scenario_pair.document(pair))


def test_the_interval_is_that_of_wilcoxons_test() -> None:
    """Each change that is refuted at 5 % is outside, each that is not is inside."""
    stats = pytest.importorskip("scipy.stats")
    changes = [1.3, -0.4, 2.2, 0.9, 3.1, 0.2, 1.7, -1.1, 2.6]
    found = size(changes)
    assert found.interval is not None
    for shift in (step / 50 + 0.003 for step in range(-150, 200)):
        p = stats.wilcoxon([one - shift for one in changes], method="exact").pvalue
        assert (p > 0.05) == (found.interval[0] < shift < found.interval[1])
    assert pairs_needed() == 6
