"""`linerate bench` with the real engine: the laws hold whatever the machine does.

No timing is asserted: on a busy machine a trial may be invalid, but it is never wrong.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.command import result_of
from tests.host import HostWatch
from tests.system import labs
from tests.system.labs import Lab, wait_for

from linerate.engine.engine_process import live_engines
from linerate.results.store import Run, load_measurement, load_run

GAVE_UP = "trials in a row have no result"
#: Repetitions of a bench without valid trials.
BENCHES = 3
SHORT = ("--duration", "500ms", "--json")


def linerate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linerate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)


def bench(folder: Path, *arguments: str) -> tuple[dict[str, Any], Run]:
    """Measure, again where the bench gave up because the host had no CPU for any of its trials."""
    host = HostWatch()
    for _ in range(BENCHES):
        done = linerate("bench", *arguments, *SHORT, "--runs", str(folder))
        document: dict[str, Any] = result_of(done.stdout)
        if document["status"] == "complete":
            break
        assert GAVE_UP in done.stderr, done.stderr
    if document["status"] != "complete":
        host.no_result(done.stderr.splitlines()[-1])
    return document, load_run(Path(document["run"]))


def check_laws(document: dict[str, Any], run: Run) -> None:
    """Both ledgers balance in every attempt, and nothing invalid is reported."""
    assert [trial["test"] for trial in document["trials"]] == list(run.tests)
    for result in run.results:
        assert result.packets.sent > 0
        assert result.packets.unexplained == 0
        assert result.packets.violations == []
        for ledger in result.time:
            assert ledger.closes, f"{ledger.worker}: {ledger.closed_percent} %"
    for number in range(1, len(run.ceilings) + 1):
        assert load_measurement(Path(document["run"]), f"ceiling-{number}").packets.unexplained == 0
    for trial in document["trials"]:
        assert trial["valid"] == (trial["limit"] != "invalid") == (not trial["invalid"])
        assert trial["valid"] == (trial["received_pps"] is not None)
        assert 0 <= (trial["line_percent"] or 0) < 100.2


@pytest.mark.parametrize("dut", ["router", "io", "macswap"])
@pytest.mark.smoke("router")
def test_both_ledgers_balance(tmp_path: Path, dut: str) -> None:
    document, run = bench(tmp_path, "--dut", dut, "--only", "U1,U2,B2,B4")
    check_laws(document, run)
    assert run.environment.memory in ("hugepages", "thp")
    if dut == "router":
        # Everything offered is for the router to route: it drops nothing by itself.
        for result in run.results:
            assert not [
                place for place in result.packets.losses if place.startswith(("ip4", "mpls"))
            ]


@pytest.mark.parametrize(
    ("card", "limits"),
    [
        ("{pps_ceiling: 500000}", {"card-pps"}),
        ("{pcie: {gigatransfers: 2.5, lanes: 1, max_payload_bytes: 128}}", {"pcie"}),
        ("{link: 100M}", {"line"}),
        ("{link: 100M, rx_ring: 64, tx_ring: 128}", {"line"}),
        # Tester or worker, or neither at the load that a busy host leaves; never the line.
        ("{link: 100G, rx_queues: 4}", {"tester", "worker-cpu", "none"}),
    ],
)
def test_the_limit_that_is_set_is_the_limit_that_is_named(
    tmp_path: Path, card: str, limits: set[str]
) -> None:
    """Benches are repeated until each loadtest had a valid trial, a few times at most."""
    testbed = tmp_path / "testbed.yaml"
    testbed.write_text(f"card: {card}\ndut: {{mode: io}}\n")
    host, missing = HostWatch(), ["U2", "B2"]
    for _ in range(BENCHES):
        document, run = bench(tmp_path, str(testbed), "--only", ",".join(missing))
        check_laws(document, run)
        for trial in document["trials"]:
            if trial["valid"]:
                assert trial["limit"] in limits, trial["verdict"]["sentence"]
                missing.remove(trial["test"])
        if not missing:
            return
    host.no_result(f"{', '.join(missing)}: no valid trial in {BENCHES} benches")


def test_the_tables_are_printed(tmp_path: Path) -> None:
    arguments = ("bench", "--dut", "io", "--only", "U1,U2", "--duration", "500ms")
    printed = linerate(*arguments, "--runs", str(tmp_path)).stdout
    (folder,) = tmp_path.iterdir()
    assert "% of line" in printed
    ledger = linerate("show", "ledger", str(folder), "U2").stdout
    assert "unexplained" in ledger
    assert "accounted for" in ledger


def own_engines(lab: int) -> dict[str, Path]:
    return {name: path for name, path in live_engines().items() if f"-{lab}-" in name}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A bench that has measured U1, and is held in the midst of U2."""
    words = ("--dut", "io", "--only", "U1,U2", "--duration", "2s", "--json")
    with labs.lab("bench", *words, "--runs", str(tmp_path)) as lab:
        wait_for(lambda: labs.sends(tmp_path, "U2"))
        labs.hold(lab)
        yield lab


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_ended_lab_leaves_no_engine(lab: Lab, tmp_path: Path, number: int) -> None:
    assert own_engines(lab.pid)
    lab.send_signal(number)
    labs.release(lab)
    lab.communicate(timeout=labs.ENDS_IN_SECONDS)
    assert lab.returncode == (-number if number == signal.SIGKILL else 128 + number)
    wait_for(lambda: not own_engines(lab.pid))
    (folder,) = tmp_path.iterdir()
    run = load_run(folder)
    assert run.reported()[0].test == "U1"
    assert run.status == ("running" if number == signal.SIGKILL else "interrupted")


def test_an_ended_engine_ends_the_run_and_loses_nothing(lab: Lab) -> None:
    (children,) = Path(f"/proc/{lab.pid}/task").glob(f"{lab.pid}/children")
    (engine,) = children.read_text().split()
    os.kill(int(engine), signal.SIGKILL)
    labs.release(lab)
    output = lab.communicate(timeout=labs.ENDS_IN_SECONDS)[0]
    assert lab.returncode == 1
    document = result_of(output)
    assert document["status"] == "failed"
    assert document["trials"][0]["test"] == "U1"
    assert own_engines(lab.pid) == {}
