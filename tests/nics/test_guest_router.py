"""The router of `python -m tests.boxes`: its guest, its NICs and its files go with who started it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.nics.labs import ROOT

STARTS = """\
import sys, time
from pathlib import Path
from tests.boxes.guest_router import guest_router
with guest_router("virtio-net", Path(sys.argv[1])) as router:
    router.cpu.limit(50)
    print(router.guest.qemu.pid, *router.box.here, flush=True)
    time.sleep(3600)
"""
ENDS_SECONDS = 30.0

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: QEMU makes taps")


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
def test_a_run_that_is_ended_leaves_no_guest(
    tmp_path_factory: pytest.TempPathFactory, by: signal.Signals
) -> None:
    folder = tmp_path_factory.mktemp("router") / "r"
    words = [sys.executable, "-c", STARTS, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        pid, *taps = process.stdout.readline().split()
        assert Path("/proc", pid).exists()
        assert set(taps) <= set(_interfaces())
        process.send_signal(by)
    _await(lambda: not _runs(pid))
    _await(lambda: not set(taps) & set(_interfaces()))


def _runs(pid: str) -> bool:
    """Whether a process is there, and no zombie of somebody's who reaps late."""
    try:
        return ") Z " not in Path("/proc", pid, "stat").read_text(encoding="utf-8")
    except OSError:
        return False


def _interfaces() -> Iterator[str]:
    return (name for _, name in socket.if_nameindex())


def _await(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + ENDS_SECONDS
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.1)
