"""Does `linerate serve` stay as it is while ten people watch? Memory, threads, files by the minute."""

import http.client
import itertools
import json
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.many_runs import make_many
from tests.system.serving import Served, served

CLIENTS = 10
#: At first; a bench a minute is added.
RUNS = 6
#: Between two requests of a client.
PAUSE_S = 0.2
#: A client watches the live data for this long, then leaves.
WATCH_S = 5.0
MINUTE_S = 60.0
ORDER = {"only": "U2", "duration_seconds": 1}
#: Refusals that are meant: too many at a time.
MEANT = (200, 503)
#: Figures before this minute still grow as caches fill.
SETTLED_MINUTE = 2


@dataclass(frozen=True, slots=True)
class Minute:
    """Resources of the server at the end of a minute, and its answers in it."""

    number: int
    threads: int
    files: int
    rss_bytes: int
    runs: int
    answers: int
    worst_ms: float
    wrong: int


class Asked:
    """Answers of the minute; clients are threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: list[float] = []
        self._wrong = 0

    def note(self, status: int, seconds: float) -> None:
        """Count one answer; status 0: there was none."""
        with self._lock:
            self._seconds.append(seconds)
            self._wrong += status not in MEANT

    def taken(self) -> tuple[int, float, int]:
        """Answers, the slowest in ms, wrong ones; then counting begins anew."""
        with self._lock:
            seconds, wrong = self._seconds, self._wrong
            self._seconds, self._wrong = [], 0
        return len(seconds), 1000 * max(seconds, default=0.0), wrong


def addresses(names: list[str]) -> tuple[str, ...]:
    """Requests of browsers: lists, a run and its charts, a comparison, the live page."""
    return (
        "/",
        "/api/runs",
        f"/runs/{names[0]}",
        "/static/charts.js",
        f"/runs/{names[-1]}/report.html",
        f"/compare?run={names[0]}&run={names[-1]}",
        f"/api/compare?run={names[0]}&run={names[-1]}",
        "/live",
        "/api/bench",
        "/metrics",
    )


def _client(server: Served, paths: Iterable[str], asked: Asked, over: threading.Event) -> None:
    for path in paths:
        if over.wait(PAUSE_S):
            return
        began = time.monotonic()
        try:
            status = server.status("GET", path)
        except (OSError, http.client.HTTPException):
            status = 0
        asked.note(status, time.monotonic() - began)
        if path == "/live":
            _watch(server, over)


def _watch(server: Served, over: threading.Event) -> None:
    """Read live data as the page does, and leave in the midst of it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=1)
    until = time.monotonic() + WATCH_S
    try:
        connection.request("GET", "/api/live")
        answer = connection.getresponse()
        while time.monotonic() < until and not over.is_set():
            if not answer.read1(65536):
                return
    except (OSError, http.client.HTTPException):
        # No events while nothing is measured.
        return
    finally:
        connection.close()


@contextmanager
def _clients(server: Served, names: list[str], asked: Asked) -> Iterator[None]:
    over, paths = threading.Event(), addresses(names)
    threads = [
        threading.Thread(
            target=_client,
            args=(server, itertools.islice(itertools.cycle(paths), first, None), asked, over),
        )
        for first in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def start_bench(server: Served, order: dict[str, object]) -> int:
    """Order a bench, as the page's button does; returns the answer's status."""
    headers = {"Authorization": f"Bearer {server.token}", "Content_Type": "application/json"}
    return server.status("POST", "/api/bench", json.dumps(order).encode(), **headers)


def minutes(runs: Path, count: int) -> Iterator[Minute]:
    """One after the other, with a bench at the beginning of each."""
    names = make_many(runs, RUNS)
    asked = Asked()
    with served(runs) as server, _clients(server, names, asked):
        for number in range(1, count + 1):
            until = time.monotonic() + MINUTE_S
            start_bench(server, ORDER)
            time.sleep(max(0.0, until - time.monotonic()))
            yield _taken_by(server, number, asked)


def _taken_by(server: Served, number: int, asked: Asked) -> Minute:
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    values = dict(line.split(":", 1) for line in status.splitlines())
    answers, worst_ms, wrong = asked.taken()
    return Minute(
        number=number,
        threads=int(values["Threads"]),
        files=len(list(Path(f"/proc/{server.pid}/fd").iterdir())),
        rss_bytes=1024 * int(values["VmRSS"].split()[0]),
        runs=len(list(server.runs.glob("*/run.json"))),
        answers=answers,
        worst_ms=worst_ms,
        wrong=wrong,
    )


def rows(measured: Iterable[Minute]) -> Iterator[str]:
    """The table, a row as soon as its minute is over."""
    seen = []
    yield "minute  runs  answers  wrong  slowest, ms  threads  files  RSS, MB"
    for one in measured:
        seen.append(one)
        yield (
            f"{one.number:>6} {one.runs:>5} {one.answers:>8} {one.wrong:>6} {one.worst_ms:>12,.0f} "
            f"{one.threads:>8} {one.files:>6} {one.rss_bytes / 1e6:>8.1f}"
        )
    yield _growth(seen)


def _growth(seen: list[Minute]) -> str:
    settled = [one for one in seen if one.number >= SETTLED_MINUTE]
    if len(settled) < 2:
        return f"\n{sum(one.wrong for one in seen)} wrong answers"
    first, last = settled[0], settled[-1]
    return (
        f"\nfrom minute {first.number} to {last.number}: {last.threads - first.threads:+} threads, "
        f"{last.files - first.files:+} files, {(last.rss_bytes - first.rss_bytes) / 1e6:+.1f} MB, "
        f"{last.runs - first.runs:+} runs; {sum(one.wrong for one in seen)} wrong answers"
    )


def table(runs: Path, cases: int, _seed: int) -> str:
    """The given number of minutes."""
    return "\n".join(rows(minutes(runs, cases)))
