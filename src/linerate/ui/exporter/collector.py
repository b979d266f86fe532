"""One scrape: all engines asked at once, within a time limit, whoever wants to know."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from linerate.engine.snapshot import LIMIT_SECONDS, Look, look
from linerate.ui.exporter.families import metrics
from linerate.ui.exporter.runs import Runs
from linerate.ui.exporter.scene import Scene
from linerate.ui.exporter.vpp import read_segment
from linerate.ui.screen import complain

#: A scrape within this time gets the previous one's data: ten viewers cost an engine as much as
#: one.
FRESH_SECONDS = 0.5

Say = Callable[[str], None]


def _say(line: str) -> None:
    complain(line)


class Exporter(Collector):
    """Collects metrics of all engines; one scrape at a time."""

    def __init__(self, limit_seconds: float = LIMIT_SECONDS, say: Say = _say) -> None:
        """`limit_seconds` is an engine's time for its answers, `say` receives refusals."""
        self._limit_seconds = limit_seconds
        self._say = say
        self._runs = Runs()
        self._lock = threading.Lock()
        self._message: set[Path] = set()
        self._last: tuple[float, bytes] | None = None
        self._registry = CollectorRegistry()
        # Nothing is asked now: an engine that starts later is as good as one that runs.
        self._registry.register(_Undescribed(self))

    def collect(self) -> Iterator[Metric]:
        """Ask all engines, and yield what they say."""
        yield from metrics(self.scene())

    def scene(self) -> Scene:
        """Ask all engines."""
        began = time.monotonic()
        seen = look(limit_seconds=self._limit_seconds)
        self._tell_refused(seen)
        runs = {
            name: run
            for name, one in seen.snapshots.items()
            if (run := self._runs.of_engine(int(one.info["pid"]))) is not None
        }
        return Scene(seen, runs, read_segment(), time.monotonic() - began)

    def _tell_refused(self, seen: Look) -> None:
        """Say each place once."""
        for path in seen.refused:
            if path not in self._message:
                self._message.add(path)
                self._say(
                    f"linerate: {path}: permission denied; "
                    "engines of another user are seen by that user, or by root"
                )

    def text(self) -> tuple[bytes, str]:
        """All metrics in Prometheus's text format, and its content type."""
        with self._lock:
            if self._last is None or time.monotonic() - self._last[0] > FRESH_SECONDS:
                document = generate_latest(self._registry)
                self._last = (time.monotonic(), document)
            return self._last[1], CONTENT_TYPE_PLAIN_0_0_4


class _Undescribed(Collector):
    """A collector that a registry does not ask when it is registered."""

    def __init__(self, exporter: Exporter) -> None:
        self._exporter = exporter

    def collect(self) -> Iterator[Metric]:
        return self._exporter.collect()

    def describe(self) -> Iterator[Metric]:
        """Tell of none beforehand."""
        return iter(())
