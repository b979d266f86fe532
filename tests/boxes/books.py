"""Trials of a box that loses nothing on purpose: its books, and the cost of asking it."""

import random
import statistics
from collections.abc import Callable
from pathlib import Path

from tests.boxes.matrix import Box
from tests.boxes.runner import load_of

from linerate.analysis.validity import reasons
from linerate.lab.rig import Rig
from linerate.lab.trial import run_trial
from linerate.model.measurement import Measurement
from linerate.model.suites import Loadtest, Traffic
from linerate.model.testbed import Dut, Testbed

SIZES = (64, 128, 512, 1518)
BOTH_WAYS = 2


def balanced(box: Box, folder: Path, trials: int, seconds: float, seed: int) -> str:
    """Random loads from a tenth of the line to all of it, sizes and directions."""
    chance = random.Random(seed)
    rows: list[Measurement] = []
    rig = Rig(box.testbed, lambda name: folder / name)
    with rig.with_box():
        for number in range(trials):
            size, directions = chance.choice(SIZES), chance.randint(1, BOTH_WAYS)
            loadtest = Loadtest("U2", Traffic(size, "many"), directions)
            load = load_of(box.testbed, loadtest, chance.uniform(0.1, 1.0), seconds)
            with rig.under_test(loadtest, f"books-{number}") as ready:
                rows.append(run_trial(ready.tester, load, lambda _progress: None))
    sent = sum(one.packets.sent for one in rows)
    lost = sum(one.packets.total("loss") for one in rows)
    worst = max(abs(one.packets.unexplained) for one in rows)
    valid = sum(not reasons(one) for one in rows)
    return (
        f"{box.kind}: {trials} trials from 10 to 100 % of the line, {valid} valid: {sent:,} packets "
        f"sent, {lost:,} lost at named places, at most {worst:,} unexplained in a trial; seed {seed}"
    )


def cost_of_asking(
    box: Box, folder: Path, pairs: int, seconds: float, say: Callable[[str], None]
) -> str:
    """Full load, the box asked within it and not asked at all, in turns."""
    loadtest = Loadtest("U2", Traffic(64, "many"), 1)
    unasked = box.testbed.model_copy(update={"dut": _external(box.testbed)})
    ratios = []
    for number in range(pairs):
        order = (box.testbed, unasked) if number % 2 else (unasked, box.testbed)
        rates = {
            testbed.dut.kind: _rate(testbed, folder, loadtest, seconds, f"cost-{number}")
            for testbed in order
        }
        ratios.append(rates[box.testbed.dut.kind] / rates["external"])
        say(f"pair {number + 1}: {rates}")
    low, high = min(ratios), max(ratios)
    return (
        f"{box.kind}: rate at full load while asked over not asked, {pairs} pairs: median "
        f"{statistics.median(ratios):.4f}, {low:.4f} to {high:.4f}"
    )


def _external(testbed: Testbed) -> Dut:
    return testbed.dut.model_copy(update={"kind": "external", "at": None})


def _rate(testbed: Testbed, folder: Path, loadtest: Loadtest, seconds: float, label: str) -> float:
    rig = Rig(testbed, lambda name: folder / name)
    load = load_of(testbed, loadtest, 1.0, seconds)
    with rig.with_box(), rig.under_test(loadtest, label) as ready:
        return run_trial(ready.tester, load, lambda _progress: None).received.packets_per_second
