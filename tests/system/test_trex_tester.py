"""The lab drives a TRex server: ours, before a router on a virtual card."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.system.trex_server import server
from tests.trex_client import CLIENT

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")
BED = """
tester: {{kind: trex, server: "127.0.0.1:{}:{}"}}
link: 2M
dut: {{kind: external, macs: ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]}}
"""


def command(folder: Path, ports: tuple[str, str], *words: str) -> subprocess.Popen[str]:
    """Start linerate on such a testbed."""
    bed = folder / "bed.yaml"
    bed.write_text(BED.format(*ports))
    return subprocess.Popen(
        [sys.executable, "-m", "linerate", *words, bed, "--runs", folder / "runs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"LINERATE_TREX_CLIENT": str(CLIENT)},
    )


def driver_of(process: subprocess.Popen[str]) -> int | None:
    """Its client's process, once it is there."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    for child in listed.split():
        if b"trex/driver.py" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    return None


def sends(runs: Path) -> bool:
    """Whether a trial has sent something, as those who watch the run read it."""
    lives = [line for file in runs.glob("*/live.jsonl") for line in file.read_text().splitlines()]
    return any(json.loads(line).get("sent_pps") for line in lives if line.endswith("}"))


@pytest.mark.smoke
def test_a_bench_by_a_trex_server_and_one_that_is_killed(tmp_path: Path) -> None:
    with server(tmp_path / "served") as (_, ports):
        with command(tmp_path, ports, "bench", "--only", "U2", "--duration", "60s") as killed:
            until = time.monotonic() + 40
            while (driver := driver_of(killed)) is None or not sends(tmp_path / "runs"):
                assert time.monotonic() < until
                time.sleep(0.1)
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            until = time.monotonic() + 20
            while Path(f"/proc/{driver}/cmdline").exists():
                assert time.monotonic() < until, "the client outlives who started it"
                time.sleep(0.05)
        # Its ports are free again: the next one takes them without force.
        words = ("bench", "--only", "B2", "--duration", "1s", "--json")
        with command(tmp_path, ports, *words) as bench:
            out, err = bench.communicate(timeout=60)
        assert bench.returncode == 0, err
    (test,) = json.loads(out)["result"]["trials"]
    assert test["valid"], test
    # 2 Mb/s both ways.
    assert test["offered_pps"] == pytest.approx(2 * 2976, rel=0.01)
    assert 0 < test["received_pps"] <= test["offered_pps"]


def test_no_server_is_a_line(tmp_path: Path) -> None:
    with command(tmp_path, ("1", "2"), "bench", "--only", "U2", "--duration", "1s") as bench:
        _, err = bench.communicate(timeout=60)
    assert bench.returncode != 0
    assert "no TRex server at 127.0.0.1:1: connection refused; does it run" in err
    assert "Traceback" not in err
