"""A tester behind another: what is not changed is passed on."""

from linerate.host.cpu_counters import Moment
from linerate.host.machine import Switches
from linerate.lab.tester import Tester
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Progress, Reading, Slices, WorkerReading
from linerate.model.measurement.trial import RoundTrip


class PassedOn:
    """All that a tester can do, done by the one inside; others change parts of it."""

    def __init__(self, tester: Tester) -> None:
        self._tester = tester

    def await_links(self) -> None:
        """As the tester's."""
        self._tester.await_links()

    def readings(self) -> Reading:
        """As the tester's."""
        return self._tester.readings()

    def ledger(self) -> PacketLedger:
        """As the tester's."""
        return self._tester.ledger()

    def workers(self) -> tuple[WorkerReading, ...]:
        """As the tester's."""
        return self._tester.workers()

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """As the tester's."""
        return self._tester.roundtrips()

    def steal_seconds(self) -> dict[str, float]:
        """As the tester's."""
        return self._tester.steal_seconds()

    def switches(self) -> dict[str, Switches]:
        """As the tester's."""
        return self._tester.switches()

    def moments(self) -> dict[str, Moment]:
        """As the tester's."""
        return self._tester.moments()

    def kernel_seconds(self) -> dict[str, float]:
        """As the tester's."""
        return self._tester.kernel_seconds()

    def lock_wait_seconds(self) -> dict[str, float]:
        """As the tester's."""
        return self._tester.lock_wait_seconds()

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """As the tester's."""
        self._tester.start(duration_us, scale_ppm, clean_us)

    def stop(self) -> None:
        """As the tester's."""
        self._tester.stop()

    def progress(self) -> Progress:
        """As the tester's."""
        return self._tester.progress()

    def slices(self) -> Slices | None:
        """As the tester's."""
        return self._tester.slices()
