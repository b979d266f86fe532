"""Signals that end a command wait while something is done that must not be left half."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Let the signals that end a command come when this is done.

    A process that is started while one of them raises has no owner: it runs, and its starter does
    not know it yet. In other threads than the main one no signal raises.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: handler
        for number in ENDING
        if (handler := signal.getsignal(number)) not in (None, signal.SIG_IGN, signal.SIG_DFL)
    }
    for number in before:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for first in came[:1]:
            signal.raise_signal(first)


@contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Note the first signal that ends a command; the caller asks whether it came.

    For a loop that ends between two steps. A second one ends the command at once.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.getsignal(number) for number in ENDING}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, _frame: object) -> None:
        came.append(number)
        restore()

    for number in ENDING:
        signal.signal(number, note)
    try:
        yield lambda: bool(came)
    finally:
        restore()
