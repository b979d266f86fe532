"""Whether a box is set up as a scenario says: 1,000 frames a second, each compared."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from linerate.analysis.scenario_frames.judging import Crossing, Judgement, judge
from linerate.base.errors import SetupError
from linerate.engine.frame_capture import CaptureOrder, FrameCapture
from linerate.experiments.first_packets import slow_load
from linerate.experiments.scenarios.preparing import Prepared
from linerate.lab.engine_config import dut_macs
from linerate.lab.links.veth import DUT_INTERFACE_MAC
from linerate.lab.rig import Rig, Trials
from linerate.lab.trial import OnProgress, run_trial
from linerate.model.captured_frame import CapturedFrame
from linerate.model.frame_layers import decode
from linerate.model.measurement import Load, Measurement, Progress
from linerate.model.suites import TESTER_PORTS, Loadtest
from linerate.model.testbed import Testbed

#: Each direction.
PACKETS_PER_SECOND = 1000
SECONDS = 1.0
#: Fewer show nothing of a box.
FRAMES_MIN = 20
#: Frames that wait to be read, which they are several times a second.
RING = 16384
#: The same of frames longer than this: the engine gives a capture 64 MB.
LONG_BYTES, LONG_RING = 2000, 4096
#: Frames that a box holds back come within this time after the last one was sent.
SETTLE_SECONDS = 0.2
#: Places of losses that are named.
PLACES = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """Outcome for the frames of one loadtest."""

    loadtest: str
    text: str
    judgement: Judgement
    #: Packets by place of loss, most first, as tester and box count them.
    losses: tuple[tuple[str, int], ...]

    @property
    def passed(self) -> bool:
        """Whether every frame was received as expected."""
        return not self.judgement.mistakes

    @property
    def lost(self) -> str:
        """Where frames were lost, in words; nothing where none was."""
        named = [f"{place} {packets:,}" for place, packets in self.losses[:PLACES]]
        return ", ".join(named)


def check(prepared: Prepared, rig: Rig, loadtest: Loadtest, on_progress: OnProgress) -> Checked:
    """Send frames of a loadtest through the box, and compare those received.

    Raises SetupError where that can't be done.
    """
    with rig.under_test(loadtest, f"check-{loadtest.name}") as trials:
        frames, measurement = _captured(trials, prepared.testbed, loadtest, on_progress)
    sent = list(_crossings(frames, is_sent=True))
    if len(sent) < FRAMES_MIN:
        raise SetupError(
            f"{loadtest.name}: the tester sent {len(sent)} frames in {SECONDS:g} s, expected "
            f"{PACKETS_PER_SECOND:,}: the machine is too busy for a check"
        )
    received = list(_crossings(frames, is_sent=False))
    return Checked(
        loadtest=loadtest.name,
        text=loadtest.text,
        judgement=judge(sent, received, prepared.back, box_macs(prepared.testbed)),
        losses=_losses(measurement),
    )


def refusal(checked: Checked, prepared: Prepared) -> str:
    """Why nothing is measured, in a line; nothing when all frames are as expected."""
    if checked.passed:
        return ""
    use = prepared.use
    first, *others = checked.judgement.mistakes
    more = f" and {len(others)} more" if others else ""
    lost = f"; lost: {checked.lost}" if checked.lost else ""
    return (
        f"{use.name} on {use.box} is not set up as expected: {checked.loadtest}: "
        f"{first.sentence}{more}{lost}; nothing was measured: `linerate scenario check "
        f"{use.name} --box {use.box}` has more"
    )


def box_macs(testbed: Testbed) -> tuple[str, str]:
    """MAC addresses of the box's ports, from which it sends what it routes."""
    if testbed.dut.kind == "testpmd" and testbed.wire != "memif":
        # Its ports are as the interfaces that it opens.
        return DUT_INTERFACE_MAC.format(0), DUT_INTERFACE_MAC.format(1)
    return dut_macs(testbed)


def _captured(
    trials: Trials, testbed: Testbed, loadtest: Loadtest, on_progress: OnProgress
) -> tuple[dict[str, list[CapturedFrame]], Measurement]:
    """Frames that the tester's ports sent and received, by port."""
    if trials.telemetry is None:
        raise SetupError("a scenario's frames are compared by our tester alone: expected no other")
    frames: dict[str, list[CapturedFrame]] = {port: [] for port in TESTER_PORTS}
    ring = RING if _longest(testbed) <= LONG_BYTES else LONG_RING
    with ExitStack() as stack:
        captures = {
            port: stack.enter_context(
                FrameCapture(trials.telemetry, CaptureOrder(port, "both", ring=ring))
            )
            for port in TESTER_PORTS
        }

        def watch(progress: Progress) -> None:
            on_progress(progress)
            for port, capture in captures.items():
                frames[port] += capture.read()

        measurement = run_trial(trials.tester, _load(testbed, loadtest), watch)
        trials.check()
        time.sleep(SETTLE_SECONDS)
        for port, capture in captures.items():
            frames[port] += _rest(capture)
        missed = sum(capture.counters.missed for capture in captures.values())
    if missed:
        raise SetupError(
            f"{loadtest.name}: {missed:,} frames more than can be compared: is there a loop?"
        )
    return frames, measurement


def _longest(testbed: Testbed) -> int:
    """Longest frame that a port takes."""
    return testbed.card.max_frame_bytes if testbed.wire == "card" else 0


def _rest(capture: FrameCapture) -> Iterator[CapturedFrame]:
    """Frames that still wait."""
    capture.stop()
    capture.is_empty = False
    while not capture.is_empty:
        yield from capture.read()


def _load(testbed: Testbed, loadtest: Loadtest) -> Load:
    directions = len(loadtest.traffic.sides(loadtest.directions))
    return slow_load(testbed, loadtest, directions * PACKETS_PER_SECOND, SECONDS)


def _crossings(frames: dict[str, list[CapturedFrame]], *, is_sent: bool) -> Iterator[Crossing]:
    for port, some in frames.items():
        for frame in some:
            if frame.is_sent == is_sent:
                yield Crossing(port, decode(frame.data), frame.data)


def _losses(measurement: Measurement) -> tuple[tuple[str, int], ...]:
    found = [
        (entry.place, entry.packets)
        for entry in measurement.packets.entries
        if entry.kind == "loss" and entry.packets
    ]
    return tuple(sorted(found, key=lambda loss: -loss[1]))
