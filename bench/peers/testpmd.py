"""dpdk-testpmd as a peer, with the memory and CPUs that ours has."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.peers.model import NotMeasuredError, Place, Sample, Session
from bench.peers.session import packet_rate
from linerate.engine.telemetry import Telemetry, TelemetryError
from linerate.host import dpdk_runtime
from linerate.lab.testpmd import PROGRAM, Console, Testpmd

NULL_PORTS = ("net_null0", "net_null1")
#: testpmd takes no burst above 512.
BURSTS = (32, 64, 128, 256, 512)
BURST_SECONDS = 0.1
#: Fastest settings of testpmd without hugepages. DPDK then starts each buffer on a 4 KiB page of
#: its own, and all of them share few cache sets: small buffers put several on a page. And a cache
#: smaller than the burst would send each packet to the ring.
FASTEST = ("--mbuf-size=256", "--mbcache=512", "--total-num-mbufs=8192")
WITHOUT_HUGEPAGES = ("--no-huge", "-m", "256", "--no-shconf")


def forwarder(mode: str, vdevs: tuple[str, ...], place: Place, burst: int = 32) -> Testpmd:
    """A testpmd that forwards in `mode` between `vdevs`."""
    memory = () if place.hugepages else WITHOUT_HUGEPAGES
    cpus = (place.main_cpu, place.work_cpu)
    return Testpmd(mode, vdevs, cpus, (f"--burst={burst}", *FASTEST), memory)


@dataclass(frozen=True, slots=True)
class Running:
    """A running testpmd: its command line, and DPDK's telemetry."""

    console: Console
    telemetry: Telemetry
    ports: int

    def rate(self, seconds: float) -> float:
        """Packets sent a second."""
        commands = [f"/ethdev/stats,{port}" for port in range(self.ports)]
        return packet_rate(self.telemetry, commands, "opackets", seconds)


@contextmanager
def started(testpmd: Testpmd) -> Iterator[Running]:
    """Start it; it is in Debian's package dpdk-dev."""
    if shutil.which(PROGRAM) is None:
        raise NotMeasuredError(f"{PROGRAM} is not installed: `make peers` does it")
    with (
        tempfile.TemporaryDirectory(prefix="linerate-") as folder,
        testpmd.running(Path(folder) / "testpmd.log") as console,
        closing(_telemetry(console.prefix)) as telemetry,
    ):
        yield Running(console, telemetry, len(testpmd.vdevs))


def _telemetry(prefix: str) -> Telemetry:
    for base in dpdk_runtime.bases():
        with suppress(TelemetryError):
            return Telemetry(base / prefix / "dpdk_telemetry.v2")
    raise NotMeasuredError(f"{PROGRAM} has no telemetry")


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
    with started(testpmd) as running:
        if place not in best:
            # Twice, at some distance: one moment of a busy machine does not choose.
            tried = [(_try_burst(running, burst), burst) for _ in range(2) for burst in BURSTS]
            best[place] = max(tried)[1]
        running.console.ask(f"set burst {best[place]}", "start")
        yield NullSession(running, best[place])


def _try_burst(running: Running, burst: int) -> float:
    running.console.ask(f"set burst {burst}", "start")
    try:
        return running.rate(BURST_SECONDS)
    finally:
        running.console.ask("stop")
