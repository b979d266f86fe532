"""A machine's turn: of its testbeds one measures at a time, and none while a version is built.

A lock of flock's, which the kernel frees whatever ends its holder.
"""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from linerate.experiments.campaign.children import EndedError
from linerate.host import cpu_locks

POLL_SECONDS = 0.1


@contextmanager
def alone(ended: Callable[[], bool]) -> Iterator[None]:
    """Be the only testbed of this machine that does anything."""
    with _locked(fcntl.LOCK_EX, ended):
        yield


@contextmanager
def beside_others(ended: Callable[[], bool]) -> Iterator[None]:
    """Measure while others of this machine measure too, and none builds."""
    with _locked(fcntl.LOCK_SH, ended):
        yield


@contextmanager
def _locked(how: int, ended: Callable[[], bool]) -> Iterator[None]:
    place = cpu_locks.made_folder()
    with (place / "campaign").open("a", encoding="ascii") as file:
        while True:
            try:
                fcntl.flock(file, how | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if ended():
                    raise EndedError from None
                time.sleep(POLL_SECONDS)
        yield
