"""One real benchmark: what it prints is right in form; how fast it is, is not asked."""

import json
import os
import shutil
from pathlib import Path

from tests.system import labs

KEYS = ("name", "clocks_per_packet", "mpps", "spread_percent", "peer", "peer_clocks_per_packet")


def left_by(pid):
    """DPDK's folders of its engine and of the peer, named by it."""
    base = Path("/var/run/dpdk") if os.geteuid() == 0 else Path("/tmp/dpdk")
    return {path.name for path in base.glob(f"*linerate-*{pid}-*")} if base.exists() else set()


def test_io_once():
    command = ["--only", "io", "--repeats", "1", "--seconds", "0.2", "--json"]
    with labs.lab(*command, module="bench.peers") as lab:
        text, wrong = lab.communicate(timeout=300)
    assert lab.returncode == 0, wrong
    (result,) = json.loads(text)
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
    assert left_by(lab.pid) == set()
