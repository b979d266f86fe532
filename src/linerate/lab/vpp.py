"""VPP as a process: its start-up configuration, its start and end, and its command line."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.host.netns import programs

PROGRAM = "vpp"
CLIENT = "vppctl"
PACKAGE = "vpp vpp-plugin-core"
#: With all plugins it takes a second; on a busy host many.
READY_SECONDS = 60.0
ANSWER_SECONDS = 20.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.05
#: Buffers of 2 KiB data: two rings of memif, frames in the graph, and some to spare.
BUFFERS = 16384
#: Pages of 4 KiB: no hugepages are needed.
_CONFIGURATION = """\
unix {{
  nodaemon
  nosyslog
  nocolor
  cli-listen {folder}/cli.sock
  cli-no-pager
  cli-no-banner
  runtime-dir {folder}
}}
cpu {{
  main-core {main}
  {workers}
}}
memory {{
  main-heap-size 256M
  main-heap-page-size 4k
}}
buffers {{
  buffers-per-numa {buffers}
  page-size 4k
}}
statseg {{
  socket-name {folder}/stats.sock
  page-size 4k
}}
socksvr {{
  socket-name {folder}/api.sock
}}
plugins {{
  plugin dpdk_plugin.so {{ disable }}
}}
"""


@dataclass(frozen=True, slots=True)
class Vpp:
    """Parameters of its start."""

    #: CPUs of its workers; without any, its main thread forwards.
    workers: tuple[int, ...]
    #: CPU that its main thread is pinned to at the start; none of the workers'.
    main: int
    #: CPU that its main thread stays on.
    main_stays: int

    def configuration(self, folder: Path) -> str:
        """Its startup.conf, with all its files in a folder. No card of the host is touched."""
        cpus = ",".join(map(str, self.workers))
        return _CONFIGURATION.format(
            folder=folder,
            main=self.main,
            workers=f"corelist-workers {cpus}" if cpus else "",
            buffers=BUFFERS,
        )

    @contextmanager
    def running(self, log: Path) -> Iterator["CommandLine"]:
        """Start it, bare of interfaces; nothing is left behind. Raises SetupError."""
        folder = Path(tempfile.gettempdir()) / ownership.new_name("vpp")
        folder.mkdir(mode=0o700)
        process: programs.Process | None = None
        try:
            configuration = folder / "startup.conf"
            configuration.write_text(self.configuration(folder), encoding="utf-8")
            cpus = tuple(dict.fromkeys((self.main, *self.workers)))
            with log.open("wb") as file:
                process = programs.start_in("", _dying_with_us(configuration), file, cpus)
            line = CommandLine(folder, process, log)
            line.await_ready()
            with contextlib.suppress(OSError):
                os.sched_setaffinity(process.pid, {self.main_stays})
            yield line
        finally:
            if process is not None:
                process.terminate()
                programs.end(process, STOP_SECONDS)
            shutil.rmtree(folder, ignore_errors=True)


def _dying_with_us(configuration: Path) -> list[str]:
    """Its command line; the kernel ends it when the lab is killed."""
    return ["setpriv", "--pdeathsig", "KILL", PROGRAM, "-c", str(configuration)]


class CommandLine:
    """The command line of a running VPP, over its socket."""

    def __init__(self, folder: Path, process: programs.Process, log: Path) -> None:
        self._process = process
        self._log = log
        self.folder = folder
        self.socket = folder / "cli.sock"

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def await_ready(self) -> None:
        """Wait until it answers. Raises SetupError."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise SetupError(f"{PROGRAM} stopped by itself: {programs.last_line(self._log)}")
            if self.socket.exists() and "vpp" in self._ran("show version"):
                return
            time.sleep(POLL_SECONDS)
        raise SetupError(
            f"{PROGRAM} does not answer after {READY_SECONDS:.0f} s; "
            f"{programs.last_line(self._log)}"
        )

    def configure(self, lines: str) -> None:
        """Run lines of its command line. Raises SetupError at the first that it refuses."""
        for line in lines.splitlines():
            command = line.partition("#")[0].strip()
            if command and (refusal := self._refusal(command)):
                raise SetupError(f"{PROGRAM}: `{command}`: {refusal}")

    def _refusal(self, command: str) -> str:
        """Why it does not do what a command says, or nothing."""
        file = self.folder / "commands.cli"
        file.write_text(f"{command}\n", encoding="utf-8")
        answer = self._ran(f"exec {file}")
        # It goes on after an error, and its status does not tell.
        if "CLI line error" not in answer:
            return ""
        lines = [line.strip() for line in answer.splitlines() if line.strip()]
        words = [line for line in lines if "CLI line error" not in line]
        # `exec` says where it stopped; the line itself, typed once more, why.
        return (words or [self._ran(command).strip()])[0][:200]

    def _ran(self, command: str) -> str:
        ran = programs.run_in("", [CLIENT, "-s", str(self.socket), command], seconds=ANSWER_SECONDS)
        return ran.stdout + ran.stderr
