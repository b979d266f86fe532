"""Latency in TRex's words: microseconds, its own histogram, HdrHistogram's text."""

from collections.abc import Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

from linerate.base import histogram
from linerate.trex_server.traffic_engine import StreamLatency

NS_PER_US = 1000
#: TRex's HdrHistogram: microseconds, up to a minute.
HIGHEST_US, DIGITS = 60_000_000, 3


def in_us(ns: float) -> float:
    """To a tenth of a nanosecond, for JSON."""
    return round(ns / NS_PER_US, 4)


class LatencyPeriods:
    """Highest latency since the last call, for each stream, of buckets that grew."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[int, int]] = {}

    def last_max_us(self, name: str, latency: StreamLatency) -> float:
        """Highest latency of the period that ends now."""
        if latency.last_max_us is not None:
            return latency.last_max_us
        before = self._seen.get(name, {})
        now = dict(latency.buckets)
        self._seen[name] = now
        grown = [bucket for bucket, count in now.items() if count > before.get(bucket, 0)]
        return in_us(_values((max(grown),))[0]) if grown else 0.0

    def forget(self, names: Sequence[str]) -> None:
        """Streams that are no more."""
        for name in names:
            self._seen.pop(name, None)


def document(latency: StreamLatency, last_max_us: float, hdrh: bool) -> dict[str, Any]:
    """`lat` of a group."""
    count, jitters = latency.count, latency.jitter_count
    values = _values([bucket for bucket, _ in latency.buckets])
    counted = list(zip(values, (packets for _, packets in latency.buckets), strict=True))
    made: dict[str, Any] = {
        "average": in_us(latency.sum_ns / count) if count else 0.0,
        "jit": round(latency.jitter_sum_ns / jitters / NS_PER_US) if jitters else 0,
        "total_max": round(latency.max_ns / NS_PER_US),
        "total_min": round(latency.min_ns / NS_PER_US),
        "last_max": round(last_max_us),
        "histogram": _decades(counted),
    }
    return made | ({"hdrh": _hdrh(counted)} if hdrh else {})


def _values(buckets: Sequence[int]) -> list[int]:
    shape = HdrHistogram(histogram.LOWEST_NS, histogram.HIGHEST_NS, histogram.DIGITS)
    return [shape.get_value_from_index(bucket) for bucket in buckets]


def _decades(counted: Sequence[tuple[int, int]]) -> dict[str, int]:
    """By the first digit of microseconds; below ten, 0."""
    made: dict[str, int] = {}
    for ns, packets in counted:
        us = ns // NS_PER_US
        ten = 10 ** (len(str(us)) - 1)
        key = str(us // ten * ten if us >= 10 else 0)
        made[key] = made.get(key, 0) + packets
    return made


def _hdrh(counted: Sequence[tuple[int, int]]) -> str:
    made = HdrHistogram(1, HIGHEST_US, DIGITS)
    for ns, packets in counted:
        made.record_value(min(HIGHEST_US, max(1, round(ns / NS_PER_US))), packets)
    return histogram.to_text(made)
