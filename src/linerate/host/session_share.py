"""A run's session goes before others: the kernel shares CPUs among sessions before threads.

With autogroups (sched(7)) each session has a nice of its own, and that of a thread counts only
within its session: a tester at nice -10 gets half of a CPU that another session's program wants.
A run that is killed does not take that back: a file with its mark says what was there before it.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base import ownership
from linerate.base.signals import held_back
from linerate.host import machine
from linerate.host.machine import Autogroup

NICE = -20
#: Root's alone: other users may not lower a nice.
FOLDER = Path("/run/linerate-sessions")
_PROC = Path("/proc")
_ROLE = "session"


@contextmanager
def raised() -> Iterator[None]:
    """Let this process's session go before others, where that is possible; then as it was."""
    own = machine.autogroup() if os.geteuid() == 0 else None
    if own is None:
        yield
        return
    record = FOLDER / ownership.new_name(_ROLE)
    try:
        with held_back(), contextlib.suppress(OSError), _locked():
            _raise(own.name, record)
        yield
    finally:
        with held_back():
            restore(record)


def records() -> list[Path]:
    """Notes of runs, live ones too."""
    with contextlib.suppress(OSError):
        return sorted(path for path in FOLDER.iterdir() if ownership.owner_of_name(path.name))
    return []


def session_of(record: Path) -> str:
    """Name the session that a run noted."""
    before = _read(record)
    return before.name if before else "session"


def restore(record: Path) -> None:
    """Give a session back what it had before a run, unless another one still measures in it."""
    with contextlib.suppress(OSError), _locked():
        before = _read(record)
        record.unlink(missing_ok=True)
        if before is not None and not any(_alive(path, before.name) for path in records()):
            _set(before)


@contextmanager
def _locked() -> Iterator[None]:
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _raise(name: str, record: Path) -> None:
    """Note what was before the first of several runs, then raise. Raises OSError."""
    now = machine.autogroup()
    assert now is not None
    before = next(iter(_noted(name)), now)
    record.write_text(f"{before.name} {before.nice}\n", encoding="ascii")
    try:
        _set(Autogroup(name, NICE))
    except OSError:
        record.unlink()
        raise


def _noted(name: str) -> list[Autogroup]:
    """Notes about a session by the runs that raised it."""
    return [before for path in records() if (before := _read(path)) and before.name == name]


def _alive(record: Path, name: str) -> bool:
    """Whether a run that noted the session still runs."""
    owner, before = ownership.owner_of_name(record.name), _read(record)
    return (
        owner is not None and ownership.alive(owner) and before is not None and before.name == name
    )


def _read(record: Path) -> Autogroup | None:
    try:
        name, nice = record.read_text(encoding="ascii").split()
        return Autogroup(name, int(nice))
    except (OSError, ValueError):
        return None


def _set(wanted: Autogroup) -> None:
    """Set a session's nice by any process in it: who raised it may be gone. Raises OSError."""
    for process in (_PROC / "self", *_PROC.glob("[0-9]*")):
        now = machine.autogroup(process)
        if now is not None and now.name == wanted.name:
            (process / "autogroup").write_text(f"{wanted.nice}", encoding="ascii")
            return
