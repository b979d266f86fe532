"""Packets traced through a box while it forwards a load: where those that are lost end."""

import threading
from pathlib import Path
from typing import NamedTuple

from linerate.base.errors import SetupError
from linerate.lab.box.asked_box import Trace
from linerate.lab.rig import Rig
from linerate.lab.trial import run_trial
from linerate.model.box_trace import TracedPacket
from linerate.model.counting import counted
from linerate.model.measurement import Load, Measurement
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed

#: Packets are recorded from the middle of the load on: a loss of its first moment is another.
BEGIN_SHARE = 0.5


class TracedLoad(NamedTuple):
    """A load, and ways of some of its packets."""

    measurement: Measurement
    packets: tuple[TracedPacket, ...]


def trace_load(
    testbed: Testbed, loadtest: Loadtest, folder: Path, share: float, seconds: float, packets: int
) -> TracedLoad:
    """Offer a share of the line, and let the box record a number of packets of each input.

    Raises SetupError where the device can't.
    """
    load = Load(
        frame_bytes=loadtest.traffic.frame_bytes,
        directions=loadtest.links,
        link_bps=testbed.line_bps,
        scale_ppm=max(1, round(1e6 * share)),
        duration_us=round(1e6 * seconds),
        flows=loadtest.traffic.flows,
        protocol=loadtest.traffic.protocol,
        counted=counted(testbed),
        pushes_back=True,
        offered=loadtest.traffic.offered,
    )
    rig = Rig(testbed, lambda name: folder / name)
    with rig.with_box(), rig.under_test(loadtest, "trace") as trials:
        if trials.box is None:
            raise SetupError(f"dut: expected a box that records packets, not '{testbed.dut.kind}'")
        with trials.box.tracing(packets) as trace:
            later = _Later(trace, BEGIN_SHARE * seconds)
            measurement = run_trial(trials.tester, load, lambda _progress: None)
            later.ended()
            return TracedLoad(measurement, trace.read())


class _Later:
    """Begins a trace from within the load, beside the trial."""

    def __init__(self, trace: Trace, seconds: float) -> None:
        self._trace = trace
        self._error: SetupError | None = None
        self._timer = threading.Timer(seconds, self._begin)
        self._timer.daemon = True
        self._timer.start()

    def _begin(self) -> None:
        try:
            self._trace.begin()
        except SetupError as error:
            self._error = error

    def ended(self) -> None:
        """Wait until it has begun. Raises SetupError when it could not."""
        self._timer.join()
        if self._error is not None:
            raise self._error
