"""Latency streams and a device that delays, with the real engine.

No frame can come before its delay is over, however busy the machine; how late it comes is up to
the machine, so that is not asserted.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.command import result_of
from tests.system.configs import card_config, stream
from tests.system.trials import Outcome, run_trial

from linerate.base import histogram
from linerate.engine.engine_process import Engine, Files
from linerate.engine.readings import read_latency
from linerate.model.measurement.latency import StreamLatency
from linerate.results.store import load_measurement, load_run

DELAY_US = 2000
#: All frames of a trial at 20,000 frames a second and stream fit into a ring, so none is lost
#: however long a worker is descheduled.
ROOMY = {"rx_ring": 8192, "tx_ring": 8192}


def timed_trial(
    folder: Path, forwarder: dict[str, Any] | None, pps: float = 20_000
) -> tuple[Outcome, tuple[StreamLatency, ...]]:
    timed = [stream(i, name=f"timed{i}", latency=True, rate={"pps": pps}) for i in range(2)]
    plain = [stream(i, name=f"plain{i}", rate={"pps": pps}) for i in range(2)]
    config = card_config(ROOMY, forwarder, [*timed, *plain]) | {"name": folder.name}
    with Engine(config, Files(folder / "config.json", folder / "log")) as engine:
        run_trial(engine, 0.1)
        outcome = run_trial(engine, 0.2)
        with engine.connect() as telemetry:
            return outcome, read_latency(telemetry)


def check(outcome: Outcome, latency: tuple[StreamLatency, ...]) -> None:
    assert outcome.unexplained == 0
    assert outcome.status["drained"] == 1
    assert [(one.stream, one.port, one.rx_port) for one in latency] == [
        ("timed0", "t0", "t1"),
        ("timed1", "t1", "t0"),
    ]
    for one in latency:
        # Frames of this trial alone, without earlier ones.
        assert one.count + one.disturbed == 4_000
        assert one.damaged == 0
        kept = [text for text in (one.histogram, one.disturbed_histogram) if text]
        assert sum(histogram.from_text(text).total_count for text in kept) == 4_000
        assert one.jitter_count == max(0, one.count - 1)
        assert one.min_ns * one.count <= one.sum_ns <= one.max_ns * one.count


@pytest.mark.parametrize("forwarder", [None, {"mode": "io"}])
@pytest.mark.smoke("forwarder1")
def test_each_timed_frame_is_in_a_histogram(
    tmp_path: Path, forwarder: dict[str, Any] | None
) -> None:
    check(*timed_trial(tmp_path, forwarder))


def test_no_frame_comes_before_its_delay(tmp_path: Path) -> None:
    outcome, latency = timed_trial(tmp_path, {"mode": "io", "delay": {"us": DELAY_US}})
    check(outcome, latency)
    assert outcome.losses() == {}
    for one in latency:
        for text in filter(None, (one.histogram, one.disturbed_histogram)):
            assert histogram.from_text(text).get_min_value() >= DELAY_US * 1000 * 0.999
        assert one.count == 0 or one.min_ns >= DELAY_US * 1000


def test_what_finds_no_room_to_wait_is_named(tmp_path: Path) -> None:
    outcome, latency = timed_trial(
        tmp_path, {"mode": "io", "delay": {"us": 100_000}}, pps=3_000_000
    )
    assert outcome.unexplained == 0
    assert outcome.losses()["delay-e0: no room to delay"] > 0
    assert outcome.of_kind("held") == 0
    assert all(one.count + one.disturbed > 0 for one in latency)


def test_latency_over_load_is_kept_whole(tmp_path: Path) -> None:
    testbed = tmp_path / "late.yaml"
    testbed.write_text("dut: {mode: io, delay: {us: 500}}\n")
    command = [sys.executable, "-m", "linerate", "latency", str(testbed), "--ndr", "200000"]
    command += ["--loads", "50,100", "--duration", "300ms", "--json", "--runs", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    document = result_of(done.stdout)
    folder = Path(document["run"])
    run = load_run(folder)
    assert [point["load_percent"] for point in document["points"]] == [50, 100]
    assert (folder / "report.html").stat().st_size > 20_000
    for result in run.results:
        assert result.packets.violations == []
        assert result.verdict.sentence
        assert load_measurement(folder, result.trial).latency
    for point in document["points"]:
        (one,) = point["latency"]
        assert one["count"] + one["disturbed"] > 0
        assert one["min_us"] is None or one["min_us"] >= 500
        (own,) = point["own_latency"]
        assert own["count"] + own["disturbed"] > 0
        assert own["min_us"] is None or one["min_us"] is None or own["min_us"] < 500
    assert done.returncode == (0 if all(one["valid"] for one in document["points"]) else 1)


def test_a_usage_mistake_is_one_line() -> None:
    command = [sys.executable, "-m", "linerate", "latency", "--loads", "0,10"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == ("the command line: --loads: expected 1 to 100, as 10,50,100; not '0'\n")
