"""`linerate bench`: progress while it measures, a report when it has; signals keep both."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from linerate.base.atomic_write import write_whole
from linerate.base.errors import UserError
from linerate.base.signals import ENDING, held_back
from linerate.cli.ci_files import write_ci_files
from linerate.cli.options import RunOptions
from linerate.cli.usage import FAILED
from linerate.experiments.bench import Bench, Interrupted, Observer
from linerate.experiments.plan import Plan
from linerate.host import cpu_locks, session_share
from linerate.host import machine as host
from linerate.model import measurement
from linerate.model.testbed import Testbed
from linerate.report import bench as bench_report
from linerate.report.document import Document
from linerate.report.render import csv, html, terminal
from linerate.report.render import json as as_json_text
from linerate.results.store import Absent, Result, Run, RunFolder
from linerate.ui.console import Console
from linerate.ui.screen import complain, one_line, say

#: Makes what measures a plan.
Maker = Callable[[Plan, RunFolder, Observer], Bench]
Form = Literal["text", "json", "csv"]
#: Between two lines about how far it is.
PIPED_SECONDS = 10.0
#: Beside the trials of a test with a box: an engine starts, the box is asked, packets drain.
BESIDE_SECONDS = 4.0
#: A shell says 128 + signal for what a signal ended.
BY_SIGNAL = 128


class NeverBeganError(UserError):
    """A run that failed before its first trial began."""


class Bar:
    """A progress bar, drawn a few times a second only, on the tester's CPU; lines into a pipe."""

    def __init__(self, progress: Progress, total_seconds: float) -> None:
        self._progress = progress
        self._piped = Piped()
        self._task: TaskID = progress.add_task("starting", total=total_seconds)
        self._done_seconds = 0.0
        self._step_seconds = 0.0

    def step(self, text: str, seconds: float) -> None:
        """Begin a step that is to take so long."""
        self._done_seconds += self._step_seconds
        self._step_seconds = seconds
        self._progress.update(self._task, completed=self._done_seconds, description=text)
        self._progress.refresh()
        if self._progress.disable:
            self._piped.step(text)

    def progress(self, progress: measurement.Progress) -> None:
        """Move on within the step."""
        elapsed = min(progress.elapsed_us / 1e6, self._step_seconds)
        self._progress.update(self._task, completed=self._done_seconds + elapsed)
        self._progress.refresh()

    def waiting(self, text: str) -> None:
        """Say what nothing goes on without."""
        self._progress.console.print(text, soft_wrap=True)

    def measured(self, result: Result) -> None:
        """Make room for another attempt when this one made none."""
        if not result.valid:
            text = f"{result.test}: {result.invalid[0]}"
            self._progress.console.print(text, style="yellow", soft_wrap=True)

    def absent(self, absent: Absent) -> None:
        """Say what can't be measured as soon as that is known."""
        text = f"{absent.configuration}: {absent.reason}"
        self._progress.console.print(text, style="yellow", soft_wrap=True)


class Piped:
    """Progress of long work in a line now and then, for readers of a pipe."""

    def __init__(self) -> None:
        self._began_s = self._reported_s = time.monotonic()

    def step(self, text: str) -> None:
        """Print a line unless the last one is recent."""
        now_s = time.monotonic()
        if now_s - self._reported_s >= PIPED_SECONDS:
            self._reported_s = now_s
            complain(f"linerate: after {now_s - self._began_s:.0f} s: {text}")


@contextmanager
def signals() -> Iterator[None]:
    """SIGINT and SIGTERM stop a bench once; further ones don't disturb the cleaning up."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.signal(number, stop) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def new_progress() -> Progress:
    """Make a bar for people who watch: on standard error, and only if it is a terminal."""
    watching = Console(stderr=True)
    return Progress(
        TextColumn("{task.description:<40}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
        console=watching,
        auto_refresh=False,
        transient=True,
        disable=not watching.is_terminal,
    )


@contextmanager
def run_folder(testbed: Testbed, label: str, options: RunOptions) -> Iterator[RunFolder]:
    """A new run folder, while no other run has the CPUs; waits for that, or raises CpuBusyError.

    Signals end what is done in it; a folder in which nothing was written by then goes with it.
    """
    # A server has CPUs of its own.
    cpus = () if testbed.by_server else testbed.cpus or host.allowed_cpus()
    on_wait = complain if options.wait else None
    with signals(), cpu_locks.held(cpus, on_wait), session_share.raised():
        folder = None
        try:
            with held_back():
                folder = RunFolder.create(options.runs, label)
                folder.labels = dict(one.split("=", 1) for one in options.labels or ())
            yield folder
        except BaseException:
            if folder:
                folder.remove_unused()
            raise


def bench_into_folder(plan: Plan, options: RunOptions, make: Maker = Bench) -> int:
    """Measure into a new run folder and report; returns the exit code."""
    with run_folder(plan.testbed, plan.testbed.dut.name, options) as folder:
        run, code = measure_into(plan, folder, make)
        show(bench_report.document(run, folder.path), run, options)
    return code


def measure_into(plan: Plan, folder: RunFolder, make: Maker = Bench) -> tuple[Run, int]:
    """Measure into a run folder, within `signals`; returns the run and the exit code.

    Raises NeverBeganError, and leaves no folder, where nothing could be started.
    """
    if plan.testbed.dut.is_box:
        complain(announced(plan))
    progress = new_progress()
    code = 0
    with progress:
        bench = make(plan, folder, Bar(progress, plan.seconds))
        try:
            bench.measure()
        except Interrupted as interrupted:
            code = BY_SIGNAL + interrupted.signal_number
    if never_began(bench.run):
        folder.remove()
        raise NeverBeganError(bench.run.problem)
    if line := nothing_came_back(bench.run):
        complain(f"linerate: {line}")
    return bench.run, code or exit_code(bench.run)


def never_began(run: Run) -> bool:
    """Whether a run failed before anything was measured, and before a box gave an answer."""
    measured = run.results or run.ceilings or run.absent
    return run.status == "failed" and not measured and not run.testbed.dut.is_box


def announced(plan: Plan) -> str:
    """Estimated duration of all tests, before they start."""
    seconds = plan.seconds + BESIDE_SECONDS * (len(plan.steps) + 1)
    took = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
    count = f"{len(plan.steps)} test{'s' * (len(plan.steps) != 1)}"
    return f"linerate: {count} with {plan.testbed.dut.at or 'the box'}: about {took}"


def exit_code(run: Run) -> int:
    """0 when each test is measured, valid (one trial at least), and received packets."""
    results = run.reported()
    whole = run.status == "complete" and len(results) == len(run.tests) > 0
    back = all(result.valid and not result.nothing_came_back for result in results)
    return 0 if whole and back else FAILED


def nothing_came_back(run: Run) -> str:
    """Trials that sent packets without receiving any, in a line; nothing when all are well."""
    empty = [result for result in run.reported() if result.nothing_came_back]
    if not empty:
        return ""
    names = ", ".join(dict.fromkeys(result.test for result in empty))
    sent = sum(result.packets.sent for result in empty)
    return f"{names}: received nothing of {sent:,} packets sent; {empty[0].verdict.sentence}"


def report(
    document: Document, folder: RunFolder, run: Run, options: RunOptions, *, as_csv: bool = False
) -> None:
    """Write the page beside the figures, and print the report."""
    write_whole(folder.path / "report.html", html.page(document).html)
    show(document, run, options, as_csv=as_csv)


def show(document: Document, run: Run, options: RunOptions, *, as_csv: bool = False) -> None:
    """Print a run's report; beside one for programs, why it ended early."""
    write_ci_files(document, options.junit, options.summary)
    form = _form_of(options.as_json, as_csv)
    if form == "text":
        terminal.show(Console(), document)
        return
    text = as_json_text.render(document) if form == "json" else csv.render(document)
    say(text.removesuffix("\n"))
    if run.problem:
        complain(one_line(f"linerate: {run.problem}"))


def _form_of(as_json: bool, as_csv: bool) -> Form:
    """The form that options ask for."""
    return "json" if as_json else "csv" if as_csv else "text"
