"""A sweep and a matrix over veth that are ended half-way: nothing is left behind, for ever.

Real namespaces, engines and testpmd; what SIGKILL leaves, the next command or `clean` removes.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.command import result_of
from tests.system import labs
from tests.system.labs import Lab, wait_for

from linerate.engine.engine_process import live_engines
from linerate.host.netns import namespaces
from linerate.results.store import load_run

TOOLS = ("ip", "dpdk-testpmd")
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS),
    reason=f"needs root, {', '.join(TOOLS)}",
)

#: Two configurations each: the second one's trial runs when the first was measured.
LABS = {
    "matrix": ("matrix", "--only", "socket-mmap-loopback-2,socket-mmap-loopback-4"),
    "sweep": ("sweep", "--sizes", "64", "--config", "driver=af_packet",
              "--config", "dut=testpmd"),
}  # fmt: skip
NEXT = {
    "matrix": ("clean", "--json"),
    # The next measurement cleans up before it makes anything.
    "sweep": ("sweep", "--sizes", "64", "--config", "driver=socket-mmap",
              "--repeat", "1", "--duration", "100ms", "--json"),
}  # fmt: skip


def left_by(lab: int) -> list[str]:
    """Namespaces and processes of a lab; interfaces live and go with their namespaces."""
    found = [name for name in namespaces.names() if name.startswith(f"lr-{lab}-")]
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"LINERATE_OWNER={lab}-".encode() in path.read_bytes():
                found.append(path.parent.name)
    return found + [name for name in live_engines() if f"-{lab}-" in name]


def interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


@contextmanager
def half_way(folder: Path, command: tuple[str, ...]) -> Iterator[Lab]:
    """A lab that has measured one configuration, held when it has made what the next one needs."""
    words = (*command, "--repeat", "1", "--duration", "1s", "--json", "--runs", str(folder))
    with labs.lab(*words) as lab:
        wait_for(
            lambda: any(len(list(path.glob("*@64.json"))) for path in folder.glob("*/evidence"))
        )
        wait_for(lambda: len(list(folder.glob("*/engine/*@64.config.json"))) > 1)
        wait_for(lambda: any(name.endswith("-dut") for name in left_by(lab.pid)))
        labs.hold(lab)
        yield lab


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("kind", list(LABS))
def test_what_is_ended_half_way_leaves_nothing(tmp_path: Path, kind: str, number: int) -> None:
    before = interfaces()
    with half_way(tmp_path, LABS[kind]) as lab:
        lab.send_signal(number)
        labs.release(lab)
        lab.communicate(timeout=labs.ENDS_IN_SECONDS)
    killed = number == signal.SIGKILL
    assert lab.returncode == (-number if killed else 128 + number)
    if killed:
        assert [name for name in left_by(lab.pid) if name.startswith("lr-")]
        command = [sys.executable, "-m", "linerate", *NEXT[kind]]
        following = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
        )
        assert result_of(following.stdout), following.stderr
    wait_for(lambda: left_by(lab.pid) == [])
    # Those of others come and go, too.
    wait_for(lambda: interfaces() <= before)
    run = load_run(next(path.parent for path in tmp_path.glob("2*/run.json")))
    assert run.status == ("running" if killed else "interrupted")
    assert run.sweep is not None
    assert run.reported()[0].configuration == run.sweep.configurations[0]
