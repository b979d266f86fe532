"""Histograms as the engine keeps them are HdrHistogram's; figures, streams and reports of them."""

import io
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from linerate.base import histogram
from linerate.cli.run_into_folder import Bar, new_progress
from linerate.experiments.latency import LatencyBench, timed
from linerate.experiments.plan import suite_plan
from linerate.model.measurement.latency import StreamLatency, figures, times
from linerate.model.suites import Loadtest, select
from linerate.model.suites.loadtest import streams
from linerate.model.testbed import Testbed
from linerate.report import latency as report
from linerate.report import latency_loads
from linerate.report.document import NONE, Document, table
from linerate.report.render import terminal
from linerate.results.store import RunFolder, load_measurement

MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
VALUES = st.lists(st.integers(1, histogram.HIGHEST_NS), min_size=1, max_size=200)


def bucket_of(value: int) -> int:
    """As engine/tester/latency.h says it."""
    doubling = max(0, value.bit_length() - 11)
    return doubling * 1024 + (value >> doubling)


def buckets_of(values: list[int]) -> list[tuple[int, int]]:
    buckets: dict[int, int] = {}
    for value in values:
        buckets[bucket_of(value)] = buckets.get(bucket_of(value), 0) + 1
    return sorted(buckets.items())


@given(VALUES)
def test_the_engines_buckets_are_hdr_histograms(values: list[int]) -> None:
    plain = HdrHistogram(histogram.LOWEST_NS, histogram.HIGHEST_NS, histogram.DIGITS)
    for value in values:
        plain.record_value(value)
    ours = histogram.from_text(histogram.to_text(histogram.from_buckets(buckets_of(values))))
    assert ours.total_count == len(values)
    for percent in (0.1, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0):
        assert ours.get_value_at_percentile(percent) == plain.get_value_at_percentile(percent)


@given(VALUES)
def test_percentiles_are_within_a_thousandth(values: list[int]) -> None:
    ours = histogram.from_buckets(buckets_of(values))
    rank = max(1, int(len(values) / 2 + 0.5))
    exact = sorted(values)[rank - 1]
    assert histogram.percentiles(ours, [50.0])[50.0] in (None, pytest.approx(exact, rel=0.001))


@settings(max_examples=25)
@given(VALUES, VALUES)
def test_figures_of_several_streams_are_those_of_all_their_frames(
    one: list[int], other: list[int]
) -> None:
    streams = [stream_of(one), stream_of(other), stream_of([])]
    assert times(streams) == times([stream_of(one + other)])
    assert times(streams).min_us == min(one + other) / 1000
    assert times([stream_of([])]).p50_us is None


def stream_of(values: list[int]) -> StreamLatency:
    kept = histogram.from_buckets(buckets_of(values))
    return StreamLatency(
        stream="s", port="t0", rx_port="t1", count=len(values),
        min_ns=min(values, default=0), max_ns=max(values, default=0), sum_ns=sum(values),
        jitter_sum_ns=0, jitter_count=0,
        histogram=histogram.to_text(kept) if values else "",
    )  # fmt: skip


def test_a_percentile_needs_a_frame_above_it() -> None:
    ours = histogram.from_buckets([(100, 1000)])
    reported = histogram.percentiles(ours)
    assert reported[99.9] == 100
    assert reported[99.99] is None
    assert histogram.percentiles(histogram.from_buckets([]))[50.0] is None


def test_the_curve_rises() -> None:
    points = histogram.curve(histogram.from_buckets([(10, 900), (2000, 90), (9000, 10)]))
    assert points == sorted(points)
    assert all(0 <= share < 1 for share, _ in points)


@pytest.mark.parametrize("text", ["", "nonsense", "HISTFAAAA", "HISTFAAAAC14nA=="])
def test_what_is_no_histogram_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no histogram"):
        histogram.from_text(text)


def latency(**changes: object) -> StreamLatency:
    values = [1000] * 98 + [4000, 5000]
    reported: dict[str, object] = {
        "stream": "U1-t0-latency",
        "port": "t0",
        "rx_port": "t1",
        "count": len(values),
        "min_ns": min(values),
        "max_ns": max(values),
        "sum_ns": sum(values),
        "jitter_sum_ns": 99 * 41,
        "jitter_count": 99,
        "histogram": histogram.to_text(histogram.from_buckets(buckets_of(values))),
        **changes,
    }
    return StreamLatency.model_validate(reported)


def test_figures() -> None:
    counters = {"U1-t0-latency": {"lost": 3, "duplicated": 1, "out_of_order": 2}}
    (one,) = figures((latency(),), counters)
    assert one.direction == "t0 → t1"
    assert (one.lost, one.duplicated, one.out_of_order) == (3, 1, 2)
    assert (one.min_us, one.max_us, one.mean_us) == (1.0, 5.0, 1.07)
    assert one.p50_us == 1.0
    assert one.p99_us == pytest.approx(4.0, rel=0.001)
    assert one.p99_9_us is None
    assert one.jitter_us == pytest.approx(0.041)


def test_without_frames_nothing_is_reported() -> None:
    (one,) = figures(
        (latency(count=0, min_ns=0, max_ns=0, sum_ns=0, jitter_count=0, histogram=""),), {}
    )
    assert one.count == 0
    assert (one.min_us, one.p50_us, one.max_us, one.jitter_us) == (None, None, None, None)
    assert report.cells(one)[1:8] == (NONE,) * 7


@pytest.mark.parametrize("name", ["U1", "B1", "U3", "B4"])
@pytest.mark.parametrize("rate", [{"percent": 100}, {"max": True}])
def test_a_tenth_is_timed_and_nothing_is_added(name: str, rate: dict[str, float]) -> None:
    (loadtest,) = select("standard", name)
    plain, timed_ones = (streams(one, MACS, rate) for one in (loadtest, timed(loadtest)))
    assert len(timed_ones) == 2 * len(plain)
    for whole, rest, part in zip(plain, timed_ones[::2], timed_ones[1::2], strict=True):
        assert part["latency"] is True
        assert "latency" not in rest
        assert part["weight"] * 9 == rest["weight"]
        if "percent" in rate:
            assert part["rate"]["percent"] == pytest.approx(10)
            assert rest["rate"]["percent"] + part["rate"]["percent"] == pytest.approx(100)
        for key in ("port", "rx_port", "frame_bytes", "layers", "modifiers"):
            assert rest[key] == part[key] == whole[key]
    assert len({stream["name"] for stream in timed_ones}) == len(timed_ones)


def test_bursts_are_timed_at_the_same_load_over_the_bare_link(
    bursts: Loadtest, fake_environment: Path, tmp_path: Path
) -> None:
    plan = suite_plan(Testbed(), "standard", (timed(bursts),), 1, ("x",))
    folder = RunFolder.create(tmp_path, "latency")
    run = LatencyBench(plan, folder, Bar(new_progress(), 1)).measure()
    assert (run.status, run.problem) == ("complete", "")
    device, wire = (load_measurement(folder.path, name) for name in ("bursts", "bursts-wire"))
    assert device.asked_pps > 1.4 * device.load.asked_pps
    assert wire.load.scale_ppm == device.load.scale_ppm == 1_000_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--ndr", "100M"),
            "--ndr: 100 Mpps; U2 has 14.881 Mpps at most, which --ndr line asks for",
        ),
        (("--ndr", "14.89mpps"), "--ndr: 14.89 Mpps; U2 has 14.881 Mpps at most"),
        (
            ("--traffic", "1518", "--rate", "10%", "--ndr", "170k"),
            "--ndr: 0.17 Mpps; 1518B has 0.162549 Mpps",
        ),
        (("--ndr", "2mbps"), "--ndr: expected packets a second, as 1.5M, or line; not '2mbps'"),
        (("--rate", "10%"), "--rate: expected with a profile, as --traffic 64 --rate 2mpps"),
        (("--loadtest", "U1", "--traffic", "imix"), "expected either a profile or 'U1'"),
    ],
)
def test_loads_that_there_are_not_are_refused(
    linerate: Callable[..., CompletedProcess[str]], words: tuple[str, ...], message: str
) -> None:
    done = linerate("latency", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize(("columns", "words"), [(report.COLUMNS, 2), (latency_loads.COLUMNS, 3)])
def test_figures_fit_eighty_columns(columns: tuple[str, ...], words: int) -> None:
    longest = {"load": "100 %", "Mpps": "14.8810", "of": "bare link", "frames": "1,488,095"}
    longest |= {"test": "U1", "lost": "0"}
    out = io.StringIO()
    row = tuple(longest.get(name, "123.4") for name in columns)
    made = Document("", (table("", columns, [row], range(words)).untitled,), dict)
    terminal.show(Console(file=out, width=80), made)
    _, _, head, line = out.getvalue().splitlines()
    assert max(len(head), len(line)) <= 80
