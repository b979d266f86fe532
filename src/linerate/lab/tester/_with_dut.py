"""A tester beside a device under test that counts for itself."""

from typing import Any

from linerate.lab.dut import AskedAtLoad, Running
from linerate.lab.tester._passed_on import PassedOn
from linerate.lab.tester.engine import EngineTester
from linerate.lab.trex.tester import TrexTester
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.measurement.flows import flows_of
from linerate.model.measurement.trial import RoundTrip


class WithDut(PassedOn):
    """The tester, with the device's counters among its own."""

    def __init__(self, tester: EngineTester | TrexTester, dut: Running, foreign: bool) -> None:
        """`foreign`: not all that the device does is known."""
        super().__init__(tester)
        self._engine = tester
        self._dut = dut
        self._foreign = foreign

    @property
    def info(self) -> dict[str, Any]:
        """The tester's engine's /linerate/info."""
        return self._engine.info

    def readings(self) -> Reading:
        """All counters of both; the device's losses come before the received packets."""
        mine = self._tester.readings()
        return joined(mine, self._dut.readings(self._engine.tsc_hz), self._foreign)

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Start all streams; for a given time where the device has workers of its own.

        Whether they were disturbed in a slice is not known to the tester.
        """
        own_workers = self._dut.workers(self._engine.tsc_hz)
        self._tester.start(duration_us, scale_ppm, 0 if own_workers else clean_us)
        if isinstance(self._dut, AskedAtLoad):
            self._dut.load_begins(duration_us)

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks of both."""
        return (*self._tester.workers(), *self._dut.workers(self._engine.tsc_hz))

    def ledger(self) -> PacketLedger:
        """Both ledgers alone, the device's as far as it can be asked at load."""
        return _around(self._tester.ledger(), self._dut.ledger())

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """None: not between processes."""
        return ()


def joined(mine: Reading, its: Reading, foreign: bool) -> Reading:
    """The tester's counters with the device's among them."""
    both = {
        name: getattr(mine, name) | getattr(its, name)
        for name in ("ports", "settings", "links", "queues", "rings")
    }
    return mine.model_copy(
        update=both
        | {
            "ledger": _around(mine.ledger, its.ledger),
            "workers": (*mine.workers, *its.workers),
            "errors": (*mine.errors, *its.errors),
            "flows": flows_of((its.flows, mine.flows)),
            "foreign": foreign,
            "box": its.box,
        }
    )


def _around(mine: PacketLedger, its: PacketLedger) -> PacketLedger:
    """The tester's with the device's in it, in path order."""
    sent = [entry for entry in mine.entries if entry.kind == "sent"]
    rest = [entry for entry in mine.entries if entry.kind != "sent"]
    return PacketLedger(entries=(*sent, *its.entries, *rest))
