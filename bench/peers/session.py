"""Our engine, started for a benchmark and measured through its telemetry."""

import itertools
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.model import NotMeasuredError, Place
from linerate.engine.engine_process import Engine, Files, refusal
from linerate.engine.telemetry import Telemetry, rows

#: Caches fill and clocks rise before anything is measured.
WARM_UP_SECONDS = 0.2
#: A trial that outlasts every benchmark; the engine is stopped before it ends.
FOREVER_US = 3_600_000_000
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class NodeClocks:
    """Counters of a node in the interval."""

    packets: int
    clocks: int

    @property
    def per_packet(self) -> float:
        """Cycles a packet."""
        return self.clocks / self.packets if self.packets else 0.0


def packet_rate(
    telemetry: Telemetry, commands: Iterable[str], counter: str, seconds: float
) -> float:
    """Sum one counter of several answers, as a rate per second.

    Ours and DPDK's own counters are read the same way. Each reading's time is the middle
    of asking, so that a slow answer counts for half.
    """
    asked = tuple(commands)

    def read() -> tuple[float, int]:
        before = time.monotonic()
        total = sum(int(telemetry.ask(command)[counter]) for command in asked)
        return (before + time.monotonic()) / 2, total

    time.sleep(WARM_UP_SECONDS)
    start, first = read()
    time.sleep(seconds)
    end, last = read()
    if last == first:
        raise NotMeasuredError("no packet was forwarded")
    return (last - first) / (end - start)


@dataclass(frozen=True, slots=True)
class EngineSession:
    """A running engine."""

    telemetry: Telemetry
    tsc_hz: float
    #: The last one, and all of them.
    worker: str
    workers: tuple[str, ...] = ()

    def rate(self, ports: Iterable[str], counter: str, seconds: float) -> float:
        """Packets a second, by a counter of /linerate/port."""
        commands = [f"/linerate/port,{port}" for port in ports]
        return packet_rate(self.telemetry, commands, counter, seconds)

    def send_forever(self) -> None:
        """Start the streams."""
        start = f"/linerate/trial/start,duration_us={FOREVER_US},scale_ppm=1000000"
        self.telemetry.ask(start)

    def node_clocks(self, seconds: float) -> tuple[float, Mapping[str, NodeClocks]]:
        """Cycles that passed, and what each node of the last worker did in them."""
        return self._node_clocks(seconds, (self.worker,))

    def all_node_clocks(self, seconds: float) -> tuple[float, Mapping[str, NodeClocks]]:
        """The same of all workers: a node's are added up."""
        return self._node_clocks(seconds, self.workers)

    def _node_clocks(
        self, seconds: float, workers: tuple[str, ...]
    ) -> tuple[float, Mapping[str, NodeClocks]]:
        time.sleep(WARM_UP_SECONDS)
        first, before = self._runtime(workers)
        time.sleep(seconds)
        last, after = self._runtime(workers)
        nothing = {"vectors": 0, "clocks": 0}
        return last - first, {
            name: NodeClocks(
                node["vectors"] - before.get(name, nothing)["vectors"],
                node["clocks"] - before.get(name, nothing)["clocks"],
            )
            for name, node in after.items()
        }

    def _runtime(self, workers: tuple[str, ...]) -> tuple[int, dict[str, dict[str, int]]]:
        """When it was asked, and what each node had done until then."""
        nodes: dict[str, dict[str, int]] = {}
        answers = [self.telemetry.ask(f"/linerate/runtime,{worker}") for worker in workers]
        for answer in answers:
            for row in rows(answer, "/linerate/runtime"):
                sums = nodes.setdefault(str(row["node"]), {"vectors": 0, "clocks": 0})
                for what in sums:
                    sums[what] += int(row[what])
        return int(answers[0]["tsc"]), nodes


@contextmanager
def engine_session(config: dict[str, Any], place: Place) -> Iterator[EngineSession]:
    """Start an engine for `config`; nothing of it is left behind."""
    named = {"name": f"self-{os.getpid()}-{next(_numbers)}", "cpus": list(place.cpus), **config}
    with tempfile.TemporaryDirectory(prefix="linerate-") as folder:
        keep = Files(Path(folder) / "config.json", Path(folder) / "log")
        with Engine(named, keep, place.cpus) as engine, engine.connect() as telemetry:
            info = telemetry.ask("/linerate/info")
            workers = telemetry.table("/linerate/workers")
            names = tuple(str(worker["name"]) for worker in workers)
            yield EngineSession(telemetry, float(info["tsc_hz"]), names[-1], names)


def check(config: dict[str, Any]) -> None:
    """Raise NotMeasuredError when this engine does not know what `config` asks for."""
    if reason := refusal(config):
        raise NotMeasuredError(reason)
