"""The tester in linerate-engine, over its telemetry."""

from linerate import host
from linerate.evidence import Progress, Reading, WorkerReading
from linerate.evidence import engine as evidence
from linerate.evidence.model import RoundTrip
from linerate.telemetry import Telemetry


class EngineTester:
    """A tester (and, mostly, a device under test) in one engine."""

    def __init__(self, telemetry: Telemetry, cards: tuple[str, ...]) -> None:
        """`cards` are the virtual ones whose counters are evidence."""
        self._telemetry = telemetry
        self._cards = cards
        self.info = telemetry.ask("/linerate/info")
        self._tsc_hz = int(self.info["tsc_hz"])
        self._pid = int(self.info["pid"])
        self._workers = telemetry.table("/linerate/workers")

    def readings(self) -> Reading:
        """All counters of the process."""
        return evidence.read_all(self._telemetry, self._tsc_hz, self._cards)

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks alone."""
        return tuple(
            evidence.worker_reading(
                row, self._telemetry.ask(f"/linerate/runtime,{row['name']}"), self._tsc_hz
            )
            for row in self._workers
        )

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """Measure between the workers; none when tester and forwarder are one."""
        if not any(row["role"] == "forwarder" for row in self._workers):
            return ()
        return evidence.read_roundtrips(self._telemetry)

    def steal_seconds(self) -> dict[str, float]:
        """By worker, of its CPU."""
        steal = host.steal_seconds()
        return {row["name"]: steal.get(row["cpu"], 0.0) for row in self._workers}

    def involuntary_switches(self) -> dict[str, int]:
        """By worker, of its thread."""
        return {
            row["name"]: host.involuntary_switches(self._pid, row["tid"]) or 0
            for row in self._workers
        }

    def start(self, duration_us: int, scale_ppm: int) -> None:
        """Start all streams."""
        self._telemetry.ask(
            f"/linerate/trial/start,duration_us={duration_us},scale_ppm={scale_ppm}"
        )

    def stop(self) -> None:
        """Stop sending now."""
        self._telemetry.ask("/linerate/trial/stop")

    def progress(self) -> Progress:
        """How far the trial is."""
        return evidence.read_progress(self._telemetry)
