"""Each limit is named from counters, and nothing is guessed."""

import pytest

from linerate.card import Card, Pcie
from linerate.evidence import Load
from linerate.explain import explain

MISSED = "card0 port 0: rx missed (ring full)"
TX_FULL = "port-tx-e1: no free tx slots"
HALF = Load(frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=500_000, duration_us=5_000_000)


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, "line"),
        ({"losses": {MISSED: 50}}, "line"),
        ({"load": HALF, "ceiling_pps": 8e6}, "tester"),
        ({"load": HALF, "ceiling_pps": None}, "tester"),
        ({"losses": {"card0 port 0: card packet rate": 20_000_000}}, "card-pps"),
        ({"losses": {"card0 port 0: PCIe": 20_000_000, MISSED: 1000}}, "pcie"),
        ({"losses": {MISSED: 20_000_000}, "idle": 0.001}, "worker-cpu"),
        ({"losses": {MISSED: 20_000_000}, "idle": 0.4}, "rx-ring"),
        ({"losses": {"worker-handoff: handoff ring full": 20_000_000}}, "handoff-ring"),
        ({"losses": {TX_FULL: 20_000_000}}, "tx-ring"),
        ({"losses": {TX_FULL: 20_000_000}, "card": Card(pps_ceiling=10_890_000)}, "card-pps"),
        ({"losses": {TX_FULL: 20_000_000}, "card": Card(pps_ceiling=14_000_000)}, "tx-ring"),
        ({"losses": {"ip4-lookup: no route": 20_000_000}}, "unknown"),
        ({"losses": {"card0 port 0: no mbuf": 20_000_000}}, "unknown"),
        ({"losses": {MISSED: 9_000_000, TX_FULL: 8_000_000, "PCIe": 8_000_000}}, "unknown"),
    ],
)
def test_limits(evidence, given, limit):
    verdict = explain(evidence(**given))
    assert verdict.limit == limit
    assert verdict.evidence


def test_a_full_pcie_link_fills_the_tx_ring(evidence):
    slow = Pcie(gigatransfers=2.5, lanes=5)
    usable = slow.link.usable(64).packets_per_second
    sent = 74_404_762
    lost = sent - round(usable * 5)
    measured = evidence(losses={TX_FULL: lost}, card=Card(pcie=slow))
    assert explain(measured).limit == "pcie"
    assert explain(measured).evidence[1] == "PCIe is 100.0 % full"


def test_the_busiest_worker_counts(evidence, ledger_of_worker):
    workers = (
        ledger_of_worker(idle=0.8, name="forwarder-0"),
        ledger_of_worker(idle=0.0, name="forwarder-1"),
        ledger_of_worker("tester", 0.0, "tester"),
    )
    verdict = explain(evidence(losses={MISSED: 20_000_000}, time_at_load=workers))
    assert verdict.limit == "worker-cpu"
    assert verdict.evidence[1] == "forwarder-1 idle 0.0 %"


def test_nothing_limits_a_load_below_the_line_that_the_tester_could_exceed(evidence):
    load = HALF.model_copy(update={"scale_ppm": 1_000_000})
    sent = 60_000_000
    assert explain(evidence(load=load, sent=sent)).limit == "none"


def test_an_invalid_trial_has_no_other_limit(evidence):
    verdict = explain(evidence(), ("counters not drained",))
    assert verdict.limit == "invalid"
    assert verdict.evidence == ("counters not drained",)
