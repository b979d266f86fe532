"""A forwarder that is descheduled for a moment.

The losses are in slices that count as the host's, and the trial goes on until it has enough others.
"""

import os
import subprocess
import sys

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine

from linerate.analysis.validity import ledger_violated
from linerate.lab.tester.engine import EngineTester
from linerate.lab.trial import run_trial
from linerate.model.measurement import Load, Progress
from linerate.model.measurement.slices import limit_us

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a real-time program")

#: A ring of 1,024 lasts 2 ms at this rate.
PPS = 500_000
#: Keeps a CPU for 30 ms, before all that is no real-time program.
KEEP = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
until = time.monotonic() + 0.03
while time.monotonic() < until: pass
"""


def test_what_a_moment_off_its_cpu_cost_is_left_out(start_engine: StartEngine) -> None:
    streams = [stream(0, rate={"pps": PPS}), stream(1, rate={"pps": PPS})]
    engine = start_engine(card_config({}, {"mode": "io"}, streams))
    with engine.connect() as telemetry:
        tester = EngineTester(telemetry, ("card0",))
        (cpu,) = (one.cpu for one in tester.workers() if one.role == "forwarder")
        kept: list[int] = []

        def keep_its_cpu(progress: Progress) -> None:
            if progress.elapsed_us > 100_000 and not kept:
                words = [sys.executable, "-c", KEEP, str(cpu)]
                kept.append(subprocess.run(words, check=False).returncode)

        load = Load(
            frame_bytes=64,
            directions=2,
            link_bps=10**10,
            scale_ppm=1_000_000,
            duration_us=600_000,
        )
        measurement = run_trial(tester, load, keep_its_cpu)
    assert kept == [0]
    slices = measurement.slices
    assert slices is not None
    disturbed = [one for one in slices.slices if one.disturbed]
    assert any(one.worker == "forwarder-0" and one.away_us > 5_000 for one in disturbed)
    lost = sum(one.lost for one in disturbed)
    assert lost > 1_000
    assert list(ledger_violated(measurement)) == []
    assert sum(place.lost for place in slices.places) == sum(measurement.packets.losses.values())
    assert sum(place.lost_disturbed for place in slices.places) == lost
    assert slices.left_out(measurement.lost) == lost
    enough = slices.clean_us >= load.clean_us
    assert enough or slices.slices[-1].end_us >= limit_us(load.duration_us, load.clean_us)
    assert not enough or slices.slices[-1].end_us > load.duration_us
