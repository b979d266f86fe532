"""The tester in linerate-engine, over its telemetry."""

from typing import Any

from linerate.engine import readings
from linerate.engine.telemetry import Telemetry
from linerate.host import cpu_counters, machine
from linerate.lab.tester._links import PortLinks, await_links, text_of
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Progress, Reading, Slices, WorkerReading
from linerate.model.measurement.slices import limit_us
from linerate.model.measurement.trial import RoundTrip


class EngineTester:
    """A tester (and, mostly, a device under test) in one engine."""

    def __init__(
        self, telemetry: Telemetry, cards: tuple[str, ...], links: PortLinks | None = None
    ) -> None:
        """`cards` are the virtual ones whose counters are evidence; waits for `links`.

        Raises SetupError when one does not come up.
        """
        self._telemetry = telemetry
        self._cards = cards
        self._links = links
        self.info: dict[str, Any] = telemetry.ask("/linerate/info")
        if links is not None:
            self.info["links"] = text_of(await_links(links))
        self.tsc_hz = int(self.info["tsc_hz"])
        self._pid = int(self.info["pid"])
        self._workers = telemetry.table("/linerate/workers")

    def await_links(self) -> None:
        """Wait until no link is down; raises SetupError."""
        if self._links is not None:
            await_links(self._links)

    def resolve(self, port: str, address: str, vlan: int | None) -> str:
        """Ask a neighbour for its MAC address; raises RefusedError, which says why not."""
        where = "" if vlan is None else f",{vlan}"
        answer = self._telemetry.ask(f"/linerate/resolve,{port},{address}{where}")
        return str(answer["mac"]).lower()

    def readings(self) -> Reading:
        """All counters of the process."""
        return readings.read_all(self._telemetry, self.tsc_hz, self._cards)

    def ledger(self) -> PacketLedger:
        """The packet ledger of the process."""
        return readings.read_ledger(self._telemetry)

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks alone."""
        return tuple(
            readings.worker_reading(
                row, self._telemetry.ask(f"/linerate/runtime,{row['name']}"), self.tsc_hz
            )
            for row in self._workers
        )

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """Measure between the workers; none when tester and forwarder are one."""
        if not any(row["role"] == "forwarder" for row in self._workers):
            return ()
        return readings.read_roundtrips(self._telemetry)

    def steal_seconds(self) -> dict[str, float]:
        """By worker, of its CPU."""
        steal = machine.steal_seconds()
        return {row["name"]: steal.get(row["cpu"], 0.0) for row in self._workers}

    def switches(self) -> dict[str, machine.Switches]:
        """By worker, of its thread."""
        gone = machine.Switches(0, 0)
        return {
            row["name"]: machine.switches(self._pid, row["tid"]) or gone for row in self._workers
        }

    def moments(self) -> dict[str, cpu_counters.Moment]:
        """By worker, of its CPU."""
        return {row["name"]: cpu_counters.read(row["cpu"]) for row in self._workers}

    def kernel_seconds(self) -> dict[str, float]:
        """By worker, of its thread."""
        return {row["name"]: machine.kernel_seconds(self._pid, row["tid"]) for row in self._workers}

    def lock_wait_seconds(self) -> dict[str, float]:
        """By worker; a lock of its own is named after it."""
        locks = self._telemetry.table("/linerate/locks")
        return {
            row["name"]: sum(
                lock["wait_clocks"] / self.tsc_hz
                for lock in locks
                if str(lock["name"]).endswith(row["name"])
            )
            for row in self._workers
        }

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Start all streams."""
        command = f"/linerate/trial/start,duration_us={duration_us},scale_ppm={scale_ppm}"
        if clean_us:
            command += f",clean_us={clean_us},limit_us={limit_us(duration_us, clean_us)}"
        self._telemetry.ask(command)

    def stop(self) -> None:
        """Stop sending now."""
        self._telemetry.ask("/linerate/trial/stop")

    def progress(self) -> Progress:
        """Progress of the trial."""
        return readings.read_progress(self._telemetry)

    def slices(self) -> Slices | None:
        """Slices of the last trial."""
        return readings.read_slices(self._telemetry)
