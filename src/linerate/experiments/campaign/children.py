"""Programs that a worker runs, in sessions of their own; none outlives the worker or its task."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from linerate.base.errors import UserError

#: Sends the program SIGTERM when the thread that started it is gone: SIGKILL of a worker, too.
WITH_WORKER = ("setpriv", "--pdeathsig", "TERM")
#: A lab removes namespaces and engines when it is ended.
ENDS_IN_SECONDS = 60.0

_running: set["subprocess.Popen[str]"] = set()
_lock = threading.Lock()
_ended = threading.Event()
#: The worker's task that runs programs now: it has a thread for one at a time.
_task = ""
#: Tasks that were cancelled while they ran.
_cancelled: set[str] = set()


class EndedError(UserError):
    """A program that ran, or was to run, was ended with its worker or its task."""

    def __init__(self) -> None:
        super().__init__("its worker, or the `run` that asked for it, ended")


@dataclass(frozen=True, slots=True)
class Done:
    """A program that ended."""

    code: int
    output: str
    errors: str

    @property
    def last_words(self) -> str:
        """The last line of what it complained about."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        if lines:
            return lines[-1].removeprefix("linerate: ")
        if self.code < 0:
            return f"ended by {signal.Signals(-self.code).name}"
        return f"exit code {self.code}"


def ended() -> bool:
    """Whether the worker ends, or the task was cancelled: nothing more is begun."""
    return _ended.is_set() or _task in _cancelled


@contextmanager
def task(key: str) -> Iterator[None]:
    """Run programs for a task of this key."""
    global _task  # noqa: PLW0603 (one at a time)
    _task = key
    try:
        yield
    finally:
        _cancelled.discard(key)
        _task = ""


def end_task(key: str) -> None:
    """End what runs for a task, as Ctrl-C would, and begin nothing more for it."""
    if key != _task:
        return
    _cancelled.add(key)
    _end_running()


def end_all() -> None:
    """End what runs, as Ctrl-C would, and begin nothing more until `begin_again`."""
    _ended.set()
    _end_running()


def begin_again() -> None:
    """Run programs again, in a new worker of this process."""
    _ended.clear()


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    limit_seconds: float,
    *,
    folder: Path | None = None,
    errors: IO[str] | int = subprocess.PIPE,
) -> Done:
    """Run a program to its end; one that takes longer than the limit is ended.

    Raises EndedError where it was ended with the worker or the task.
    """
    process = subprocess.Popen(
        [*WITH_WORKER, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        errors="replace",
        env=dict(environment),
        cwd=folder,
        start_new_session=True,
    )
    with _lock:
        _running.add(process)
    try:
        if ended():
            _end_group(process, signal.SIGTERM)
        done = _finished(process, limit_seconds)
    except BaseException:
        # A signal ends this process: nothing of what it started stays.
        _end(process)
        raise
    finally:
        with _lock:
            _running.discard(process)
    if done.code and ended():
        raise EndedError
    return done


def _end_running() -> None:
    with _lock:
        running = list(_running)
    for process in running:
        _end_group(process, signal.SIGTERM)


def _finished(process: "subprocess.Popen[str]", limit_seconds: float) -> Done:
    try:
        output, errors = process.communicate(timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        return Done(-signal.SIGTERM, "", f"took longer than {limit_seconds:.0f} s, and was ended")
    return Done(process.returncode, output or "", errors or "")


def _end(process: "subprocess.Popen[str]") -> None:
    _end_group(process, signal.SIGTERM)
    try:
        process.communicate(timeout=ENDS_IN_SECONDS)
    except subprocess.TimeoutExpired:
        _end_group(process, signal.SIGKILL)
        process.communicate()


def _end_group(process: "subprocess.Popen[str]", number: int) -> None:
    with suppress(OSError):
        os.killpg(process.pid, number)
