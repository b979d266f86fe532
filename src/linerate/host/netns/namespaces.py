"""Namespaces with names in /run/netns, as `ip netns` has them."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.base.signals import held_back

RUN = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_SYSCTL = Path("/proc/sys/net")
_libc = ctypes.CDLL(None, use_errno=True)


def create(role: str) -> str:
    """Make a namespace that is ours by its name, without IPv6; raises SetupError."""
    name = ownership.new_name(role)
    with ThreadPoolExecutor(1) as thread:
        problem = thread.submit(_create, name).exception()
    if isinstance(problem, OSError):
        reason = os.strerror(problem.errno or 0)
        raise SetupError(f"cannot make network namespace {name}: {reason}") from problem
    if problem is not None:
        raise problem
    # No router solicitations, MLD reports and duplicate address detection among the trial's frames.
    for which in ("all", "default"):
        set_sysctl(name, f"ipv6/conf/{which}/disable_ipv6", "1")
    return name


@contextlib.contextmanager
def made(role: str) -> Iterator[str]:
    """Make a namespace that is removed on exit; a signal finds it made and noted, or neither."""
    with contextlib.ExitStack() as stack:
        with held_back():
            name = create(role)
            stack.callback(remove, name)
        yield name


def _create(name: str) -> None:
    """Leave this thread's namespace for a new one, and give that a name.

    Not `netns.create`: it forks, and the child would have the lab's signal handlers.
    """
    if _libc.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    from pyroute2 import netns  # noqa: PLC0415 (slow to load)

    netns.attach(name, "thread-self")


def remove(name: str) -> None:
    """Remove it, with the interfaces that are in it; one that is gone is no mistake."""
    from pyroute2 import netns  # noqa: PLC0415 (slow to load)

    with contextlib.suppress(OSError):
        netns.remove(name)


def names() -> list[str]:
    """Name all namespaces of this host."""
    try:
        return sorted(path.name for path in RUN.iterdir())
    except OSError:
        return []


@contextlib.contextmanager
def inside(name: str) -> Iterator[None]:
    """Be in a namespace, with this thread only; raises SetupError when it is gone."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _enter(RUN / name, name)
        try:
            yield
        finally:
            if _libc.setns(home, _CLONE_NEWNET):
                # Whatever came next would happen to the wrong interfaces.
                os.abort()
    finally:
        os.close(home)


def _enter(path: Path, name: str) -> None:
    try:
        there = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise SetupError(f"network namespace {name} is gone: somebody deleted it") from error
    try:
        if _libc.setns(there, _CLONE_NEWNET):
            reason = os.strerror(ctypes.get_errno())
            raise SetupError(f"cannot enter network namespace {name}: {reason}")
    finally:
        os.close(there)


def set_sysctl(name: str, key: str, value: str) -> bool:
    """Set a key of net.* in a namespace; False when the kernel has no such key."""
    with inside(name):
        try:
            (_SYSCTL / key).write_text(value, encoding="ascii")
        except OSError:
            return False
    return True


def read_proc(name: str, file: str) -> str:
    """Contents of /proc/net/FILE in a namespace."""
    with inside(name):
        return Path("/proc/thread-self/net", file).read_text(encoding="ascii", errors="replace")


def exists(name: str) -> bool:
    """Whether it is still there."""
    return (RUN / name).exists()


def processes_in(name: str) -> list[int]:
    """Processes whose main thread is in a namespace."""
    try:
        wanted = (RUN / name).stat()
    except OSError:
        return []
    found = []
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            there = path.stat()
            if (there.st_dev, there.st_ino) == (wanted.st_dev, wanted.st_ino):
                found.append(int(path.parts[2]))
    return found
