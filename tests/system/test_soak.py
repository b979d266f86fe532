"""`linerate soak` with the real engine: read while it flies, exact at the end, kept when stopped."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from tests.command import result_of
from tests.system import labs

from linerate.results.store import load_measurement, load_run

SOAK = ("soak", "--dut", "io", "--card", "link=1G")


def test_a_soak_that_is_stopped_balances(tmp_path: Path) -> None:
    """One long trial, ended by a signal: lines, evidence, and a ledger that is exact."""
    words = ("--load", "30%", "--for", "1h", "--every", "1s", "--runs", str(tmp_path))
    with labs.lab(*SOAK, *words) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(3)]
        running.send_signal(signal.SIGTERM)
        rest = running.stdout.read()
        running.wait(timeout=labs.ENDS_IN_SECONDS)
    assert running.returncode == 128 + signal.SIGTERM
    assert all("Mpps" in line and "UNEXPLAINED" not in line for line in lines)
    (folder,) = tmp_path.iterdir()
    run = load_run(folder)
    assert run.status == "interrupted"
    assert run.soak is not None
    assert run.soak.unexplained == 0
    assert run.soak.verdict in rest
    (result,) = run.results
    assert result.packets.violations == []
    assert all(ledger.closes for ledger in result.time)
    assert run.soak.sent == result.packets.sent > 3 * 0.3 * 1e9 / 672 * 0.5
    evidence = load_measurement(folder, result.trial)
    assert evidence.progress.drained
    minutes = [json.loads(line) for line in (folder / "minutes.jsonl").read_text().splitlines()]
    assert len(minutes) == run.soak.intervals >= 3
    totals = [minute["sent_total"] for minute in minutes]
    assert totals == sorted(totals)
    assert totals[-1] <= run.soak.sent
    assert all(minute["unexplained"] == 0 for minute in minutes)
    assert sum(minute["lost"] for minute in minutes) <= result.packets.sent


def test_random_loss_is_explained_and_stops_where_any_does(tmp_path: Path) -> None:
    testbed = tmp_path / "loses.yaml"
    testbed.write_text("card: {link: 1G}\ndut: {mode: io, lose: {probability: 0.001}}\n")
    done = subprocess.run(
        [sys.executable, "-m", "linerate", SOAK[0], str(testbed), "--load", "30%", "--for", "60s", "--every", "1s",
         "--stop-at", "any", "--json", "--runs", str(tmp_path / "runs")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    document = result_of(done.stdout)
    assert done.returncode == 1
    assert document["unexplained"] == 0
    assert document["lost"] > 0
    assert document["seconds"] < 30
    assert any("lost at random" in place for place in document["trials"][0]["ledger"]["losses"])
    assert "lost " in done.stderr
