"""Cost of a feature, by two runs of a scenario."""

import json
from pathlib import Path

import pytest

from linerate.model.ledger import NodeTime, TimeLedger, cycles_by_node
from linerate.model.scenario import ScenarioUse
from linerate.report import scenario_pair
from linerate.report.render import json as as_json
from linerate.results.scenario_cost import pair_of
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
    pair = pair_of(WITHOUT, WITH_IT)
    (cost,) = pair.costs
    assert pair.text == "acl on kernel: rules 0 and 100"
    assert (cost.cycles, cost.cycles_percent, cost.rate_percent) == (25.0, 50.0, -50.0)
    assert next(iter(cost.nodes.items())) == ("acl", 25.0)
    document = json.loads(as_json.render(scenario_pair.document(pair)))["result"]
    assert document["value"] == "rules"
    assert document["costs"][0]["cycles"] == 25.0
    assert document["costs"][0]["with_it"]["nodes"]["acl"] == 25.0


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (run(100, 1e6, {}, box="ovs"), "expected runs of one scenario's file on one kind of box"),
        (run(0, 1e6, {}), "a pair differs in one value; expected one, not none"),
        (WITH_IT.model_copy(update={"scenario": None}), "a pair is of two runs of `linerate"),
    ],
)
def test_what_is_no_pair_is_refused(other: Run, line: str) -> None:
    """With what it lacks."""
    with pytest.raises(StoreError, match=line.replace("`", ".")):
        pair_of(WITHOUT, other)
