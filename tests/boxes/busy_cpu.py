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
        loop = ["nice", "-n", "-10", sys.executable, "-S", "-c", "while True: pass"]
        self._loop = subprocess.Popen(["taskset", "-c", str(cpu), *loop], start_new_session=True)
        with suppress(OSError):
            Path(f"/proc/{self._loop.pid}/autogroup").write_text("-20", encoding="ascii")

    def begin_beside(self, thread: str) -> None:
        """Run it beside the kernel's threads of a name, on the last CPU."""
        found = [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/comm")
            if path.read_text(encoding="ascii").startswith(thread)
        ]
        cpu = max(os.sched_getaffinity(0))
        for one in found:
            os.sched_setaffinity(one, {cpu})
        self.begin(cpu)

    def end(self) -> None:
        """End it, should it run."""
        if self._loop is not None:
            self._loop.kill()
            self._loop.wait()
            self._loop = None
