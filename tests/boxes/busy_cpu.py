"""A loop on a CPU that a box forwards on, so that it has a part of it."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


class BusyCpu:
    """At most one loop."""

    def __init__(self) -> None:
        self._loop: subprocess.Popen[bytes] | None = None

    def begin(self, cpu: int) -> None:
        """Run it there, ahead of most other programs."""
        loop = self._begin(cpu, "nice", "-n", "-10")
        with suppress(OSError):
            Path(f"/proc/{loop.pid}/autogroup").write_text("-20", encoding="ascii")

    def begin_beside(self, thread: str) -> None:
        """Run it as any program beside the kernel's threads of a name, on the last CPU."""
        found = [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/comm")
            if path.read_text(encoding="ascii").startswith(thread)
        ]
        cpu = max(os.sched_getaffinity(0))
        for one in found:
            os.sched_setaffinity(one, {cpu})
        self._begin(cpu)

    def _begin(self, cpu: int, *before: str) -> "subprocess.Popen[bytes]":
        words = ["taskset", "-c", str(cpu), *before, sys.executable, "-S", "-c", "while True: pass"]
        self._loop = subprocess.Popen(words, start_new_session=True)
        return self._loop

    def end(self) -> None:
        """End it, should it run."""
        if self._loop is not None:
            self._loop.kill()
            self._loop.wait()
            self._loop = None
