"""Cost of each rx mode: the worker's CPU without traffic, and ping through it.

Two hosts in network namespaces with the engine (`io`) between their tap devices. The time
of a ping is that of both kernels and of four passes of a tap device as well: what differs
between the modes is the worker's waking up, twice a ping.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.peers.model import Kind, NotMeasuredError, Place, Sample, Session, Side
from bench.peers.registry import register
from bench.peers.session import EngineSession, engine_session
from linerate.model.testbed import RX_MODES

MEGABYTES = 128
PINGS = 100
#: Rarer than an adaptive worker lingers.
PING_INTERVAL_SECONDS = 0.01
_TIME = re.compile(r"time=([0-9.]+) ms")


def _run(command: str) -> str:
    output = subprocess.run(
        command.split(), capture_output=True, text=True, check=False, timeout=60
    )
    if output.returncode != 0:
        lines = (output.stderr or output.stdout).strip().splitlines() or ["no output"]
        raise NotMeasuredError(f"{command}: {lines[-1]}")
    return output.stdout


def _host(stack: ExitStack, number: int, device: str) -> str:
    """Make a namespace with the tap device and an address of its own; returns its name."""
    namespace = f"{device}-host"
    _run(f"ip netns add {namespace}")
    stack.callback(_run, f"ip netns delete {namespace}")
    _run(f"ip link set {device} netns {namespace}")
    inside = f"ip netns exec {namespace}"
    _run(f"{inside} ip address add 10.99.0.{number + 1}/24 dev {device}")
    _run(f"{inside} ip link set {device} up")
    return namespace


def _config(place: Place, rx_mode: str, devices: list[str]) -> dict[str, Any]:
    ports = [
        {"name": f"e{i}", "driver": "ethdev", "device": f"net_tap{i}", "devargs": f"iface={name}"}
        for i, name in enumerate(devices)
    ]
    forwarder = {"mode": "io", "ports": ["e0", "e1"], "rx_mode": rx_mode}
    memory = {"pages": place.pages, "megabytes": MEGABYTES}
    return {"memory": memory, "ports": ports, "forwarder": forwarder}


@dataclass(frozen=True, slots=True)
class PingSession:
    """Two hosts that ping each other through the engine."""

    engine: EngineSession
    namespace: str

    def sample(self, seconds: float) -> Sample:
        """Watch the idle worker for so long, then ping."""
        idle_percent = self._busy_percent(seconds)
        ping = f"ping -c {PINGS} -i {PING_INTERVAL_SECONDS} -W 1 10.99.0.2"
        awake, started = self._awake_clocks(), time.monotonic()
        output = _run(f"ip netns exec {self.namespace} {ping}")
        awake, elapsed = self._awake_clocks() - awake, time.monotonic() - started
        times_us = [1e3 * float(found) for found in _TIME.findall(output)]
        if len(times_us) < PINGS // 2:
            raise NotMeasuredError(f"{len(times_us)} of {PINGS} pings were answered")
        details = {
            "idle_cpu_percent": idle_percent,
            "ping_median_us": median(times_us),
            "ping_p95_us": quantiles(times_us, n=20)[-1],
        }
        packets = 2 * len(times_us)
        return Sample(packets / elapsed, awake / packets, self.engine.tsc_hz, details)

    def _awake_clocks(self) -> int:
        """Cycles that the worker has not slept, whatever it did with them."""
        runtime = self.engine.telemetry.ask(f"/linerate/runtime,{self.engine.worker}")
        return int(runtime["tsc"] - runtime["started_tsc"] - runtime["sleep_clocks"])

    def _busy_percent(self, seconds: float) -> float:
        """CPU share of the worker's thread without traffic."""
        info = self.engine.telemetry.ask("/linerate/info")
        (worker,) = self.engine.telemetry.table("/linerate/workers")
        stat = Path(f"/proc/{info['pid']}/task/{worker['tid']}/stat")

        def used() -> float:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        before, started = used(), time.monotonic()
        # The kernel counts in ticks of 10 ms.
        time.sleep(max(seconds, 1.0))
        return 100 * (used() - before) / (time.monotonic() - started)


def _side(rx_mode: str) -> Side:
    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        if os.geteuid() != 0 or any(shutil.which(tool) is None for tool in ("ip", "ping")):
            raise NotMeasuredError("network namespaces need root, ip and ping")
        devices = [f"lrx{os.getpid() % 100000}{side}" for side in "ab"]
        with ExitStack() as stack:
            config = _config(place, rx_mode, devices)
            engine = stack.enter_context(engine_session(config, place))
            first, _ = (_host(stack, number, name) for number, name in enumerate(devices))
            # Neighbour and IPv6 address discovery are over.
            time.sleep(2)
            _run(f"ip netns exec {first} ping -c 3 -i 0.2 -W 1 10.99.0.2")
            yield PingSession(engine, first)

    return opened


for _rx_mode in RX_MODES:
    register(
        Kind(name=f"rx-{_rx_mode}", text=f"rx mode {_rx_mode}: ping over tap", ours=_side(_rx_mode))
    )
