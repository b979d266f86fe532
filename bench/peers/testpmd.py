"""dpdk-testpmd, driven by its command line and read through DPDK's telemetry."""

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from bench.peers.model import NotMeasuredError, Place, Sample, Session
from bench.peers.session import packet_rate
from linerate.engine.telemetry import Telemetry, TelemetryError
from linerate.host import dpdk_runtime

PROGRAM = "dpdk-testpmd"
NULL_PORTS = ("net_null0", "net_null1")
#: testpmd takes no burst above 512.
BURSTS = (32, 64, 128, 256, 512)
BURST_SECONDS = 0.1
#: Fastest settings of testpmd without hugepages. DPDK then starts each buffer on a 4 KiB page of
#: its own, and all of them share few cache sets: small buffers put several on a page. And a cache
#: smaller than the burst would send each packet to the ring.
FASTEST = ("--mbuf-size=256", "--mbcache=512", "--total-num-mbufs=8192")
WITHOUT_HUGEPAGES = ("--no-huge", "-m", "256", "--no-shconf")
READY_SECONDS = 20.0
STOP_SECONDS = 5.0
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Testpmd:
    """Start parameters."""

    mode: str
    vdevs: tuple[str, ...]
    #: The memif driver needs buffers that hold what its peer may send.
    app: tuple[str, ...] = FASTEST
    burst: int = 32

    def command(self, place: Place, prefix: str) -> list[str]:
        """Command line for `place`."""
        memory = () if place.hugepages else WITHOUT_HUGEPAGES
        lcores = f"0@{place.main_cpu},1@{place.work_cpu}"
        eal = ["--lcores", lcores, "--main-lcore", "0", "--no-pci", "--file-prefix", prefix]
        vdevs = [f"--vdev={vdev}" for vdev in self.vdevs]
        app = ["-i", f"--forward-mode={self.mode}", "--nb-cores=1", f"--burst={self.burst}"]
        return [program(), *eal, *memory, *vdevs, "--", *app, *self.app]


def program() -> str:
    """Find it; it is in Debian's package dpdk-dev."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise NotMeasuredError(f"{PROGRAM} is not installed: `make peers` does it")
    return found


class Running:
    """A running testpmd; a context manager that leaves nothing behind."""

    def __init__(self, testpmd: Testpmd, place: Place) -> None:
        # Not as our engines are named: `linerate show` would take it for one.
        self._prefix = f"testpmd-linerate-{os.getpid()}-{next(_numbers)}"
        self._command = testpmd.command(place, self._prefix)
        self._log: IO[bytes] = tempfile.TemporaryFile(prefix="linerate-")  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None
        self._ports = range(len(testpmd.vdevs))
        self._telemetry: Telemetry | None = None

    def __enter__(self) -> "Running":
        try:
            # In its own process group: Ctrl-C is for us, and we stop it. It ends by itself
            # when its standard input does, which is when we are gone.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
            self._telemetry = self._connect(self._process)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self, process: subprocess.Popen[bytes]) -> Telemetry:
        """Wait until it can be talked to, by both ways."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                break
            if b"testpmd>" in self._words():
                for base in dpdk_runtime.bases():
                    with suppress(TelemetryError):
                        return Telemetry(base / self._prefix / "dpdk_telemetry.v2")
            time.sleep(0.02)
        lines = self._words().decode(errors="replace").strip().splitlines()
        raise NotMeasuredError(f"{PROGRAM} did not start: {(lines or ['no output'])[-1]}")

    def _words(self) -> bytes:
        return os.pread(self._log.fileno(), 1 << 20, 0)

    def tell(self, *commands: str) -> None:
        """Type commands."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{command}\n" for command in commands).encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise NotMeasuredError(f"{PROGRAM} stopped by itself") from error

    def rate(self, seconds: float) -> float:
        """Packets sent a second."""
        assert self._telemetry is not None
        commands = [f"/ethdev/stats,{port}" for port in self._ports]
        return packet_rate(self._telemetry, commands, "opackets", seconds)

    def close(self) -> None:
        """Stop it, politely first, and remove its runtime folder whatever happened."""
        if self._telemetry is not None:
            self._telemetry.close()
        try:
            if self._process is not None:
                self._end(self._process)
        finally:
            self._log.close()
            for base in dpdk_runtime.bases():
                dpdk_runtime.remove(base / self._prefix)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        try:
            with suppress(NotMeasuredError, ValueError):
                self.tell("stop", "quit")
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()
            if process.stdin is not None:
                with suppress(BrokenPipeError):
                    process.stdin.close()


@dataclass(frozen=True, slots=True)
class NullSession:
    """A testpmd that forwards on one core, at the burst that suits it best."""

    running: Running
    burst: int

    def sample(self, seconds: float) -> Sample:
        """Packets that it sent."""
        return Sample(self.running.rate(seconds), details={"peer_burst": float(self.burst)})


@contextmanager
def null_session(testpmd: Testpmd, place: Place, best: dict[Place, int]) -> Iterator[Session]:
    """Start it on net_null; finds the best burst unless `best` has it already."""
    with ExitStack() as stack:
        running = stack.enter_context(Running(testpmd, place))
        if place not in best:
            # Twice, at some distance: one moment of a busy machine does not choose.
            tried = [(_try_burst(running, burst), burst) for _ in range(2) for burst in BURSTS]
            best[place] = max(tried)[1]
        running.tell(f"set burst {best[place]}", "start")
        yield NullSession(running, best[place])


def _try_burst(running: Running, burst: int) -> float:
    running.tell(f"set burst {burst}", "start")
    try:
        return running.rate(BURST_SECONDS)
    finally:
        running.tell("stop")
