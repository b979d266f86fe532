"""`linerate search` with the real engine: limits of a known size are found.

On a busy host a search may find no valid trial; it is never wrong. It is repeated a few times; then
there is nothing to compare, and the test is skipped if others had the CPUs, and fails if not.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.command import result_of
from tests.host import HostWatch

from linerate.engine.engine_process import executable
from linerate.results.store import load_measurement, load_run

#: Repetitions of a search without a result.
SEARCHES = 3
#: Tolerance of the known value, either way.
WITHIN = 0.005
LOSES = 0.002


def search(folder: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "linerate", "search", *arguments, "--duration", "500ms",
               "--json"]  # fmt: skip
    host = HostWatch()
    for _ in range(SEARCHES):
        done = subprocess.run(
            [*command, "--runs", str(folder)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        document: dict[str, Any] = result_of(done.stdout)
        check_laws(Path(document["run"]))
        assert done.returncode == (0 if document["found"] else 1), done.stderr
        if document["found"]:
            break
    if not document["found"]:
        host.no_result(document["problem"])
    return document


def check_laws(folder: Path) -> None:
    """Both ledgers balance in every trial, and each has its evidence and verdict."""
    results = load_run(folder).results
    assert results
    for result in results:
        assert result.packets.violations == []
        assert result.verdict.sentence
        assert all(ledger.closes for ledger in result.time)
        load_measurement(folder, result.trial)


@pytest.mark.smoke
def test_a_cards_packet_rate_is_found(tmp_path: Path) -> None:
    document = search(tmp_path, "--card", "pps=1M,link=10G", "--dut", "io")
    ndr, pdr = document["goals"]
    assert ndr["lower_pps"] == pytest.approx(1e6, rel=WITHIN)
    assert pdr["lower_pps"] == pytest.approx(1e6 / 0.995, rel=WITHIN)
    assert ndr["limit"] == "card-pps"
    assert "card packet rate" in json.dumps(document["trials"][0]["ledger"]["losses"])


def counting_starts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have each start of the engine add a line to the file returned."""
    starts, program = folder / "starts", folder / "counted-engine"
    program.write_text(f'#!/bin/sh\necho start >> {starts}\nexec {executable()} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("LINERATE_ENGINE", str(program))
    return starts


def test_who_loses_at_random_has_a_pdr_and_no_ndr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = counting_starts(tmp_path, monkeypatch)
    testbed = tmp_path / "loses.yaml"
    testbed.write_text(
        "card: {link: 1G}\n"
        f"dut: {{mode: io, lose: {{probability: {LOSES}}}}}\n"
    )  # fmt: skip
    document = search(tmp_path / "runs", str(testbed), "--goal", "0.1%")
    searches = len(list((tmp_path / "runs").iterdir()))
    # The bare link's ceiling, and all loads of the search: an engine each, whatever their number.
    assert len(starts.read_text().splitlines()) == 2 * searches
    assert len({trial["offered_pps"] for trial in document["trials"]}) >= 10
    ndr, tenth, pdr = document["goals"]
    assert ndr["lower_pps"] is None
    assert tenth["lower_pps"] is None or tenth["lower_pps"] < pdr["lower_pps"] / 2
    assert pdr["lower_pps"] == pytest.approx(document["max_pps"], rel=WITHIN)
    assert pdr["upper_pps"] is None
    assert any(trial["valid"] for trial in document["trials"])
    for trial in document["trials"]:
        if trial["valid"]:
            lost = trial["ledger"]["losses"].get("lose-e0: lost at random", 0)
            share = lost / trial["ledger"]["sent"]
            assert share == pytest.approx(LOSES, abs=5 * (LOSES / trial["ledger"]["sent"]) ** 0.5)
