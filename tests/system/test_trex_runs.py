"""Traffic of TRex's clients as runs: read by other commands, kept when the server is killed."""

import time
from pathlib import Path

import pytest
from tests.command import run_command
from tests.system.trex_server import server, serving
from tests.trex_client import CLIENT, run_client

from linerate.results.journal import read
from linerate.results.store import load_measurement, load_run

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")
WAIT_SECONDS = 30


def folders(runs: Path) -> list[Path]:
    return sorted(one for one in runs.iterdir() if (one / "run.json").exists())


@pytest.mark.smoke
def test_a_session_is_a_run_with_a_trial_from_start_to_stop(tmp_path: Path) -> None:
    with serving(tmp_path) as ports:
        sent = run_client("trafficgen", ports)["sent"]
        run_client("csit", ports)
    first, second = (load_run(one) for one in folders(tmp_path))
    assert (first.suite, first.status, second.status) == ("trex", "complete", "complete")
    # Both ports overlap: one trial.
    (result,) = first.results
    assert result.packets.sent == sum(sent)
    assert not result.packets.violations
    assert result.packets.sent == result.packets.received + sum(result.packets.losses.values())
    assert result.directions == 2
    measurement = load_measurement(folders(tmp_path)[0], result.trial)
    assert measurement.progress.elapsed_us >= 2_000_000
    assert measurement.progress.asked_packets == pytest.approx(8000, abs=2)
    assert {name.split("-")[0] for name in measurement.streams} == {"p0", "p1"}
    assert second.results[0].latency

    lines = list(read(folders(tmp_path)[0] / "live.jsonl"))
    samples = [line for line in lines if line["event"] in ("sample", "closed")]
    in_samples = sum(
        count for line in samples for _, kind, count in line["packets"] if kind == "sent"
    )
    assert in_samples == result.packets.sent
    assert [line["event"] for line in lines].count("result") == 1

    other_commands_read(folders(tmp_path)[0], tmp_path)


def other_commands_read(folder: Path, tmp_path: Path) -> None:
    shown = run_command(("report", str(folder)), tmp_path, {})
    assert shown.returncode == 0, shown.stderr
    assert "T1" in (folder / "report.html").read_text()
    listed = run_command(("runs", "--runs", str(tmp_path)), tmp_path, {})
    assert folder.name in listed.stdout


def test_a_killed_server_leaves_what_was_measured(tmp_path: Path) -> None:
    with server(tmp_path) as (process, ports):
        run_client("trafficgen", ports)
        run_client("csit_start", ports)
        until = time.monotonic() + WAIT_SECONDS
        while not any(one.results for one in map(load_run, folders(tmp_path)[1:])):
            assert time.monotonic() < until
            time.sleep(0.2)
        process.kill()
        process.wait(WAIT_SECONDS)
    first, second = (load_run(one) for one in folders(tmp_path))
    assert first.status == "complete"
    (result,) = second.results
    assert (second.status, result.valid) == ("running", False)
    assert result.invalid == ("not ended: counters were read while it went on",)
    assert result.packets.sent > 0
    assert load_measurement(folders(tmp_path)[1], result.trial).packets.sent == result.packets.sent


def test_a_client_that_leaves_its_traffic_is_followed_by_one_that_stops_it(tmp_path: Path) -> None:
    with serving(tmp_path) as ports:
        run_client("csit_start", ports)
        made = run_client("csit_stop", ports)
    assert made["was_sending"] == [True, True]
    assert all(made["sent"])
    (run_of_both,) = (load_run(one) for one in folders(tmp_path))
    (result,) = run_of_both.results
    assert result.packets.sent == sum(made["sent"])
