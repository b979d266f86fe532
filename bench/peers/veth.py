"""Two cores over veth: our Linux drivers, and their equals in dpdk-testpmd and iperf3.

Each side is a rig of the lab's, as a matrix has it: the tester sends all that it can, and what
comes back, or what a receiver takes, is counted. The sender of a veth pays for the whole hop.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.model import Kind, NotMeasuredError, Place, Sample, Session, Side
from bench.peers.registry import register
from linerate.lab import rig
from linerate.lab.rig import Rig, Trials
from linerate.lab.trial import run_trial
from linerate.model.measurement import Load, Measurement
from linerate.model.suites import Loadtest, Traffic
from linerate.model.testbed import Testbed, with_options

FRAME_BYTES = 64
FULL_SCALE_PPM = 1_000_000
#: One flow, since that is all that iperf3 has.
ONE_WAY = Loadtest("veth", Traffic(FRAME_BYTES, "one"), 1)
BOTH_WAYS = Loadtest("veth", Traffic(FRAME_BYTES, "many"), 2)


@dataclass(frozen=True, slots=True)
class TrialSession:
    """A rig with a tester of ours."""

    trials: Trials
    testbed: Testbed
    loadtest: Loadtest

    def sample(self, seconds: float) -> Sample:
        """One trial at all that the tester can."""
        load = _load(self.testbed, self.loadtest, seconds)
        return _sample(run_trial(self.trials.tester, load, lambda _progress: None))


@dataclass(frozen=True, slots=True)
class ToolSession:
    """A rig whose tester is a program of others."""

    rig: Rig
    testbed: Testbed
    loadtest: Loadtest

    def sample(self, seconds: float) -> Sample:
        """Let it run once."""
        load = _load(self.testbed, self.loadtest, seconds)
        return _sample(self.rig.by_tool(self.loadtest, load, "peers"))


def _load(testbed: Testbed, loadtest: Loadtest, seconds: float) -> Load:
    return Load(
        frame_bytes=FRAME_BYTES,
        directions=loadtest.links,
        link_bps=testbed.line_bps,
        scale_ppm=FULL_SCALE_PPM,
        duration_us=round(seconds * 1e6),
        flows=loadtest.traffic.flows,
        pushes_back=True,
    )


def _sample(measurement: Measurement) -> Sample:
    pps = measurement.received.packets_per_second
    if not pps:
        raise NotMeasuredError("no packet came through")
    return Sample(pps)


def side(loadtest: Loadtest, **options: Any) -> Side:  # noqa: ANN401 (of with_options)
    """A testbed over veth, as the command line would make it of `options`."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        testbed = with_options(Testbed(cpus=place.cpus), wire="veth", **options)
        if lacking := rig.missing(testbed):
            raise NotMeasuredError(str(lacking[0]))
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="linerate-")))
            made = Rig(testbed, lambda name: folder / name)
            if testbed.by_tool:
                yield ToolSession(made, testbed, loadtest)
                return
            trials = stack.enter_context(made.under_test(loadtest, "peers"))
            yield TrialSession(trials, testbed, loadtest)

    return opened


for _driver, _theirs in (
    ("socket-mmap", "af_packet"),
    ("libpcap", "pcap"),
    ("af_xdp", "af_xdp"),
):
    register(
        Kind(
            name=f"veth-{_driver}",
            text=f"io of {_driver} between two veth pairs",
            ours=side(BOTH_WAYS, dut="io", dut_driver=_driver),
            peer=side(BOTH_WAYS, dut="testpmd", dut_driver=_theirs),
            peer_name=f"testpmd {_theirs}",
            cores=2,
        )
    )
register(
    Kind(
        name="veth-socket-vector",
        text="socket-vector sends through the kernel",
        ours=side(ONE_WAY, dut="kernel", driver="socket-vector"),
        peer=side(ONE_WAY, dut="kernel", tester="iperf3"),
        peer_name="iperf3 UDP",
        cores=2,
    )
)
