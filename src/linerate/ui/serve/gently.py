"""Answers that are worked out in threads, which are few and give way; the event loop does not.

A bench may have every CPU. What is worked out for a page waits for it, but not whoever asks it to
stop: that is answered by the loop itself, whose thread keeps its priority.
"""

import contextlib
import inspect
import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi.routing import APIRoute

#: More would wait for each other (one runs Python at a time), and keep their memory.
THREADS = 8
#: Beside a worker that polls they have a tenth of its CPU: what holds the interpreter lets go soon.
NICENESS = 10
_thread = threading.local()


class Gently(APIRoute):
    """A route whose answer is made in a thread that gives way, unless it is a coroutine."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401
        """As FastAPI's own."""
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _gently(endpoint)
        super().__init__(path, endpoint, **options)


def bound_threads() -> None:
    """Have no more threads than that; to be called in the event loop."""
    current_default_thread_limiter().total_tokens = THREADS


def _gently(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(endpoint)
    def made(*args: Any, **named: Any) -> Any:  # noqa: ANN401 (whatever it is)
        _give_way()
        return endpoint(*args, **named)

    return made


def _give_way() -> None:
    """Once in each thread: its priority is its own, as Linux has it."""
    if not getattr(_thread, "gives_way", False):
        _thread.gives_way = True
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
