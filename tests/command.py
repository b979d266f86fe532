"""The `linerate` command, run in this process: imports are paid once for all tests.

What a process alone has (signals, exit codes of a killed lab, a fresh interpreter) is tested by
processes: `test_each_command_starts_in_a_fresh_process` and the tests that send signals.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from linerate.cli.app import main

Done = subprocess.CompletedProcess[str]


class _Output(io.TextIOWrapper):
    """A pipe's stand-in: text and bytes can be written to it, and it is no terminal."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding="utf-8", errors="backslashreplace", newline="")

    def text(self) -> str:
        if not self.closed:
            self.flush()
        return self._kept()

    def close(self) -> None:
        """Keep what was written: a command may close its standard error."""
        self.flush()

    def _kept(self) -> str:
        return self._bytes.getvalue().decode("utf-8")


def run_command(words: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> Done:
    """Run `linerate WORDS` in a folder, as `main` does, and put back what it changed."""
    out, err = _Output(), _Output()
    with _put_back(folder, environment):
        argv, sys.argv = sys.argv, ["linerate", *words]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
            code = 0
        except SystemExit as ended:
            code = _code(ended)
        finally:
            sys.argv = argv
    return subprocess.CompletedProcess(["linerate", *words], code, out.text(), err.text())


def result_of(printed: str | bytes) -> Any:
    """Result that a command printed with `--json`, out of its envelope."""
    return json.loads(printed)["result"]


def _code(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    return ended.code if isinstance(ended.code, int) else 1


@contextlib.contextmanager
def _put_back(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """State that ends with a process: folder, environment, CPUs, handlers, priority."""
    here, variables = Path.cwd(), dict(os.environ)
    cpus, hook = os.sched_getaffinity(0), sys.excepthook
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM,
                                                               signal.SIGHUP)}  # fmt: skip
    os.chdir(folder)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)
        os.sched_setaffinity(0, cpus)
        sys.excepthook = hook
        for number, handler in handlers.items():
            signal.signal(number, handler)
