"""Journal of repairs: each is in it before it is made, so that a killed one is taken back, too.

It lies in /run, in a folder that only its owner may enter; a restart empties /run as it undoes
all repairs.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pydantic import BaseModel, ValidationError

from linerate.host.doctor.host_view import Host
from linerate.model.findings import Bind, Write

FOLDER = "/run/linerate"
JOURNAL = f"{FOLDER}/doctor.json"
_NEW = ".doctor.json.new"
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
#: For others to write in.
_OPEN_MODE = 0o022


class RepairError(Exception):
    """A repair that was not made, and why."""


class State(BaseModel):
    """State before a repair: a file's value, or a device's driver and its override."""

    value: str
    override: str = ""


class Entry(BaseModel):
    """One repair, what was there before it, and what there was after it."""

    repair: Write | Bind
    before: State
    #: None: it was about to be made, or to be taken back.
    after: State | None = None
    #: MAC address of the interface that a device had before it was bound; empty: none.
    mac: str = ""


class Journal(BaseModel):
    """All repairs that were not taken back, oldest first."""

    boot_id: str = ""
    entries: list[Entry] = []


def refused(path: object, error: OSError) -> RepairError:
    """One line that says what to do."""
    if isinstance(error, PermissionError):
        return RepairError(f"{path}: not permitted, run it with sudo")
    return RepairError(f"{path}: {(error.strerror or str(error)).lower()}")


def boot_id(host: Host) -> str:
    """Name this run of the kernel."""
    return host.read(_BOOT_ID) or ""


@contextmanager
def locked(host: Host) -> Iterator[None]:
    """Keep other doctors out; raises RepairError."""
    path = host.at(FOLDER)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise refused(path, error) from error
    try:
        _check_owner(path, os.fstat(handle))
        _take(path, handle)
        try:
            yield
        finally:
            # With a journal in it, it stays.
            with suppress(OSError):
                path.rmdir()
    finally:
        os.close(handle)


def _take(path: object, handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RepairError(f"{path}: another linerate doctor is at work, wait for it") from error


def load(host: Host) -> Journal:
    """Read the journal; an empty one when there is none. Raises RepairError."""
    path = host.at(JOURNAL)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            _check_owner(path, os.fstat(handle))
            return Journal.model_validate_json(file.read())
    except FileNotFoundError:
        return Journal(boot_id=boot_id(host))
    except OSError as error:
        raise refused(path, error) from error
    except ValidationError as error:
        raise RepairError(f"{path}: no journal that this version reads") from error


def save(host: Host, journal: Journal) -> None:
    """Write it whole or not at all, and to the disk; nothing is left of an empty one."""
    path = host.at(JOURNAL)
    new = path.with_name(_NEW)
    try:
        if not journal.entries:
            path.unlink(missing_ok=True)
            new.unlink(missing_ok=True)
            return
        new.unlink(missing_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(journal.model_dump_json(indent=1) + "\n")
            file.flush()
            os.fsync(handle)
        new.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise refused(path, error) from error


def _check_owner(path: object, status: os.stat_result) -> None:
    """A journal that others may write is not trusted."""
    if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
        raise RepairError(f"{path}: no file of the doctor's, remove it")
    if status.st_uid != os.geteuid():
        raise RepairError(f"{path}: belongs to user {status.st_uid}, not to who runs this")
    if status.st_mode & _OPEN_MODE:
        raise RepairError(f"{path}: others may write it: check it, then chmod go-w it")
