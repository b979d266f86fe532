"""A benchmark and its result."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

#: A stamp that changed by more than this within a pair says that the CPUs moved.
STAMP_FACTOR = 1.5


class NotMeasuredError(Exception):
    """Why there is no figure, in one line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is measured: CPUs and memory, the same for ours and the peer."""

    main_cpu: int
    work_cpu: int
    hugepages: bool
    hugepages_free: int = 0

    @property
    def pages(self) -> str:
        """Word of the engine's configuration."""
        return "hugepages" if self.hugepages else "thp"

    @property
    def cpus(self) -> tuple[int, ...]:
        """Both CPUs, or the only one."""
        return tuple(dict.fromkeys((self.main_cpu, self.work_cpu)))


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement of one side.

    `clocks` are of what the benchmark looks at; with one core and None it is all clocks of
    that core, which `tsc_hz` gives.
    """

    pps: float
    clocks: float | None = None
    tsc_hz: float = 0.0
    details: Mapping[str, float | str] = field(default_factory=dict)


class Session(Protocol):
    """Something that runs and can be measured again and again."""

    def sample(self, seconds: float) -> Sample:
        """Measure for so long."""


Side = Callable[[Place], AbstractContextManager[Session]]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Distance of the CPUs now, and the rate of the bare hand-over."""

    roundtrip_ns: float
    handover_pps: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The picture of which a benchmark is a point: cycles/packet over `x`."""

    title: str
    x_text: str
    x: float
    ours: str
    peer: str


@dataclass(frozen=True, slots=True)
class Kind:
    """One benchmark."""

    name: str
    text: str
    ours: Side
    peer: Side | None = None
    peer_name: str | None = None
    cores: int = 1
    curve: Curve | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Ours and the peer, one right after the other."""

    ours: Sample
    peer: Sample | None = None
    stamps: tuple[Stamp, ...] = ()

    @property
    def holds(self) -> bool:
        """The CPUs were placed as before throughout, and not used more by others."""
        trips = [stamp.roundtrip_ns for stamp in self.stamps]
        rates = [stamp.handover_pps for stamp in self.stamps]
        measures = [values for values in (trips, rates) if values]
        return all(max(values) <= STAMP_FACTOR * min(values) for values in measures)


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one benchmark: medians of the repeats."""

    name: str
    clocks_per_packet: float | None = None
    mpps: float | None = None
    spread_percent: float | None = None
    peer: str | None = None
    peer_clocks_per_packet: float | None = None
    ratio: float | None = None
    peer_mpps: float | None = None
    problem: str | None = None
    details: Mapping[str, float | str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON; what is no problem and no detail is left out."""
        names = ("name", "clocks_per_packet", "mpps", "spread_percent", "peer")
        more = ("peer_clocks_per_packet", "ratio", "peer_mpps")
        written: dict[str, Any] = {name: _rounded(getattr(self, name)) for name in (*names, *more)}
        if self.problem:
            written["problem"] = self.problem
        if self.details:
            written["details"] = {key: _rounded(value) for key, value in self.details.items()}
        return written


def _rounded(value: float | str | None) -> float | str | None:
    return round(value, 3) if isinstance(value, float) else value


def spread_percent(values: Sequence[float]) -> float:
    """Largest less smallest, of the median."""
    return 100 * (max(values) - min(values)) / median(values)


def result_of(kind: Kind, pairs: Sequence[Pair], problem: str | None = None) -> Result:
    """Join the pairs; without any there is a problem and no figure."""
    if not pairs:
        return Result(kind.name, problem=problem or "nothing was measured")
    ours = [pair.ours for pair in pairs]
    peers = [pair.peer for pair in pairs if pair.peer is not None]
    tsc_hz = median(sample.tsc_hz for sample in ours)
    # A rate of all and the cycles of a part may differ in spread: the figure checked is the one
    # whose spread is reported.
    looked_at = [sample.pps if sample.clocks is None else sample.clocks for sample in ours]
    # Both of a pair met the same machine, so the ratio is taken pair by pair.
    ratios = [pair.ours.pps / pair.peer.pps for pair in pairs if pair.peer is not None]
    pps = median(sample.pps for sample in ours)
    return Result(
        name=kind.name,
        clocks_per_packet=_clocks(kind, ours, tsc_hz),
        mpps=pps / 1e6,
        spread_percent=spread_percent(looked_at),
        peer=kind.peer_name if peers else None,
        peer_clocks_per_packet=_clocks(kind, peers, tsc_hz) if peers else None,
        ratio=median(ratios) if ratios else None,
        peer_mpps=median(peer.pps for peer in peers) / 1e6 if peers else None,
        problem=problem,
        details=_details(pairs),
    )


def _clocks(kind: Kind, samples: Sequence[Sample], tsc_hz: float) -> float | None:
    """Cycles a packet; two cores have no common one."""
    parts = [sample.clocks for sample in samples if sample.clocks is not None]
    if parts:
        return median(parts)
    return tsc_hz / median(sample.pps for sample in samples) if kind.cores == 1 else None


def _details(pairs: Sequence[Pair]) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for who in ("ours", "peer"):
        samples = [sample for pair in pairs if (sample := getattr(pair, who)) is not None]
        for key in dict.fromkeys(key for sample in samples for key in sample.details):
            values = [sample.details[key] for sample in samples if key in sample.details]
            numbers = [value for value in values if not isinstance(value, str)]
            found[key] = median(numbers) if numbers else values[-1]
    stamps = [stamp for pair in pairs for stamp in pair.stamps]
    if stamps:
        found["roundtrip_ns"] = median(stamp.roundtrip_ns for stamp in stamps)
        handover = median(stamp.handover_pps for stamp in stamps)
        found["handover_mpps"] = handover / 1e6
        # Against the hand-over that was measured right beside it.
        found["of_handover"] = median(
            pair.ours.pps / median(stamp.handover_pps for stamp in pair.stamps)
            for pair in pairs
            if pair.stamps
        )
    return found
