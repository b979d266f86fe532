"""Order of units and testbeds: versions alternate, blocks stay together, nothing is lost."""

from collections import Counter
from pathlib import Path

import pytest
from tests.unit.campaigns import prepared

from linerate.experiments.campaign.units import home, in_order
from linerate.experiments.campaign.work_queue import Bench, WorkQueue
from linerate.model.campaign import Block, Unit

LABS = ["lab-a", "lab-b", "lab-c"]


@pytest.fixture
def blocks(tmp_path: Path) -> dict[Block, list[Unit]]:
    return in_order(prepared(tmp_path).units, seed=1)


def queue_of(blocks: dict[Block, list[Unit]], able: list[str] | None = None) -> WorkQueue:
    benches = {name: Bench(there=True) for name in LABS}
    return WorkQueue(blocks, lambda _block: LABS if able is None else able, benches, 3, 3)


def test_the_order_is_the_seeds(tmp_path: Path) -> None:
    units = prepared(tmp_path).units
    orders = {seed: [unit.key for block in in_order(units, seed).values() for unit in block]
              for seed in range(20)}  # fmt: skip
    assert orders[1] == [
        unit.key for block in in_order(reversed(units), 1).values() for unit in block
    ]
    assert len({tuple(order) for order in orders.values()}) == 20


def test_repeats_are_rounds_and_versions_alternate(tmp_path: Path) -> None:
    units = prepared(tmp_path).units
    firsts: Counter[str] = Counter()
    for seed in range(200):
        order = [unit for block in in_order(units, seed).values() for unit in block]
        assert [unit.repeat for unit in order] == sorted(unit.repeat for unit in order)
        # Four units of a block follow each other: all versions and settings of it.
        for start in range(0, len(order), 4):
            assert len({unit.block for unit in order[start : start + 4]}) == 1
        firsts[order[0].version.name] += 1
    assert min(firsts.values()) > 60


def test_a_cell_stays_on_its_testbeds_and_its_repeats_go_round(
    blocks: dict[Block, list[Unit]],
) -> None:
    for block in blocks:
        every = [home(block.model_copy(update={"repeat": n}), LABS) for n in range(1, 7)]
        assert set(every[:3]) == set(LABS)
        assert every[:3] == every[3:]
        # One testbed more moves no block to a testbed that was there before.
        more = home(block, [*LABS, "lab-d"])
        assert more is not None
        assert home(block, []) is None


def drained(queue: WorkQueue, *names: str) -> dict[str, list[Unit]]:
    """Let testbeds take turns until none has anything to do."""
    done: dict[str, list[Unit]] = {name: [] for name in names}
    while True:
        taken = [(name, unit) for name in names if (unit := queue.next_for(name))]
        if not taken:
            return done
        for name, unit in taken:
            queue.measured(name, unit)
            done[name].append(unit)


def test_each_unit_is_measured_once(blocks: dict[Block, list[Unit]]) -> None:
    queue = queue_of(blocks)
    done = drained(queue, *LABS)
    keys = [unit.key for units in done.values() for unit in units]
    assert sorted(keys) == sorted(unit.key for units in blocks.values() for unit in units)
    assert not queue.waiting()
    assert not queue.open_units()
    # All of a block on one testbed.
    for units in done.values():
        mine = {unit.block for unit in units}
        assert all(unit in units for block in mine for unit in blocks[block])


def test_a_busy_unit_is_given_to_none_else(blocks: dict[Block, list[Unit]]) -> None:
    queue = queue_of(blocks)
    taken = []
    while unit := queue.next_for("lab-a"):
        taken.append(unit.key)
    assert len(taken) == len(set(taken)) > 0
    assert queue.waiting()


def test_what_a_gone_testbed_leaves_is_measured_elsewhere(
    blocks: dict[Block, list[Unit]],
) -> None:
    queue = queue_of(blocks)
    first = queue.next_for("lab-a")
    assert first is not None
    alone = drained(queue, "lab-b", "lab-c")
    assert first.key not in {unit.key for units in alone.values() for unit in units}
    queue.benches["lab-a"].there, queue.benches["lab-a"].gone = False, True
    queue.returned(first)
    rest = drained(queue, "lab-b", "lab-c")
    assert first.key in {unit.key for units in rest.values() for unit in units}
    assert not queue.open_units()


def test_a_testbed_that_comes_back_gets_its_own_work(blocks: dict[Block, list[Unit]]) -> None:
    queue = queue_of(blocks)
    bench = queue.benches["lab-a"]
    bench.there, bench.gone = False, True
    assert queue.next_for("lab-a") is None
    bench.there, bench.gone = True, False
    unit = queue.next_for("lab-a")
    assert unit is not None
    assert home(unit.block, LABS) == "lab-a"


def test_a_testbed_without_results_is_set_aside_with_the_reason(
    blocks: dict[Block, list[Unit]],
) -> None:
    queue = queue_of(blocks)
    for number in range(3):
        assert not queue.benches["lab-b"].aside
        unit = queue.next_for("lab-b")
        assert unit is not None
        queue.nothing("lab-b", unit, f"descheduled {number}")
    assert queue.benches["lab-b"].aside == (
        "3 in a row without a result, the last one: descheduled 2"
    )
    assert queue.next_for("lab-b") is None
    drained(queue, "lab-a", "lab-c")
    assert not queue.open_units()


def test_one_result_between_failures_keeps_a_testbed(blocks: dict[Block, list[Unit]]) -> None:
    queue = queue_of(blocks)
    for number in range(5):
        unit = queue.next_for("lab-a")
        assert unit is not None
        if number == 2:
            queue.measured("lab-a", unit)
        else:
            queue.nothing("lab-a", unit, "descheduled")
    assert not queue.benches["lab-a"].aside


def test_a_unit_is_tried_so_often_and_no_more(blocks: dict[Block, list[Unit]]) -> None:
    queue = queue_of(blocks)
    queue.invalid_in_row = 1000
    while unit := queue.next_for("lab-a"):
        queue.nothing("lab-a", unit, "no")
    assert set(queue.attempts.values()) == {3}
    assert drained(queue, "lab-b", "lab-c")
    assert not queue.waiting()
    assert {queue.reasons[unit.key] for unit in queue.open_units()} == {"no"}


def test_what_no_testbed_can_measure_is_waited_for_by_none(
    blocks: dict[Block, list[Unit]],
) -> None:
    queue = queue_of(blocks, able=[])
    assert queue.next_for("lab-a") is None
    assert not queue.waiting()
    assert len(queue.open_units()) == 24


def test_a_testbed_that_turns_out_unable_gets_nothing(blocks: dict[Block, list[Unit]]) -> None:
    able = list(LABS)
    queue = queue_of(blocks, able)
    able.remove("lab-c")
    queue.learn()
    assert queue.next_for("lab-c") is None
    drained(queue, "lab-a", "lab-b")
    assert not queue.open_units()
