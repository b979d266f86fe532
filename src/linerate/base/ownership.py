"""Marks: whatever a lab makes outside its own process says in its name which lab made it.

A name is `lr-PID-START-NUMBER-ROLE`, START being the process's start time in clock ticks since
boot (proc(5), stat, field 22): a later process with the same number is another one. A name that
others could guess has eight characters more.
"""

import itertools
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: Children of a lab carry its mark here.
VARIABLE = "LINERATE_OWNER"
_PROC = Path("/proc")
_NAME = re.compile(r"lr-(\d{1,10})-(\d{1,20})-(\d{1,6})-[a-z0-9]{1,20}(-[a-z0-9_]{8})?")
_MARK = re.compile(r"(\d{1,10})-(\d{1,20})")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Mark:
    """One process, of all that ever had its number since boot."""

    pid: int
    start: int

    def __str__(self) -> str:
        return f"{self.pid}-{self.start}"


def own() -> Mark:
    """Return this process's mark."""
    pid = os.getpid()
    return Mark(pid, started(pid) or 0)


def new_name(role: str) -> str:
    """Name something that this process makes."""
    return f"lr-{own()}-{next(_numbers)}-{role}"


def temporary_folder(role: str) -> tempfile.TemporaryDirectory[str]:
    """Make a folder that goes with its context; of a process that is killed, `clean` removes it."""
    return tempfile.TemporaryDirectory(prefix=f"{new_name(role)}-")


def owner_of_name(name: str) -> Mark | None:
    """Say who made what has this name; None when no lab did."""
    match = _NAME.fullmatch(name)
    return Mark(int(match[1]), int(match[2])) if match else None


def is_temporary(name: str) -> bool:
    """Whether it is a temporary folder's name: who made it removes it by itself."""
    match = _NAME.fullmatch(name)
    return match is not None and match[4] is not None


def owner_of_process(pid: int) -> Mark | None:
    """Say which lab started a process; None when none did, or when it can't be known."""
    folder = _PROC / str(pid)
    try:
        # In a container other processes have the numbers of a mark: its labs are its own affair.
        if (folder / "ns/pid").stat().st_ino != (_PROC / "self/ns/pid").stat().st_ino:
            return None
        variables = (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    for variable in variables:
        name, _, value = variable.partition(b"=")
        if name == VARIABLE.encode() and (match := _MARK.fullmatch(value.decode(errors="replace"))):
            return Mark(int(match[1]), int(match[2]))
    return None


def started(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when there is none, or a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in brackets may hold blanks and brackets of its own.
    fields = text.rpartition(")")[2].split()
    return None if len(fields) < 20 or fields[0] in "ZX" else int(fields[19])


def alive(mark: Mark) -> bool:
    """Whether the process that made something still runs."""
    return started(mark.pid) == mark.start


def environment() -> dict[str, str]:
    """Environment for a child of this lab."""
    return os.environ | {VARIABLE: str(own())}
