"""Device `external`: two ports and a note; nothing of it can be started, or asked."""

from collections.abc import Iterator
from contextlib import contextmanager

from linerate.base.prerequisites import Prerequisite
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.links import Ends
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed


class _Unknown:
    """A device that tells nothing."""

    def readings(self, _tsc_hz: int) -> Reading:
        """No counters."""
        return Reading(ledger=PacketLedger(), workers=())

    def workers(self, _tsc_hz: int) -> tuple[WorkerReading, ...]:
        """No worker."""
        return ()

    def ledger(self) -> PacketLedger:
        """No counters."""
        return PacketLedger()


class ExternalDut:
    """Somebody else sets it up; `dut.macs` of the testbed file says where frames are sent."""

    name = "external"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Nothing."""
        return []

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """Whatever it is set up for."""
        return ALL_FRAMES

    def routes(self, _testbed: Testbed) -> bool:
        """As the standard suite wants it."""
        return True

    @contextmanager
    def running(self, _testbed: Testbed, _ends: Ends, _place: Place) -> Iterator[Running]:
        """Leave it alone."""
        yield _Unknown()


register(ExternalDut())
