"""Is a bench's stop button heard while the bench keeps every CPU? The time its answer takes."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tests.system.labs import sends, wait_for
from tests.system.serving import Served, served
from tests.trust.pages import start_bench

#: Tester and device poll on a CPU each: of two, none is left.
ORDER = {"only": "U2", "duration_seconds": 60, "wire": "memif"}
LOADTEST = "U2"


def stops(runs: Path, count: int) -> Iterator[tuple[float, float]]:
    """Seconds until the answer to each stop, and until the bench had ended."""
    for number in range(count):
        folder = runs / f"{number}"
        folder.mkdir(parents=True)
        with served(folder) as server:
            status = start_bench(server, ORDER)
            if status != 202:
                raise RuntimeError(f"a bench was not started: status {status}")
            wait_for(partial(sends, folder, LOADTEST))
            yield _stop(server)


def _stop(server: Served) -> tuple[float, float]:
    began = time.monotonic()
    status, _, reply = server.ask("DELETE", "/api/bench", Authorization=f"Bearer {server.token}")
    answered = time.monotonic() - began
    if status != 200:
        raise RuntimeError(f"a bench was not stopped: status {status}, {reply.decode()}")
    wait_for(lambda: b'"running":false' in server.ask("GET", "/api/bench")[2].replace(b" ", b""))
    return answered, time.monotonic() - began


def rows(measured: list[tuple[float, float]]) -> Iterator[str]:
    """The table."""
    yield "stops       answer, ms: median  slowest     end of the bench, s: median  slowest"
    answers, ends = ([1000 * one[0] for one in measured], [one[1] for one in measured])
    if measured:
        yield (
            f"{len(measured):>5} {median(answers):>25,.0f} {max(answers):>8,.0f} "
            f"{median(ends):>30.1f} {max(ends):>8.1f}"
        )


def table(runs: Path, cases: int, _seed: int) -> str:
    """The given number of benches, each stopped while it sends."""
    return "\n".join(rows(list(stops(runs, cases))))
