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
from linerate.model.testbed import Testbed

SIZES = (64, 128, 512, 1518)
BOTH_WAYS = 2
#: A line that no box here fills, so that what asking costs shows in the rate.
OVERLOAD = 20
#: Changes of the device under test, by how it is asked.
WAYS: dict[str, dict[str, object]] = {
    "sampled": {"profile": True},
    "asked": {"profile": False},
    "not": {"kind": "external", "at": None},
}


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
    """More load than the box takes: asked and sampled, asked alone, and not asked, in turns."""
    loadtest = Loadtest("U2", Traffic(64, "many"), 1)
    full = box.testbed.model_copy(update={"link_bps": OVERLOAD * box.testbed.line_bps})
    ways = {
        name: full.model_copy(update={"dut": full.dut.model_copy(update=update)})
        for name, update in WAYS.items()
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(pairs):
        order = list(ways) if number % 2 else list(reversed(ways))
        for name in order:
            rates[name].append(_rate(ways[name], folder, loadtest, seconds, f"cost-{number}"))
        say(f"{number + 1}: " + ", ".join(f"{name} {rates[name][-1]:,.0f}" for name in ways))
    return "\n".join(
        f"{box.kind}: rate at overload, {name} over not asked, {pairs} pairs: median "
        f"{statistics.median(ratios):.4f}, {min(ratios):.4f} to {max(ratios):.4f}"
        for name in ("asked", "sampled")
        for ratios in [[one / other for one, other in zip(rates[name], rates["not"], strict=True)]]
    )


def _rate(testbed: Testbed, folder: Path, loadtest: Loadtest, seconds: float, label: str) -> float:
    rig = Rig(testbed, lambda name: folder / name)
    load = load_of(testbed, loadtest, 1.0, seconds)
    with rig.with_box(), rig.under_test(loadtest, label) as ready:
        return run_trial(ready.tester, load, lambda _progress: None).received.packets_per_second
