"""Progress of a bisection: a bar for people who watch, lines now and then for readers of a pipe."""

from math import ceil
from types import TracebackType
from typing import Self

from rich.progress import Progress, TaskID

from linerate.cli.run_into_folder import Piped, new_progress
from linerate.model.bisection import LeftOut
from linerate.report.bisection import DIGITS
from linerate.report.soak_lead import duration
from linerate.results.bisection.search import Bisection
from linerate.ui.screen import complain, one_line


class BisectBar:
    """Shows on standard error how far a bisection is."""

    def __init__(self) -> None:
        self._progress: Progress = new_progress()
        self._piped = Piped()
        self._task: TaskID = self._progress.add_task("starting", total=1)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

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
        line = one_line(f"{one.commit[:DIGITS]}: left out: {one.reason}")
        if self._progress.disable:
            complain(f"linerate: {line}")
        else:
            self._progress.console.print(line, style="yellow", soft_wrap=True)

    def _show(self, bisection: Bisection, text: str) -> None:
        step, steps = bisection.step, bisection.step + bisection.steps_after
        left = bisection.high - bisection.low
        line = f"step {step} of about {steps}, {left:,} commits left: {text}"
        wanted = bisection.wanted
        done = step - 1 + (wanted.done / wanted.look_at if wanted else 0.0)
        self._progress.update(self._task, completed=done, total=steps, description=line)
        if self._progress.disable:
            self._piped.step(line)
        else:
            self._progress.refresh()
