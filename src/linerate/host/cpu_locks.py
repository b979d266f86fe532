"""One run at a time on a CPU: a file a CPU that is locked as long as a run lasts.

Locks are flock's: the kernel frees them when their holder ends, killed or not.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from linerate.base.errors import UserError
from linerate.host import dpdk_runtime

WAIT_SECONDS = 1.0


class CpuBusyError(UserError):
    """Another run uses one of the CPUs."""

    def __init__(self, cpu: int, pid: str) -> None:
        super().__init__(
            f"CPU {cpu}: linerate {pid or 'of another process'} measures there; wait for it "
            "(--wait), end it, or give other CPUs (cpus: in the testbed file)"
        )


def folder() -> Path:
    """Where this user's locks are; $LINERATE_LOCKS first."""
    if chosen := os.environ.get("LINERATE_LOCKS"):
        return Path(chosen)
    return dpdk_runtime.home().parent / f"linerate-cpus-{os.getuid()}"


def made_folder() -> Path:
    """Make that folder where it is missing. Raises UserError where another user has laid it."""
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise UserError(f"{place}: expected a folder of this user's; remove it")
    return place


@contextmanager
def held(cpus: Sequence[int], on_wait: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold CPUs, always in the same order.

    Raises CpuBusyError, unless `on_wait` is given: it is called with what is waited for.
    """
    place = made_folder()
    with ExitStack() as files:
        for cpu in sorted(set(cpus)):
            file = files.enter_context((place / f"cpu{cpu}").open("a+", encoding="ascii"))
            _lock(file, cpu, on_wait)
            file.truncate(0)
            file.write(f"{os.getpid()}")
            file.flush()
        yield


def _lock(file: IO[str], cpu: int, on_wait: Callable[[str], None] | None) -> None:
    text = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            busy = CpuBusyError(cpu, file.read().strip())
            if on_wait is None:
                raise busy from None
            if not text:
                on_wait(f"waiting: {str(busy).partition(';')[0]}")
                text = True
            time.sleep(WAIT_SECONDS)
        else:
            return
