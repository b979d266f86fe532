"""DPDK's runtime folders, looked for where DPDK makes them, and taken only from this user or root.

In /tmp anyone may make them first: a folder or a link of another user is left alone, never
entered, connected to or removed. What is checked is held open, so that it stays what it was.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OF_ROOT = Path("/var/run/dpdk")
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NotTrustedError(PermissionError):
    """A folder that may not be looked into, or is another user's."""


def home() -> Path:
    """Where DPDK makes this user's folders (rte_eal_get_runtime_dir); $LINERATE_RUNTIME first."""
    if chosen := os.environ.get("LINERATE_RUNTIME"):
        return Path(chosen)
    if of_service := os.environ.get("RUNTIME_DIRECTORY"):
        return Path(of_service) / "dpdk"
    if os.getuid() == 0:
        return OF_ROOT
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    # An engine of ours does not inherit another user's, as `su` leaves it.
    return Path(runtime if os.access(runtime, os.W_OK | os.X_OK) else "/tmp") / "dpdk"


def bases() -> list[Path]:
    """Where engines are that this user may watch: its own, and root's."""
    chosen = "LINERATE_RUNTIME" in os.environ
    return [home()] if chosen or home() == OF_ROOT else [home(), OF_ROOT]


def folders(base: Path, prefix: str) -> list[Path]:
    """Folders below `base` whose names begin so. Raises NotTrustedError, OSError."""
    with _opened(base) as descriptor:
        names = _names(descriptor, prefix)
        return [base / name for name in names if _is_trusted(name, descriptor)]


def files(folder: Path, prefix: str) -> list[Path]:
    """Sockets in a folder whose names begin so. Raises NotTrustedError, OSError."""
    with _opened(folder.parent) as base, _opened_in(base, folder) as descriptor:
        names = _names(descriptor, prefix)
        return [folder / name for name in names if _is_socket(name, descriptor)]


def remove(folder: Path) -> None:
    """Remove this user's own folder with what is in it; what is another's or a link stays."""
    with (
        contextlib.suppress(OSError),
        _opened(folder.parent) as base,
        _opened_in(base, folder) as descriptor,
    ):
        if os.fstat(descriptor).st_uid == os.geteuid():
            # It follows no link either, and `base` is ours or root's: it stays the same folder.
            shutil.rmtree(folder.name, ignore_errors=True, dir_fd=base)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    with _checked(os.open(folder, os.O_RDONLY | _FOLDER), folder) as descriptor:
        yield descriptor


@contextmanager
def _opened_in(base: int, folder: Path) -> Iterator[int]:
    descriptor = os.open(folder.name, os.O_RDONLY | _FOLDER, dir_fd=base)
    with _checked(descriptor, folder) as checked:
        yield checked


@contextmanager
def _checked(descriptor: int, folder: Path) -> Iterator[int]:
    try:
        owner = os.fstat(descriptor).st_uid
        if not _trusts(owner):
            raise NotTrustedError(f"{folder}: it belongs to user {owner}")
        yield descriptor
    finally:
        os.close(descriptor)


def _names(folder: int, prefix: str) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.name.startswith(prefix))


def _trusts(owner: int) -> bool:
    return owner in (os.geteuid(), 0)


def _is_trusted(name: str, base: int) -> bool:
    with contextlib.suppress(OSError):
        status = os.stat(name, dir_fd=base, follow_symlinks=False)
        return stat.S_ISDIR(status.st_mode) and _trusts(status.st_uid)
    return False


def _is_socket(name: str, folder: int) -> bool:
    with contextlib.suppress(OSError):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        return stat.S_ISSOCK(status.st_mode) and _trusts(status.st_uid)
    return False
