"""`linerate sweep` and `linerate matrix` with the real engine, on the virtual card.

No rate is asserted: on a busy machine a trial may be invalid, but it is never wrong.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.command import result_of
from tests.system import labs
from tests.system.labs import wait_for

from linerate.engine.engine_process import live_engines
from linerate.results.store import Run, load_measurement, load_run

SHORT = ("--duration", "300ms", "--repeat", "1")


def linerate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linerate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)


def measured(folder: Path, *arguments: str) -> tuple[dict[str, Any], Run]:
    done = linerate(*arguments, *SHORT, "--json", "--runs", str(folder))
    document = result_of(done.stdout)
    assert document["status"] == "complete", done.stderr
    assert done.returncode in (0, 1)
    return document, load_run(Path(document["run"]))


def check_laws(run: Run, folder: Path) -> None:
    """Both ledgers balance in every attempt."""
    assert run.results
    for result in run.results:
        assert result.packets.sent + result.packets.originated > 0
        assert result.packets.violations == [] or result.test.startswith("tx-only")
        for ledger in result.time:
            assert ledger.closes, f"{ledger.worker}: {ledger.closed_percent} %"
        load_measurement(folder, result.trial)


@pytest.mark.smoke
def test_a_small_sweep(tmp_path: Path) -> None:
    document, run = measured(
        tmp_path, "sweep", "--config", "mode=io", "--config", "mode=router", "--sizes", "64,1518"
    )
    folder = Path(document["run"])
    check_laws(run, folder)
    points = document["points"]
    assert [(point["configuration"], point["frame_bytes"]) for point in points] == [
        ("io", 64), ("router", 64), ("io", 1518), ("router", 1518),
    ]  # fmt: skip
    for point in points:
        assert (point["received_pps"] is None) == (not point["trial"]["valid"])
        assert 0 <= (point["line_percent"] or 0) < 100.2
    assert "Percent of line over frame size" in (folder / "report.html").read_text()
    assert linerate("explain", str(folder)).returncode == 0


def test_a_matrix_of_what_does_not_forward(tmp_path: Path) -> None:
    """Modes that consume all, modes that originate, and two loopbacks at once."""
    only = ("--only", "rx-only,tx-only,loopback-4")
    document, run = measured(tmp_path, "matrix", *only)
    check_laws(run, Path(document["run"]))
    by_name = {result.test: result for result in run.reported()}
    assert list(by_name) == ["rx-only@64", "tx-only@64", "loopback-4@64"]
    assert by_name["rx-only@64"].packets.consumed > 0
    assert by_name["rx-only@64"].packets.received == 0
    assert by_name["tx-only@64"].packets.sent == 0
    assert by_name["tx-only@64"].packets.other > 0
    assert by_name["loopback-4@64"].directions == 4
    assert by_name["loopback-4@64"].packets.received > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_matrix_over_veth(tmp_path: Path) -> None:
    """Every mode on a driver, four ports among them, and one direction."""
    document, run = measured(tmp_path, "matrix", "--only", "socket-mmap*,memif-io,af_packet-one*")
    by_name = {result.configuration: result for result in run.reported()}
    assert len(by_name) == len(document["configurations"]) == 15
    for name, result in by_name.items():
        counted = result.packets
        came = counted.consumed if "rx-only" in name else counted.received
        assert came > 0 or "tx-only" in name
        assert "tx-only" in name or counted.violations == []
    four = by_name["socket-mmap loopback-4"]
    assert four.directions == 4
    assert {entry.place for entry in four.packets.entries if entry.kind == "sent"} == {
        "tester t0", "tester t1", "tester t2", "tester t3",
    }  # fmt: skip
    assert by_name["af_packet one-way"].directions == 1
    limits = {one["configuration"]: one["limit"] for one in document["configurations"]}
    assert limits["socket-mmap tx-only"] in ("syscall", "invalid")
    costs = {one["configuration"]: one for one in document["configurations"]}
    assert costs["socket-mmap rx-only"]["tx"]["clocks"] is None
    assert costs["socket-mmap tx-only"]["rx"]["clocks"] is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_matrix_leaves_no_engine(tmp_path: Path, number: int) -> None:
    words = ("--only", "loopback-2,router", "--duration", "2s", "--json", "--runs", str(tmp_path))
    with labs.lab("matrix", *words) as lab:
        wait_for(lambda: any('"trial": "loopback-2@64"' in path.read_text()
                             for path in tmp_path.glob("*/run.json")))  # fmt: skip
        lab.send_signal(number)
        lab.communicate(timeout=labs.ENDS_IN_SECONDS)
    assert lab.returncode == (-number if number == signal.SIGKILL else 128 + number)
    wait_for(lambda: not [name for name in live_engines() if f"-{lab.pid}-" in name])
    (folder,) = tmp_path.iterdir()
    assert load_run(folder).reported()[0].test == "loopback-2@64"
    assert linerate("report", str(folder)).returncode == 0
