"""Progress of long work: a bar for people who watch, lines now and then for readers of a pipe."""

from types import TracebackType
from typing import Self

from rich.progress import Progress, TaskID

from linerate.cli.run_into_folder import Piped, new_progress
from linerate.ui.screen import complain, one_line


class Bar:
    """One bar on standard error, while its context lasts."""

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

    def step(self, done: float, total: float, text: str, line: str) -> None:
        """Say how far the work is: `text` beside the bar, `line` to a pipe."""
        self._progress.update(self._task, completed=done, total=total, description=text)
        if self._progress.disable:
            self._piped.step(line)
        else:
            self._progress.refresh()

    def warn(self, text: str) -> None:
        """Say in a line what went wrong, above the bar."""
        line = one_line(text)
        if self._progress.disable:
            complain(f"linerate: {line}")
        else:
            self._progress.console.print(line, style="yellow", soft_wrap=True)
