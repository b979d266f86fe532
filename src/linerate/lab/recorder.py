"""A run while it is measured: `live.jsonl` in its folder, one line for each thing that happens.

It is written beside the trials, from readings that they take anyway and one of the ledger, and
whoever watches reads the file only. All counts are differences to the line before of the same
trial, and a trial's last line closes the books: each series sums to the run's totals exactly.
"""

import time
from typing import Any

from linerate.lab.tester import Tester
from linerate.lab.tester._passed_on import PassedOn
from linerate.model.ledger import NodeTime, PacketLedger
from linerate.model.measurement import Progress, Reading, WorkerReading
from linerate.results.journal import Journal

#: Readings that follow another sooner than this are no sample of their own.
SAMPLE_SECONDS = 0.4
#: Interval at which workers are read in a long trial without a reader.
QUIET_SECONDS = 5.0
#: Fields of a node in a sample, in this order.
NODE_FIELDS = tuple(NodeTime.model_fields)
#: A worker's cycles outside of its nodes.
CLOCKS = ("overhead_clocks", "away_clocks", "sleep_clocks")

#: By worker and node.
Nodes = dict[str, dict[str, list[int]]]
#: By place and kind of the packet ledger.
Places = dict[tuple[str, str], int]


class Watched(PassedOn):
    """A tester whose readings are noted; to a trial it is the tester itself."""

    def __init__(self, tester: Tester, journal: Journal, about: dict[str, str | int]) -> None:
        """`about` names what is measured."""
        super().__init__(tester)
        self._journal = journal
        self._about = about
        self._open: _Books | None = None
        self._progress = Progress(trial=0, state="idle", elapsed_us=0)

    def readings(self) -> Reading:
        """All counters: the first reading of a trial opens the books, the last closes them."""
        reading = self._tester.readings()
        if self._open is None:
            self._begin(reading)
        elif self._progress.state in ("running", "draining"):
            self._sample(reading.workers, reading.ledger)
        else:
            self._end(reading)
        return reading

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks alone, noted twice a second at most."""
        workers = self._tester.workers()
        if self._open is not None and self._open.age >= SAMPLE_SECONDS:
            self._sample(workers, self._tester.ledger())
        return workers

    def progress(self) -> Progress:
        """Progress of the trial."""
        before, self._progress = self._progress, self._tester.progress()
        if self._progress.state == "draining" != before.state and self._open:
            self._journal.note("draining", number=self._open.number)
        if self._progress.state == "running" and self._open and self._open.age >= QUIET_SECONDS:
            self.workers()
        return self._progress

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Start all streams."""
        self._tester.start(duration_us, scale_ppm, clean_us)
        self._progress = Progress(trial=0, state="running", elapsed_us=0)
        if self._open:
            seconds = duration_us / 1e6
            number = self._open.number
            self._journal.note("sending", number=number, seconds=seconds, scale_ppm=scale_ppm)

    def _begin(self, reading: Reading) -> None:
        number = self._journal.begin_trial()
        self._open = _Books(number, reading)
        self._journal.note("trial", number=number, **self._about)

    def _sample(self, workers: tuple[WorkerReading, ...], ledger: PacketLedger) -> None:
        assert self._open is not None
        grown = self._open.grown(workers, ledger)
        self._journal.note(
            "sample",
            number=self._open.number,
            label=self._about["label"],
            at_us=self._progress.elapsed_us,
            **grown,
        )

    def _end(self, reading: Reading) -> None:
        """Whatever the samples did not see is in the last one."""
        assert self._open is not None
        grown = self._open.grown(reading.workers, reading.ledger, whole=reading.ledger)
        self._journal.note(
            "closed",
            number=self._open.number,
            label=self._about["label"],
            at_us=self._progress.elapsed_us,
            **grown,
        )
        self._open = None


class _Books:
    """Records of a trial so far."""

    def __init__(self, number: int, reading: Reading) -> None:
        self.number = number
        self._workers = {worker.name: worker for worker in reading.workers}
        self._places = _places(reading.ledger)
        self._at = time.monotonic()

    @property
    def age(self) -> float:
        """Seconds since the last sample."""
        return time.monotonic() - self._at

    def grown(
        self,
        workers: tuple[WorkerReading, ...],
        ledger: PacketLedger,
        whole: PacketLedger | None = None,
    ) -> dict[str, Any]:
        """Increments since the last line; `whole` if the ledger has every place."""
        now = time.monotonic()
        seconds, self._at = now - self._at, now
        clocks = {worker.name: self._worker(worker) for worker in workers}
        places = _places(ledger)
        if whole is not None:
            # Packets held at a place that is not listed any more were released.
            places = dict.fromkeys(self._places, 0) | places
        packets = [
            (place, kind, count - self._places.get((place, kind), 0))
            for (place, kind), count in places.items()
            if count != self._places.get((place, kind), 0)
        ]
        self._places |= places
        by_kind = {
            kind: sum(count for _, its, count in packets if its == kind)
            for kind in ("sent", "received")
        }
        return {
            "seconds": round(seconds, 6),
            "sent_pps": round(by_kind["sent"] / seconds) if seconds else 0,
            "received_pps": round(by_kind["received"] / seconds) if seconds else 0,
            "workers": clocks,
            "packets": packets,
        }

    def _worker(self, worker: WorkerReading) -> dict[str, Any]:
        """Clocks of one worker; nodes that did nothing are left out."""
        before = self._workers.get(worker.name)
        since = worker.since(before if before is not None else _nothing(worker))
        self._workers[worker.name] = worker
        found = {
            name: [int(getattr(node, field)) for field in NODE_FIELDS]
            for name, node in since.nodes.items()
        }
        nodes = {name: values for name, values in found.items() if any(values)}
        spent = {field: getattr(since, field) for field in CLOCKS}
        return {"role": worker.role, "tsc_hz": worker.tsc_hz, "clocks": since.elapsed_clocks,
                **spent, "loops": since.loops, "nodes": nodes}  # fmt: skip


def _nothing(worker: WorkerReading) -> WorkerReading:
    """A worker that appears in the middle of a trial has done nothing before."""
    zero = dict.fromkeys(("loops", *CLOCKS), 0)
    return worker.model_copy(update={"nodes": {}, **zero})


def _places(ledger: PacketLedger) -> Places:
    found: Places = {}
    for entry in ledger.entries:
        key = (entry.place, entry.kind)
        found[key] = found.get(key, 0) + entry.packets
    return found
