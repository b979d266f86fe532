"""The server's program, as a process of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

COMMAND = (sys.executable, "-m", "linerate", "trex", "--sync-port", "0", "--async-port", "0")
END_SECONDS = 30


@contextlib.contextmanager
def server(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], tuple[str, str]]]:
    """The process and its two ports, while it serves; runs go into a folder."""
    with subprocess.Popen(
        (*COMMAND, "--runs", folder, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                if line.startswith("-Per port stats table"):
                    break
            found = re.search(r"ports (\d+) and (\d+)", "".join(lines))
            assert found is not None, process.stderr.read()
            yield process, (found[1], found[2])
        finally:
            process.kill()


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[str, str]]:
    """The server's two ports, while it serves; it ends without a complaint."""
    with server(folder, *options) as (process, ports):
        yield ports
        process.send_signal(signal.SIGTERM)
        assert process.wait(END_SECONDS) == 0
