"""What a killed lab left behind: found by its marks, and removed.

Only what bears the mark of a process that is gone: never what a live lab owns, and nothing
that is not a lab's.
"""

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from linerate import dpdk_runtime, engine, marks
from linerate.netns import namespaces

Kind = Literal["process", "namespace", "folder"]
#: How long a process may take to end when it was killed.
GONE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing that nobody will remove but us."""

    kind: Kind
    #: A process's number and program, a namespace's name, a folder's path.
    name: str
    remove: Callable[[], None]


def find() -> list[Leftover]:
    """Find all: processes first, since they keep the other things busy."""
    return [*_processes(), *_namespaces(), *_folders(), *_engine_folders()]


def remove(found: list[Leftover]) -> None:
    """Remove them; what is gone meanwhile is no mistake."""
    for leftover in found:
        with contextlib.suppress(OSError):
            leftover.remove()


def _dead(owner: marks.Mark | None) -> bool:
    return owner is not None and not marks.alive(owner)


def _dead_namespaces() -> list[str]:
    return [name for name in namespaces.names() if _dead(marks.owner_of_name(name))]


def _processes() -> list[Leftover]:
    """Those that a dead lab started, and whatever runs in its namespaces."""
    pids = {pid for name in _dead_namespaces() for pid in namespaces.processes_in(name)}
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        if marks.started(pid) is not None and _dead(marks.owner_of_process(pid)):
            pids.add(pid)
    return [_process(pid) for pid in sorted(pids - {os.getpid()})]


def _process(pid: int) -> Leftover:
    try:
        program = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        program = "gone"
    return Leftover("process", f"{pid} ({program})", lambda: _kill(pid))


def _kill(pid: int) -> None:
    started = marks.started(pid)
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + GONE_SECONDS
    while started is not None and marks.started(pid) == started and time.monotonic() < deadline:
        time.sleep(0.02)


def _namespaces() -> list[Leftover]:
    return [
        Leftover("namespace", name, partial(namespaces.remove, name)) for name in _dead_namespaces()
    ]


def _folders() -> list[Leftover]:
    """Folders for the sockets of two processes, and of DPDK programs."""
    found: list[Path] = []
    for base in (Path(tempfile.gettempdir()), *dpdk_runtime.bases()):
        with contextlib.suppress(OSError):
            found += dpdk_runtime.folders(base, "lr-")
    return [
        _folder(path)
        for path in found
        if path.lstat().st_uid == os.getuid() and _dead(marks.owner_of_name(path.name))
    ]


def _engine_folders() -> list[Leftover]:
    """Runtime folders of engines that are gone."""
    return [_folder(path) for path in engine.dead_folders()]


def _folder(path: Path) -> Leftover:
    return Leftover("folder", str(path), lambda: dpdk_runtime.remove(path))
