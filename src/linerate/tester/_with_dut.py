"""A tester beside a device under test that counts for itself."""

from typing import Any

from linerate.dut import Running
from linerate.ledger import PacketLedger
from linerate.measurement import Progress, Reading, WorkerReading
from linerate.measurement.flows import flows_of
from linerate.measurement.model import RoundTrip
from linerate.tester.engine import EngineTester


class WithDut:
    """The tester, with the device's counters among its own."""

    def __init__(self, tester: EngineTester, dut: Running, foreign: bool) -> None:
        """`foreign`: not all that the device does with packets is known."""
        self._tester = tester
        self._dut = dut
        self._foreign = foreign

    @property
    def info(self) -> dict[str, Any]:
        """What the tester's engine says of itself."""
        return self._tester.info

    def readings(self) -> Reading:
        """All counters of both; the device's losses stand before what came back."""
        mine, its = self._tester.readings(), self._dut.readings(self._tester.tsc_hz)
        sent = [entry for entry in mine.ledger.entries if entry.kind == "sent"]
        rest = [entry for entry in mine.ledger.entries if entry.kind != "sent"]
        return Reading(
            ledger=PacketLedger(entries=(*sent, *its.ledger.entries, *rest)),
            workers=(*mine.workers, *its.workers),
            errors=(*mine.errors, *its.errors),
            ports=mine.ports | its.ports,
            cards=mine.cards,
            rings=mine.rings | its.rings,
            streams=mine.streams,
            flows=flows_of((its.flows, mine.flows)),
            foreign=self._foreign,
        )

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks of both."""
        return (*self._tester.workers(), *self._dut.workers(self._tester.tsc_hz))

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """None: not between processes."""
        return ()

    def steal_seconds(self) -> dict[str, float]:
        """Of the tester's workers."""
        return self._tester.steal_seconds()

    def involuntary_switches(self) -> dict[str, int]:
        """Of the tester's workers."""
        return self._tester.involuntary_switches()

    def kernel_seconds(self) -> dict[str, float]:
        """Of the tester's workers."""
        return self._tester.kernel_seconds()

    def lock_wait_seconds(self) -> dict[str, float]:
        """Of the tester's workers."""
        return self._tester.lock_wait_seconds()

    def start(self, duration_us: int, scale_ppm: int) -> None:
        """Start all streams."""
        self._tester.start(duration_us, scale_ppm)

    def stop(self) -> None:
        """Stop sending now."""
        self._tester.stop()

    def progress(self) -> Progress:
        """How far the trial is."""
        return self._tester.progress()
