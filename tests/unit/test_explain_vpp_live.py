"""A live VPP behind memif, loaded so that the truth was known: each reading is judged rightly."""

from pathlib import Path

import pytest

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_files

CASES = Path(__file__).parents[1] / "data" / "cases" / "vpp-memif"


def judged(case):
    return explain(evidence_of_files(sorted(CASES.glob(f"{case}.*.txt"))))


@pytest.mark.parametrize(
    ("case", "limit", "words"),
    [
        ("b-noroute", "configuration", ["50.00 %", "null-node: blackholed packets"]),
        ("b2-overload", "none", ["1.18 % of its polls", "192 at e1-tx: no free tx slots"]),
        ("d-idle10", "none", ["11.5 % of its polls"]),
        ("e-ring64", "tx-ring", ["e1-tx sends 53 of 64 packets a call"]),
        ("f-acl1000", "worker-cpu", ["most of its cycles in acl-plugin-in-ip4-fa: 4,870 of 5,187"]),
    ],
)
def test_each_is_judged_rightly(case, limit, words):
    found = judged(case)
    assert (found.limit, found.also) == (limit, ())
    assert all(text in found.sentence for text in words), found.sentence


def test_a_wire_without_cards_gets_no_advice_for_cards():
    for case in ("b2-overload", "d-idle10", "e-ring64", "f-acl1000"):
        advice = " ".join(judged(case).try_)
        assert not any(word in advice for word in ("firmware", "mlx5", "rdma", "CQE"))


def test_a_few_lost_packets_do_not_hide_a_saturated_worker():
    found = judged("f-acl1000")
    assert found.confidence == "high"
    assert found.ceilings[0].mpps == pytest.approx(0.5, abs=0.01)


def test_an_idle_vpp_is_not_limited_by_anything(tmp_path):
    idle = tmp_path / "runtime.txt"
    idle.write_text(
        "Thread 1 vpp_wk_0 (lcore 1)\n"
        "Time 10.0, 10 sec internal node vector rate 1.00 loops/sec 5218223.61\n"
        "  vector rates in 1.3100e2, out 1.3100e2, drop 0.0000e0, punt 0.0000e0\n"
        "             Name                 State         Calls          Vectors        Suspends"
        "         Clocks       Vectors/Call\n"
        "dpdk-input                       polling          52182236            1310               0"
        "          3.12e6             .00\n"
        "ethernet-input                   active               1310            1310               0"
        "          1.02e3            1.00\n"
        "ip4-lookup                       active               1310            1310               0"
        "          4.12e2            1.00\n"
    )
    found = explain(evidence_of_files([idle]))
    assert found.limit == "none"
    assert "one at a time" in found.sentence
