"""One real benchmark: what it prints is right in form; how fast it is, is not asked."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

KEYS = ("name", "clocks_per_packet", "mpps", "spread_percent", "peer", "peer_clocks_per_packet")


def runtime_folders():
    base = Path("/var/run/dpdk") if os.geteuid() == 0 else Path("/tmp/dpdk")
    return {path.name for path in base.glob("*linerate*")} if base.exists() else set()


def test_io_once():
    before = runtime_folders()
    command = ["self-bench", "--only", "io", "--repeats", "1", "--seconds", "0.2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "linerate", *command],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    (result,) = json.loads(done.stdout)
    assert set(KEYS) <= set(result)
    assert result["name"] == "io"
    assert result["clocks_per_packet"] > 0
    assert result["mpps"] > 0
    assert result["spread_percent"] == 0  # of one
    if shutil.which("dpdk-testpmd"):
        assert result["peer"] == "testpmd"
        assert result["ratio"] > 0
        assert "problem" not in result
    else:
        assert result["peer"] is None
        assert "dpdk-testpmd is not installed" in result["problem"]
    assert not runtime_folders() - before
