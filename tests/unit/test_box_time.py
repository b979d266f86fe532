"""Time ledgers of a box's workers: they close, whatever is rounded in what it prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from linerate.analysis.box_time import time_ledgers
from linerate.model.evidence import Evidence, Node, Quote, Worker

QUOTE = Quote(source="x", line=1, text="x")


def worker(clocks: float, spare: float = 0.0, away: float = 0.0, **changes: object) -> Worker:
    node = Node(
        name="softirq", state="polling", calls=10, vectors=1000, clocks_per_packet=clocks, quote=QUOTE
    )  # fmt: skip
    return Worker(
        name="kernel-cpu1", seconds=2.0, tsc_hz=1e9, nodes=(node,), idle_in_clocks=False,
        spare_percent=spare, away_percent=away, quote=QUOTE,
    ).model_copy(update=changes)  # fmt: skip


@given(clocks=some.floats(0, 1e6), spare=some.floats(0, 25), away=some.floats(0, 24))
def test_the_ledger_of_a_worker_closes(clocks, spare, away):
    (ledger,) = time_ledgers(Evidence(workers=(worker(clocks, spare, away),)))
    assert ledger.closes
    assert ledger.overhead_clocks >= 0
    assert ledger.percent(ledger.sleep_clocks) == pytest.approx(spare, abs=0.01)
    assert ledger.nodes["softirq"].clocks == round(1000 * clocks)


@given(clocks=some.floats(1.9e6, 2.1e6), away=some.floats(0, 50))
def test_time_away_is_in_the_nodes_of_a_worker_that_polls(clocks, away):
    polling = worker(clocks, 0.0, away, idle_in_clocks=True, spare_percent=None)
    (ledger,) = time_ledgers(Evidence(workers=(polling,)))
    assert ledger.closes


def test_a_worker_without_a_clock_rate_has_no_ledger():
    known, main = worker(1.0), worker(1.0, role="main")
    unknown = worker(1.0, tsc_hz=None)
    assert len(time_ledgers(Evidence(workers=(known, main, unknown)))) == 1
