"""Leftovers of a lab: found by their ownership marks, and removed.

What bears the mark of a process that is gone, or at a run's end that of the run itself: never
what another live lab owns, and nothing that is not a lab's.
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

from linerate.base import ownership
from linerate.engine import engine_process
from linerate.host import dpdk_runtime, session_share
from linerate.host.netns import namespaces

Kind = Literal["process", "namespace", "folder", "raised session"]
#: Time for a killed process to end.
GONE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Leftover:
    """One leftover that only we remove."""

    kind: Kind
    #: A process's number and program, a namespace's name, a folder's path, a session's autogroup.
    name: str
    remove: Callable[[], None]


#: Whether what bears a mark is to be found; None: it bears none.
Wanted = Callable[[ownership.Mark | None], bool]


def find() -> list[Leftover]:
    """Find all: processes first, since they keep the other things busy."""
    return [*_marked(_dead), *map(_folder, engine_process.dead_folders()), *_sessions()]


def find_own() -> list[Leftover]:
    """Find what this process made and did not remove: at the end of a run, nothing is to be left.

    A namespace may have been busy when it was to be removed, or a signal came in between. Temporary
    folders may have longer to live than the run.
    """
    found = [*_marked(_own), *map(_folder, engine_process.own_folders())]
    return [one for one in found if not ownership.is_temporary(Path(one.name).name)]


def _marked(wanted: Wanted) -> list[Leftover]:
    names = [name for name in namespaces.names() if wanted(ownership.owner_of_name(name))]
    return [*_processes(wanted, names), *map(_namespace, names), *_folders(wanted)]


def remove(found: list[Leftover]) -> None:
    """Remove them; what disappears in between is no error."""
    for leftover in found:
        with contextlib.suppress(OSError):
            leftover.remove()


def _dead(owner: ownership.Mark | None) -> bool:
    return owner is not None and not ownership.alive(owner)


def _own(owner: ownership.Mark | None) -> bool:
    return owner == ownership.own()


def _processes(wanted: Wanted, names: list[str]) -> list[Leftover]:
    """Those that the lab started, and whatever runs in its namespaces."""
    pids = {pid for name in names for pid in namespaces.processes_in(name)}
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        if ownership.started(pid) is not None and wanted(ownership.owner_of_process(pid)):
            pids.add(pid)
    return [_process(pid) for pid in sorted(pids - {os.getpid()})]


def _process(pid: int) -> Leftover:
    try:
        program = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        program = "gone"
    return Leftover("process", f"{pid} ({program})", lambda: _kill(pid))


def _kill(pid: int) -> None:
    started = ownership.started(pid)
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + GONE_SECONDS
    while started is not None and ownership.started(pid) == started and time.monotonic() < deadline:
        time.sleep(0.02)


def _namespace(name: str) -> Leftover:
    return Leftover("namespace", name, partial(namespaces.remove, name))


def _folders(wanted: Wanted) -> list[Leftover]:
    """Folders for the sockets of two processes, and of DPDK programs."""
    found: list[Path] = []
    for base in (Path(tempfile.gettempdir()), *dpdk_runtime.bases()):
        with contextlib.suppress(OSError):
            found += dpdk_runtime.folders(base, "lr-")
    return [
        _folder(path)
        for path in found
        if path.lstat().st_uid == os.getuid() and wanted(ownership.owner_of_name(path.name))
    ]


def _sessions() -> list[Leftover]:
    """Sessions that killed runs raised."""
    return [
        Leftover(
            "raised session", session_share.session_of(path), partial(session_share.restore, path)
        )
        for path in session_share.records()
        if _dead(ownership.owner_of_name(path.name))
    ]


def _folder(path: Path) -> Leftover:
    return Leftover("folder", str(path), lambda: dpdk_runtime.remove(path))
