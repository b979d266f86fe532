"""Files and commands of a machine: this one, or the box."""

import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

#: Largest answer of a command or a file of sysfs.
ANSWER_BYTES = 1 << 20


class HostError(Exception):
    """A command or file that gave nothing; one line with the reason."""


class PowerHost(Protocol):
    """A machine whose files and commands are read."""

    def run(self, argv: Sequence[str], timeout_s: float, secrets: dict[str, str]) -> str:
        """Output of a command; `secrets` are in its environment alone. Raises HostError."""

    def texts(self, paths: Sequence[Path], timeout_s: float) -> list[str]:
        """Contents of small files, at one moment as far as can be. Raises HostError."""

    def names(self, folder: Path, pattern: str, timeout_s: float) -> list[Path]:
        """Paths below a folder, sorted. Raises HostError."""


class Here:
    """The machine that we run on."""

    def run(self, argv: Sequence[str], timeout_s: float, secrets: dict[str, str]) -> str:
        """Run a command; it and all that it started is ended when its time is over."""
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=os.environ | {"LC_ALL": "C"} | secrets,
                start_new_session=True,
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise HostError(f"{argv[0]}: {reason}") from error
        with process:
            try:
                output, errors = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                raise HostError(f"{argv[0]}: no answer within {timeout_s:g} s") from None
            finally:
                _end(process)
        if process.returncode:
            raise HostError(f"{argv[0]}: {last_line(errors, output)}")
        return output[:ANSWER_BYTES].decode(errors="replace")

    def texts(self, paths: Sequence[Path], timeout_s: float) -> list[str]:
        """Read files; those of sysfs answer at once or not at all."""
        found = []
        for path in paths:
            try:
                with path.open("rb") as file:
                    found.append(file.read(ANSWER_BYTES).decode(errors="replace").strip())
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise HostError(f"{path}: {reason}") from error
        return found

    def names(self, folder: Path, pattern: str, timeout_s: float) -> list[Path]:
        """Find paths."""
        return sorted(folder.glob(pattern))


HERE = Here()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what still runs, with all of its group."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        # Its children may hold the pipes open.
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def last_line(*outputs: bytes) -> str:
    """Last line of a command's complaint."""
    for output in outputs:
        lines = output[-4096:].decode(errors="replace").strip().splitlines()
        if lines:
            return "".join(one for one in lines[-1] if one.isprintable())[:200]
    return "it failed and printed nothing"


class AtBox:
    """The machine under test, by whatever runs one line of shell there."""

    def __init__(self, run: "RunLine") -> None:
        """`run` raises HostError."""
        self._run = run

    def run(self, argv: Sequence[str], timeout_s: float, secrets: dict[str, str]) -> str:
        """Run a command there; a secret would stand in its list of processes."""
        if secrets:
            raise HostError(f"{argv[0]}: a password is not passed on to the box: read it from here")
        return self._run(shlex.join(argv), timeout_s)

    def texts(self, paths: Sequence[Path], timeout_s: float) -> list[str]:
        """Read files by one command."""
        lines = self._run("cat " + shlex.join(map(str, paths)), timeout_s).splitlines()
        if len(lines) != len(paths):
            raise HostError(f"{paths[0]}: expected {len(paths)} lines, not {len(lines)}")
        return [line.strip() for line in lines]

    def names(self, folder: Path, pattern: str, timeout_s: float) -> list[Path]:
        """Find paths by its shell; the pattern is ours."""
        command = f'cd {shlex.quote(str(folder))} && for f in {pattern}; do echo "$f"; done'
        lines = self._run(command, timeout_s).splitlines()
        return sorted(folder / line for line in lines if line and line != pattern)


class RunLine(Protocol):
    """Runs one line of shell on a machine."""

    def __call__(self, command: str, timeout_s: float) -> str:
        """Its output; raises HostError."""
