"""`--traffic` with the real engine: every frame is of the stream that its profile says.

What is offered is exact however busy the machine is, so an invalid trial is looked at too.
"""

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from tests.command import result_of

from linerate.report.of_run import document_of
from linerate.report.render import terminal
from linerate.results.store import load_run

STREAMS = 4200


def bench(folder: Path, *arguments: str) -> tuple[dict[str, Any], Path]:
    command = [sys.executable, "-m", "linerate", "bench", "--dut", "io", "--duration", "300ms"]
    done = subprocess.run(
        [*command, *arguments, "--json", "--runs", str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    document: dict[str, Any] = result_of(done.stdout)
    assert document["problem"] == ""
    return document["trials"][0], Path(document["run"])


def check_shares(streams: list[dict[str, Any]], weights: list[int]) -> None:
    """Each stream sent its weight in every whole round, and no more than it in the last one."""
    sent = [stream["sent"] for stream in streams]
    rounds = sum(sent) // sum(weights)
    assert rounds > 0
    for count, weight in zip(sent, weights, strict=True):
        assert rounds * weight <= count <= (rounds + 1) * weight


def check_ledger(trial: dict[str, Any]) -> None:
    ledger = trial["ledger"]
    streams = trial["streams"]
    assert ledger["sent"] == sum(stream["sent"] for stream in streams)
    assert ledger["unexplained"] == 0
    if "received" in streams[0]:
        assert ledger["received"] == sum(stream["received"] for stream in streams)
        lost = sum(stream["lost"] for stream in streams)
        assert lost == ledger["sent"] - ledger["received"]


@pytest.mark.smoke
def test_imix_is_seven_four_one_in_every_round(tmp_path: Path) -> None:
    trial, _ = bench(tmp_path, "--traffic", "imix", "--rate", "5%")
    check_ledger(trial)
    for direction in (0, 1):
        streams = [one for one in trial["streams"] if one["direction"] == direction]
        assert [one["frame_bytes"] for one in streams] == [64, 594, 1518]
        check_shares(streams, [7, 4, 1])
    assert trial["profile"]["profile"] == "imix"
    assert trial["profile"]["rate"] == "5%"
    assert trial["profile"]["sizes"]["64"] == pytest.approx(7 / 12)


def test_thousands_of_streams_have_results_of_their_own(tmp_path: Path) -> None:
    weights = [1 + number % 5 for number in range(STREAMS)]
    layers = [{"ipv4": {"src": "16.0.0.1", "dst": "48.0.0.1"}}, {"udp": {}}]
    file = tmp_path / "many.yaml"
    streams = [
        {"name": f"s{number}", "weight": weight, "frame_bytes": 64, "layers": layers}
        for number, weight in enumerate(weights)
    ]
    file.write_text(yaml.safe_dump({"streams": streams}))
    trial, run = bench(tmp_path, "--traffic", str(file), "--rate", "5%")
    check_ledger(trial)
    check_shares(trial["streams"], weights)
    assert [one["name"] for one in trial["streams"]] == [f"s{n}" for n in range(STREAMS)]
    reported = StringIO()
    terminal.show(Console(file=reported, width=80), document_of(load_run(run), run))
    assert f"{STREAMS:,} streams, mean frame 64.0 B" in reported.getvalue()
    if trial["valid"]:
        assert f"{STREAMS - 10:,} more: --json" in reported.getvalue()


def test_frames_without_signature_count_by_the_ledger(tmp_path: Path) -> None:
    file = tmp_path / "unsigned.yaml"
    file.write_text(
        "streams:\n"
        "  - signature: false\n"
        "    rate: {pps: 20000}\n"
        "    layers: [{ipv4: {src: 16.0.0.1, dst: 48.0.0.1}}, {udp: {}}]\n"
    )
    trial, _ = bench(tmp_path, "--traffic", str(file), "--rate", "1x")
    check_ledger(trial)
    ledger = trial["ledger"]
    assert ledger["sent"] == 6000
    assert ledger["received"] == 0
    assert not trial["profile"]["signed"]
    if trial["valid"]:
        lost = ledger["sent"] - ledger["other"]
        assert trial["loss_percent"] == pytest.approx(100 * lost / ledger["sent"])
