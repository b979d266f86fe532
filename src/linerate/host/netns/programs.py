"""Other people's programs, run in a namespace, marked as this lab's."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import IO

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.host import dpdk_log
from linerate.host.netns.privilege import search_path

RUN_SECONDS = 30.0
#: As the workers of our engine (engine/core/worker_loop.c): the same share of a busy machine.
NICE = -10


def in_namespace(netns: str, command: list[str]) -> list[str]:
    """Write a command so that it runs there; an empty name is where we are."""
    program = shutil.which(command[0], path=search_path())
    if program is None:
        raise SetupError(f"{command[0]} is not installed")
    there = [program, *command[1:]]
    return ["ip", "netns", "exec", netns, *there] if netns else there


def own_cpus() -> list[int]:
    """CPUs that the lab itself is on now."""
    return sorted(os.sched_getaffinity(0))


def run_in(
    netns: str, command: list[str], text: str = "", seconds: float = RUN_SECONDS
) -> "subprocess.CompletedProcess[str]":
    """Run it to its end."""
    return subprocess.run(
        in_namespace(netns, command),
        input=text,
        capture_output=True,
        text=True,
        timeout=seconds,
        env=ownership.environment() | {"PATH": search_path()},
        check=False,
    )


def start_in(netns: str, command: list[str], log: IO[bytes], cpus: tuple[int, ...]) -> "Process":
    """Start it beside us, on those CPUs, with its output in a file."""
    # In its own process group: Ctrl-C is for the lab, which then ends it.
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        return subprocess.Popen(
            ["nice", "-n", str(NICE), *in_namespace(netns, command)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            process_group=0,
            env=ownership.environment() | {"PATH": search_path()},
        )
    finally:
        os.sched_setaffinity(0, own)


Process = subprocess.Popen[bytes]


def end(process: Process, seconds: float) -> None:
    """End it, even if we are interrupted while we wait for it."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def last_line(log: Path) -> str:
    """Last line that a program printed."""
    lines = [line.strip() for line in _read(log).splitlines() if line.strip()]
    return lines[-1] if lines else dpdk_log.NOTHING


def cause(log: Path) -> str:
    """Reason why a DPDK program stopped, from its log."""
    return dpdk_log.cause(_read(log))


def _read(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
