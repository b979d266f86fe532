"""dpdk-testpmd as a process: its start, its command line, what its ports count."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.host import dpdk_runtime
from linerate.host.netns import programs
from linerate.parsers.text import text_of
from linerate.parsers.tools.testpmd_stats import testpmd_stats

PROGRAM = "dpdk-testpmd"
PACKAGE = "dpdk-dev"
READY_SECONDS = 30.0
ANSWER_SECONDS = 10.0
STOP_SECONDS = 5.0
#: Options of DPDK without hugepages: each buffer starts on a 4 KiB page of its own.
WITHOUT_HUGEPAGES = ("--no-huge", "-m", "512", "--no-shconf", "--no-telemetry")
BUFFERS = ("--burst=64", "--mbcache=512", "--total-num-mbufs=32768")
_PROMPT = b"testpmd>"


@dataclass(frozen=True, slots=True)
class Testpmd:
    """Parameters of its start."""

    __test__ = False  # pytest would take it for a test class

    #: Forwarding mode.
    mode: str
    #: Ports, as after `--vdev=`.
    vdevs: tuple[str, ...]
    #: CPU of its command line, and CPU that forwards.
    cpus: tuple[int, int]
    app: tuple[str, ...] = BUFFERS
    memory: tuple[str, ...] = WITHOUT_HUGEPAGES
    netns: str = ""

    def command(self, prefix: str) -> list[str]:
        """Command line."""
        lcores = f"0@{self.cpus[0]},1@{self.cpus[1]}"
        eal = ["--lcores", lcores, "--main-lcore", "0", "--no-pci", "--file-prefix", prefix]
        vdevs = [f"--vdev={vdev}" for vdev in self.vdevs]
        app = ["-i", f"--forward-mode={self.mode}", "--nb-cores=1", *self.app]
        # Its words stay in the order of its prompts, which it does not buffer.
        return ["stdbuf", "-oL", PROGRAM, *eal, *self.memory, *vdevs, "--", *app]

    @contextmanager
    def running(self, log: Path) -> Iterator["Console"]:
        """Start it; it does not forward yet. Nothing is left behind. Raises SetupError."""
        prefix = ownership.new_name("testpmd")
        console: Console | None = None
        try:
            console = Console(self, prefix, log)
            yield console
        finally:
            if console is not None:
                console.close()
            for base in dpdk_runtime.bases():
                dpdk_runtime.remove(base / prefix)


class Console:
    """testpmd's command line: commands go in by a pipe, what it prints is a file."""

    def __init__(self, testpmd: Testpmd, prefix: str, log: Path) -> None:
        self.prefix = prefix
        self._log = log
        cpus = tuple(dict.fromkeys(testpmd.cpus))
        with log.open("wb") as file:
            self._process = programs.start_in(testpmd.netns, testpmd.command(prefix), file, cpus)
        try:
            self._wait(0, 1, READY_SECONDS)
        except BaseException:
            programs.end(self._process, 0)
            raise

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def ask(self, *commands: str) -> str:
        """Type commands, and return the output until all are done. Raises SetupError."""
        before = self._log.stat().st_size
        self._type(commands)
        return self._wait(before, len(commands), ANSWER_SECONDS)

    def _type(self, commands: tuple[str, ...]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in commands).encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error

    def _wait(self, offset: int, prompts: int, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self._log.open("rb") as file:
                file.seek(offset)
                reply = file.read()
            if reply.count(_PROMPT) >= prompts:
                return reply.decode(errors="replace")
            if self._process.poll() is not None:
                raise self._ended()
            time.sleep(0.02)
        raise SetupError(f"{PROGRAM} does not answer; {programs.last_line(self._log)}")

    def _ended(self) -> SetupError:
        return SetupError(f"{PROGRAM} stopped by itself: {programs.cause(self._log)}")

    def close(self) -> None:
        """Stop it, politely first."""
        with contextlib.suppress(SetupError):
            self.ask("stop")
            self._type(("quit",))
        programs.end(self._process, STOP_SECONDS)


def port_counters(reply: str) -> dict[int, dict[str, int]]:
    """Counters of each port, by its number, in what testpmd printed."""
    evidence = testpmd_stats(text_of(reply, PROGRAM))
    ports = evidence.ports if evidence else ()
    return {int(port.name.removeprefix("port ")): port.counters for port in ports}
