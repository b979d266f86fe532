"""Device `engine`: our forwarder, in a process of its own (on other wires it is the tester's)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linerate.base.prerequisites import Prerequisite
from linerate.engine import readings
from linerate.engine.engine_process import Engine, Files
from linerate.engine.telemetry import Telemetry
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.engine_config import dut_config, refused_macs, with_macs
from linerate.lab.links import Ends
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed


class _RunningEngine:
    """A forwarder, over its telemetry."""

    def __init__(self, telemetry: Telemetry, config: dict[str, Any]) -> None:
        self._telemetry = telemetry
        self.refused_macs = refused_macs(config, telemetry.table("/linerate/ports"))
        self._tsc_hz = int(telemetry.ask("/linerate/info")["tsc_hz"])

    def readings(self, _tsc_hz: int) -> Reading:
        """All counters of the process."""
        return readings.read_all(self._telemetry, self._tsc_hz, ())

    def workers(self, _tsc_hz: int) -> tuple[WorkerReading, ...]:
        """Clocks alone."""
        return readings.read_workers(self._telemetry, self._tsc_hz)

    def ledger(self) -> PacketLedger:
        """The packet ledger alone."""
        return readings.read_ledger(self._telemetry)


class EngineDut:
    """Our own engine."""

    name = "engine"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Nothing that the tester does not need."""
        return []

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """All."""
        return ALL_FRAMES

    def routes(self, testbed: Testbed) -> bool:
        """In mode router."""
        return testbed.dut.mode == "router"

    @contextmanager
    def running(self, testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Start an engine that has the forwarder alone."""
        config = with_macs(dut_config(testbed, ends, place.name, place.networks), place.macs)
        config["cpus"] = list(place.cpus)
        files = Files(place.file("config.json"), place.file("log"))
        with Engine(config, files, place.cpus) as engine, engine.connect() as telemetry:
            yield _RunningEngine(telemetry, config)


register(EngineDut())
