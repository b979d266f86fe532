"""Progress of a bisection."""

from math import ceil

from linerate.cli.bar import Bar
from linerate.model.bisection import LeftOut
from linerate.report.bisection import DIGITS
from linerate.report.soak_lead import duration
from linerate.results.bisection.search import Bisection


class BisectBar(Bar):
    """Shows on standard error how far a bisection is."""

    def building(self, bisection: Bisection, commit: str) -> None:
        """Say that a commit is built."""
        self._show(bisection, f"building {commit[:DIGITS]}")

    def measuring(self, bisection: Bisection, seconds_a_round: float) -> None:
        """Say that a round begins, and how long it may go on."""
        wanted = bisection.wanted
        assert wanted is not None
        what = wanted.commit[:DIGITS] or "good and bad"
        text = f"{what}, round {wanted.done + 1} of {wanted.look_at}"
        left = wanted.look_at - wanted.done + bisection.steps_after * wanted.look_at
        if seconds_a_round:
            text += f", about {duration(ceil(left * seconds_a_round))}"
        self._show(bisection, text)

    def left_out(self, one: LeftOut) -> None:
        """Say that a commit can't be measured, and why."""
        self.warn(f"{one.commit[:DIGITS]}: left out: {one.reason}")

    def _show(self, bisection: Bisection, text: str) -> None:
        step, steps = bisection.step, bisection.step + bisection.steps_after
        left = bisection.high - bisection.low
        line = f"step {step} of about {steps}, {left:,} commits left: {text}"
        wanted = bisection.wanted
        done = step - 1 + (wanted.done / wanted.look_at if wanted else 0.0)
        self.step(done, steps, line, line)
