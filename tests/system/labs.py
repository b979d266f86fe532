"""Commands of ours that run beside a test: killed and reaped however it ends."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from typer.testing import CliRunner

from linerate.cli.app import app

Lab = subprocess.Popen[str]

#: Long enough for a lab to remove what it made, while engines have the CPUs.
ENDS_IN_SECONDS = 120.0


@contextmanager
def lab(*words: str, module: str = "linerate") -> Iterator[Lab]:
    """Start `python -m MODULE WORDS`; what still runs when the test has failed is ended as by Ctrl-C."""
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                end(process)


def end(process: Lab) -> None:
    """Stop it so that it cleans up, or kill it."""
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    try:
        process.communicate(timeout=ENDS_IN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def hold(process: Lab) -> None:
    """Let it not go on until `release`: its engines do, but what it made stays."""
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(process.pid) == "T")


def release(process: Lab) -> None:
    """Resume it; a signal that was sent before is the first that it meets."""
    process.send_signal(signal.SIGCONT)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for(condition: Callable[[], object], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def sends(runs: Path, loadtest: str) -> bool:
    """Whether a run in this folder is in the midst of a trial of that loadtest."""
    number = -1
    for path in runs.glob("*/live.jsonl"):
        # Its last line may be half written.
        for line in path.read_text().split("\n")[:-1]:
            message = json.loads(line)
            if message["event"] == "trial" and message["loadtest"] == loadtest:
                number = message["number"]
            elif message["event"] == "sending" and message["number"] == number:
                return True
    return False


def shown(*words: str) -> str:
    """Output of a command, run in this process: beside engines that poll, a start takes long."""
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80"}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout
