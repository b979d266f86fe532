"""A link that is up and takes nothing: its peer is there, and does not read."""

import fcntl
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000


@contextmanager
def unread(name: str) -> Iterator[None]:
    """A tap with a program at its end that reads no frame; it goes with that."""
    end = os.open("/dev/net/tun", os.O_RDWR)
    try:
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
        yield
    finally:
        os.close(end)


@pytest.mark.skipif(os.geteuid() != 0, reason="interfaces need root")
@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="no /dev/net/tun")
def test_a_bench_ends_where_a_link_takes_nothing(tmp_path: Path) -> None:
    names = [f"lrh{os.getpid() % 100000}{end}" for end in "ab"]
    (tmp_path / "bed.yaml").write_text(
        f"wire: interfaces\nlink: 100M\ntester: {{interfaces: [{names[0]}, {names[1]}]}}\n"
        'dut: {kind: external, macs: ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]}\n'
    )
    with unread(names[0]), unread(names[1]):
        words = (
            "bench",
            str(tmp_path / "bed.yaml"),
            "--only",
            "U2",
            "--duration",
            "0.3s",
            "--json",
        )
        done = subprocess.run(
            [sys.executable, "-m", "linerate", *words, "--runs", str(tmp_path / "runs")],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    run = json.loads(done.stdout)["result"]
    # Each trial has its reason; none says that the tester goes on.
    assert "still running" not in run["problem"]
    assert run["trials"][0]["invalid"]
