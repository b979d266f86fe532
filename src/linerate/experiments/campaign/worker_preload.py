"""First steps of each worker process: it ends its programs when it ends, and not by Ctrl-C.

Ctrl-C reaches all processes of a terminal; `run` lets its workers finish what they measure.
"""

import signal
import threading

from dask.typing import Key
from distributed import Worker, WorkerPlugin

from linerate.experiments.campaign import children


class EndChildren(WorkerPlugin):
    """No program outlives its worker, or a task that was cancelled: its `run` is gone, say."""

    name = "linerate-end-children"

    def teardown(self, worker: Worker) -> None:
        """End them, so that the worker's thread ends, too."""
        children.end_all()

    def transition(self, key: Key, start: str, finish: str, **_: object) -> None:
        """End those of a task that is released while it executes."""
        if (start, finish) == ("executing", "released"):
            children.end_task(str(key))


async def dask_setup(worker: Worker) -> None:
    """Set up a worker that `run` started."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    await worker.plugin_add(EndChildren())
