"""Snapshots: all that a running engine says of itself at one moment, within a time limit.

What a live view shows and what is exported is made of these. One costs the engine some ten short
answers, given by a thread of its own: never by a worker.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from hdrh.histogram import HdrHistogram

from linerate.engine.engine_process import engine_sockets
from linerate.engine.readings import read_errors, read_flows, worker_reading
from linerate.engine.telemetry import RefusedError, Telemetry, TelemetryError, rows
from linerate.model.measurement import DropCount, WorkerReading
from linerate.model.measurement.flows import Counters, FlowCounts

Row = dict[str, Any]
Read = TypeVar("Read")

#: An engine that took no longer for its answers would be no use to look at.
LIMIT_SECONDS = 2.0
#: Engines asked at once; a host runs one or two.
ENGINES_MAX = 16
#: Streams of one engine in one answer: a trial may have thousands, too many to read.
STREAMS_MAX = 64
#: Histograms of one engine; each takes some answers.
HISTOGRAMS_MAX = 8
#: Reasons to drop a packet, as drivers name them.
RECEIVE_DROPS = (
    "rx_missed",
    "rx_no_mbuf",
    "rx_errors",
    "rx_oversize",
    "rx_card_pps",
    "rx_pcie",
    "rx_flow_rule",
    "rx_too_long",
)
TRANSMIT_DROPS = (
    "tx_full",
    "tx_oversize",
    "tx_errors",
    "tx_dropped",
    "tx_no_buffers",
    "tx_link_down",
    "tx_too_long",
)


@dataclass(frozen=True, slots=True)
class PortState:
    """A port, and what it counted."""

    driver: str
    mac: str
    link_bps: int
    counters: Counters

    @property
    def drops(self) -> int:
        """Packets that were to come in or go out here, and did not."""
        return sum(self.counters.get(name, 0) for name in (*RECEIVE_DROPS, *TRANSMIT_DROPS))


@dataclass(frozen=True, slots=True)
class Histogram:
    """Latency of a latency stream's frames, since its trial began."""

    stream: str
    #: Upper end in ns and frames of each bucket that is not empty, rising.
    buckets: tuple[tuple[int, int], ...]
    sum_ns: int
    #: Frames that are not in the buckets: a worker was descheduled while they were in flight.
    disturbed: int
    damaged: int

    @property
    def count(self) -> int:
        """Frames in the buckets."""
        return sum(frames for _, frames in self.buckets)

    def quantile_ns(self, share: float) -> int | None:
        """Latency that this share of the frames did not exceed; None without frames."""
        left = share * self.count
        for top, frames in self.buckets:
            left -= frames
            if left <= 0:
                return top
        return None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One engine at one moment. Counters grow from its start on."""

    name: str
    #: On the monotonic clock; how long all answers took.
    at: float
    took_seconds: float
    info: Row
    trial: Row
    workers: tuple[WorkerReading, ...] = ()
    #: By worker: `rx_mode`, `sleeps`, `started_tsc`.
    more: dict[str, Row] = field(default_factory=dict)
    errors: tuple[DropCount, ...] = ()
    ports: dict[str, PortState] = field(default_factory=dict)
    rings: tuple[Row, ...] = ()
    locks: tuple[Row, ...] = ()
    ledger: tuple[Row, ...] = ()
    streams: tuple[Row, ...] = ()
    #: Total number; the first of them are in `streams`.
    nb_streams: int = 0
    latency: tuple[Histogram, ...] = ()
    flows: FlowCounts | None = None
    #: The largest flows, when they were asked for.
    largest: tuple[Row, ...] = ()

    @property
    def tsc_hz(self) -> int:
        """Clocks a second."""
        return int(self.info["tsc_hz"])


@dataclass(frozen=True, slots=True)
class Look:
    """Every engine of a host: those that answered, those that did not and why."""

    snapshots: dict[str, Snapshot]
    silent: dict[str, str] = field(default_factory=dict)
    #: Places that this user may not look into.
    refused: tuple[Path, ...] = ()
    #: Engines that were not asked, since there are too many.
    skipped: int = 0


def look(names: tuple[str, ...] = (), limit_seconds: float = LIMIT_SECONDS, flows: int = 0) -> Look:
    """Ask all engines at the same time, or those of some names; no engine delays the others.

    `flows` of the largest are asked for: the engine watches its table for a fifth of a second then.
    """
    sockets, refused = engine_sockets()
    chosen = [(name, path) for name, path in sockets.items() if not names or name in names]
    asked = chosen[:ENGINES_MAX]
    found: dict[str, Snapshot] = {}
    silent: dict[str, str] = {}
    if asked:
        with ThreadPoolExecutor(len(asked)) as pool:
            answers = pool.map(lambda one: _try(one[0], one[1], limit_seconds, flows), asked)
            for (name, _), answer in zip(asked, answers, strict=True):
                if isinstance(answer, Snapshot):
                    found[name] = answer
                elif answer:
                    silent[name] = answer
    return Look(found, silent, tuple(refused), len(chosen) - len(asked))


def _try(name: str, path: Path, limit_seconds: float, flows: int) -> Snapshot | str:
    """Take a snapshot; else the reason, and nothing without an engine."""
    try:
        return snapshot(name, path, limit_seconds, flows)
    except TelemetryError as error:
        return "" if "no engine" in str(error) else str(error)
    except (KeyError, TypeError, ValueError) as error:
        return f"{path}: an answer that this version can't read: {type(error).__name__}: {error}"


def snapshot(
    name: str, path: Path, limit_seconds: float = LIMIT_SECONDS, flows: int = 0
) -> Snapshot:
    """Ask one engine for all; raises TelemetryError when that takes longer than allowed."""
    began = time.monotonic()
    with Telemetry(path, limit_seconds, until=began + limit_seconds) as telemetry:
        info = telemetry.ask("/linerate/info")
        workers, more = _workers(telemetry, int(info["tsc_hz"]))
        streams, nb_streams = _streams(telemetry)
        return Snapshot(
            name=name,
            at=time.monotonic(),
            info=info,
            workers=workers,
            more=more,
            errors=_unless_refused(lambda: read_errors(telemetry), ()),
            ports=_ports(telemetry),
            rings=_table(telemetry, "/linerate/rings"),
            locks=_table(telemetry, "/linerate/locks"),
            ledger=_table(telemetry, "/linerate/ledger"),
            trial=_unless_refused(lambda: dict(telemetry.ask("/linerate/trial")), {}),
            streams=streams,
            nb_streams=nb_streams,
            latency=_unless_refused(lambda: _histograms(telemetry), ()),
            flows=_unless_refused(lambda: read_flows(telemetry), None),
            largest=_table(telemetry, f"/linerate/flows,top={flows}") if flows else (),
            took_seconds=time.monotonic() - began,
        )


def _unless_refused(read: Callable[[], Read], otherwise: Read) -> Read:
    """Read what this engine may not have, as others of its versions do."""
    try:
        return read()
    except RefusedError:
        return otherwise


def _table(telemetry: Telemetry, command: str) -> tuple[Row, ...]:
    return _unless_refused(lambda: tuple(telemetry.table(command)), ())


def _workers(telemetry: Telemetry, hertz: int) -> tuple[tuple[WorkerReading, ...], dict[str, Row]]:
    readings, more = [], {}
    for row in telemetry.table("/linerate/workers"):
        answer = telemetry.ask(f"/linerate/runtime,{row['name']}")
        readings.append(worker_reading(row, answer, hertz))
        more[str(row["name"])] = {
            key: value for key, value in answer.items() if not isinstance(value, list)
        }
    return tuple(readings), more


def _ports(telemetry: Telemetry) -> dict[str, PortState]:
    ports = {}
    for row in telemetry.table("/linerate/ports"):
        answer = telemetry.ask(f"/linerate/port,{row['name']}")
        counters = {key: value for key, value in answer.items() if isinstance(value, int)}
        ports[str(row["name"])] = PortState(
            str(row["driver"]), str(row["mac"]), int(row["link_bps"]), counters
        )
    return ports


def _streams(telemetry: Telemetry) -> tuple[tuple[Row, ...], int]:
    """The first streams, and how many there are."""
    try:
        answer = telemetry.ask("/linerate/streams,0")
    except RefusedError:
        return (), 0
    table = rows(answer, "/linerate/streams")
    return tuple(table[:STREAMS_MAX]), int(answer.get("total", len(table)))


def _histograms(telemetry: Telemetry) -> tuple[Histogram, ...]:
    timed = telemetry.table("/linerate/latency")
    return tuple(_histogram(telemetry, row) for row in timed[:HISTOGRAMS_MAX])


def _histogram(telemetry: Telemetry, row: Row) -> Histogram:
    buckets: list[tuple[int, int]] = []
    first = 0
    while True:
        reply = telemetry.ask(f"/linerate/latency,{row['stream']},{first}")
        scale = _scale(int(reply["highest"]), int(reply["digits"]))
        buckets += (
            (int(scale.get_highest_equivalent_value(scale.get_value_from_index(index))), frames)
            for index, frames in zip(reply["bucket"], reply["packets"], strict=True)
            if frames
        )
        # Buckets come in their order: one that does not go on would never end.
        if int(reply["next"]) <= first:
            break
        first = int(reply["next"])
    return Histogram(
        stream=str(row["name"]),
        buckets=tuple(buckets),
        sum_ns=int(reply["sum"]),
        disturbed=int(reply["disturbed_count"]),
        damaged=int(reply["damaged"]),
    )


@cache
def _scale(highest: int, digits: int) -> HdrHistogram:
    """Say which bucket is what: as HdrHistogram has them, in ns."""
    return HdrHistogram(1, highest, digits)
