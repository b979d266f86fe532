"""A program at a terminal of tmux's: keys are sent to it, and texts waited for."""

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

WAIT_SECONDS = 30.0
POLL_SECONDS = 0.1
SESSION_NICE = "-20"
COLUMNS, ROWS, HISTORY = 160, 60, 20_000


class Terminal:
    """One, until it is left."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]):
        self._socket = folder / "tmux"
        self._command = command
        self._environment = environment

    def __enter__(self) -> Self:
        words = " ".join(
            f"{name}={shlex.quote(value)}" for name, value in self._environment.items()
        )
        # tmux itself says it too, but for a program whose terminal closes before it is waited for.
        line = f"env {words} {shlex.join(self._command)}; echo ended with $?"
        self._tmux(
            *("-f", os.devnull, "set-option", "-g", "history-limit", str(HISTORY), ";"),
            *("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), line, ";"),
            # What a program that has ended wrote last can still be read.
            *("set-option", "-w", "remain-on-exit", "on"),
        )
        self._hurry()
        return self

    def _hurry(self) -> None:
        """Have its sessions go before others, as an engine's does: it polls on every CPU."""
        pids = self._tmux("display-message", "-p", "#{pid} #{pane_pid}")
        for pid in pids.split():
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/autogroup").write_text(SESSION_NICE)

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server", check=False)

    def text(self) -> str:
        """All that was written so far, and is not cleared away."""
        return self._tmux("capture-pane", "-p", "-J", "-S", f"-{HISTORY}")

    def line(self, text: str, *expected: str) -> str:
        """Type a line and wait for all of some texts behind it; returns what was written."""
        before = self.text().rstrip()
        self._tmux("send-keys", "-l", text)
        self._tmux("send-keys", "Enter")
        return self.wait(*expected, behind=before)

    def keys(self, *names: str) -> None:
        """Press keys, by tmux's names."""
        self._tmux("send-keys", *names)

    def wait(self, *expected: str, behind: str = "") -> str:
        """Wait for texts; returns what was written."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            whole = self.text()
            # The prompt's line is there already: the line that was typed goes on in it.
            found = whole[len(behind) :] if whole.startswith(behind) else whole
            missing = [one for one in expected if one not in found]
            if not missing:
                return found
            assert time.monotonic() < until, f"no {missing} in:\n{found[-6000:]}"
            time.sleep(POLL_SECONDS)

    def _tmux(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout
