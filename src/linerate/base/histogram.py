"""Latency histograms: HdrHistogram's, as the engine keeps them and as its text tells them."""

from collections.abc import Iterable
from typing import Any

from hdrh.histogram import HdrHistogram

#: The engine's (engine/tester/latency.h): nanoseconds, three significant digits.
LOWEST_NS = 1
HIGHEST_NS = (2048 << 23) - 1
DIGITS = 3
#: Percentiles of latency that are reported.
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999)


def from_buckets(buckets: Iterable[tuple[int, int]]) -> HdrHistogram:
    """Make one of the engine's buckets: number and packets of each that is not empty."""
    histogram = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for bucket, packets in buckets:
        histogram.record_value(histogram.get_value_from_index(bucket), packets)
    return histogram


def to_text(histogram: HdrHistogram) -> str:
    """HdrHistogram's own form, V2 compressed and in base64: other tools read it."""
    encoded: bytes = histogram.encode()
    return encoded.decode("ascii")


def from_text(text: str) -> HdrHistogram:
    """The opposite; raises ValueError."""
    try:
        return HdrHistogram.decode(text)
    except Exception as error:  # the library raises its own, zlib's and binascii's
        raise ValueError(f"no histogram in HdrHistogram's V2 form: {error}") from error


def merged(texts: Iterable[str]) -> HdrHistogram:
    """All of them in one; raises ValueError."""
    whole = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for text in texts:
        whole.add(from_text(text))
    return whole


def grown(after: str, before: str) -> HdrHistogram:
    """Values of the first that the second does not have yet; raises ValueError."""
    counts = {
        item.value_iterated_to: item.count_at_value_iterated_to
        for item in from_text(before).get_recorded_iterator()
    }
    made = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for item in from_text(after).get_recorded_iterator():
        more = item.count_at_value_iterated_to - counts.get(item.value_iterated_to, 0)
        if more > 0:
            made.record_value(item.value_iterated_to, more)
    return made


def percentiles(
    histogram: HdrHistogram, wanted: Iterable[float] = PERCENTILES
) -> dict[float, int | None]:
    """Latency in ns that this percentage of the frames did not exceed.

    None where there are too few frames to tell: none of them would be slower.
    """
    count: int = histogram.total_count
    reported = [one for one in wanted if count * (100.0 - one) >= 100.0 - 1e-6]
    found: dict[float, int] = histogram.get_percentile_to_value_dict(reported) if count else {}
    return {one: found.get(one) for one in wanted}


def curve(histogram: HdrHistogram) -> list[tuple[float, int]]:
    """Share of the frames (below 1) and the latency in ns that it did not exceed, rising."""
    points: list[tuple[float, int]] = []
    item: Any
    for item in histogram.get_percentile_iterator(5):
        share = item.percentile_level_iterated_to / 100.0
        value = histogram.get_highest_equivalent_value(item.value_iterated_to)
        if share < 1.0:
            points.append((share, value))
    return points
