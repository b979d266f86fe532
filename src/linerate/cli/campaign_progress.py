"""Progress of a campaign: a bar for people who watch, lines now and then for readers of a pipe."""

from types import TracebackType
from typing import Self

from rich.progress import Progress, TaskID

from linerate.cli.run_into_folder import Piped, new_progress
from linerate.model.campaign import CampaignState
from linerate.report.campaign_progress import progress_line
from linerate.ui.screen import complain, one_line


class ProgressBar:
    """Shows a campaign's state on standard error."""

    def __init__(self) -> None:
        self._progress: Progress = new_progress()
        self._piped = Piped()
        self._task: TaskID = self._progress.add_task("starting", total=1)
        self._failures = -1

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

    def show(self, state: CampaignState) -> None:
        """Show a new state, and what failed since the last one."""
        self._say_failures(state)
        working = [f"{one.name}: {one.now}" for one in state.testbeds if one.now]
        text = f"{state.done} of {state.units} units; {'; '.join(working) or state.status}"
        self._progress.update(
            self._task, completed=state.done, total=state.units, description=one_line(text)[:60]
        )
        if self._progress.disable:
            self._piped.step(progress_line(state))
        else:
            self._progress.refresh()

    def _say_failures(self, state: CampaignState) -> None:
        """Say each failure once: those of earlier runs are not news."""
        count = sum(one.failed for one in state.testbeds)
        for one in state.failures[len(state.failures) - (count - max(self._failures, 0)) :]:
            line = one_line(f"{one.testbed}: {one.text}: {one.reason}")
            if self._progress.disable:
                complain(f"linerate: {line}")
            else:
                self._progress.console.print(line, style="yellow", soft_wrap=True)
        self._failures = count
