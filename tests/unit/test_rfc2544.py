"""RFC 2544's benchmarks: the search for bursts on a model, loss curves, a run on the fake engine."""

import math

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from tests.command import result_of

from linerate.analysis.validity import reasons
from linerate.base.histogram import DIGITS, HIGHEST_NS, LOWEST_NS, to_text
from linerate.cli.run_into_folder import Bar, new_progress
from linerate.experiments import retry
from linerate.experiments.retry import Tried
from linerate.experiments.rfc2544 import (
    Rfc2544Bench,
    Rfc2544How,
    curve_ends,
    curve_loads,
    default_sizes,
    latency_there,
    longest_burst,
    loss_trial,
    rfc2544_plan,
)
from linerate.experiments.search import How, search_plan
from linerate.model.measurement.latency import StreamLatency
from linerate.model.run_records import FrameSize, LossPoint
from linerate.model.suites import select
from linerate.model.testbed import Testbed
from linerate.report import rfc2544 as report
from linerate.report.render import html, markdown
from linerate.results.goals import NDR, trials_of
from linerate.results.store import RunFolder, load_run

DUT_PPS, BUFFER = 5e6, 1000
LINE = 10e9 / 672


@given(st.integers(0, 10**8), st.integers(1, 10**8), st.sampled_from([0.001, 0.01, 0.1]))
def test_the_longest_burst_of_a_buffer_is_found(holds, most, width):
    tried = []

    def lossless(frames):
        tried.append(frames)
        return frames <= holds

    found = longest_burst(lossless, most, width)
    assert found <= holds or found == most
    if holds < most:
        assert found <= holds <= found + max(1, round(width * (found + 1) / (1 - width))) + 1
    assert all(0 < frames <= most for frames in tried)
    assert len(tried) < 64


@given(st.floats(1e3, 1e8), st.floats(0.01, 1))
def test_loads_of_a_curve_fall(line, share):
    loads = list(curve_loads(line * share, line))
    assert loads[0] == line * share
    assert loads == sorted(loads, reverse=True)
    assert len(loads) <= 10
    # Each is a trial of its own.
    assert len({loss_trial(pps, line) for pps in loads}) == len(loads)
    assert all(
        math.isclose(pps / line * 10 % 1, 0, abs_tol=1e-6)
        or math.isclose(pps / line * 10 % 1, 1, abs_tol=1e-6)
        for pps in loads[1:]
    )


@given(st.lists(st.sampled_from([0.0, 0.1]), max_size=12))
def test_a_curve_ends_with_two_loads_without_loss(ratios):
    points = [LossPoint(pps=1, line_percent=1, loss_ratio=one, trial="x") for one in ratios]
    assert curve_ends(points) == (ratios[-2:] == [0.0, 0.0])


def test_sizes_are_the_rfcs():
    assert default_sizes(1518) == (64, 128, 256, 512, 1024, 1280, 1518)
    assert default_sizes(512)[-1] == 512


def test_buffer_time_leaves_out_what_was_forwarded():
    one = FrameSize(
        loadtest="U2@64",
        frame_bytes=64,
        line_pps=10e6,
        max_pps=10e6,
        throughput_pps=8e6,
        bursts=(9_000, 11_000),
        burst_most=20_000_000,
    )
    assert one.buffer_seconds == pytest.approx(10_000 / 10e6 * 0.2)
    assert one.model_copy(update={"bursts": (20_000_000,)}).buffer_seconds is None
    assert one.model_copy(update={"bursts": ()}).mean_burst is None


def timed_stream(name, values_ns):
    histogram = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for value in values_ns:
        histogram.record_value(value)
    return StreamLatency(
        stream=name,
        port="t0",
        rx_port="t1",
        count=len(values_ns),
        min_ns=min(values_ns, default=0),
        max_ns=max(values_ns, default=0),
        sum_ns=sum(values_ns),
        jitter_sum_ns=0,
        jitter_count=0,
        histogram=to_text(histogram) if values_ns else "",
    )


def test_latency_is_of_all_streams_that_were_timed(evidence):
    one, other = [1000] * 150, [9000] * 50
    streams = (timed_stream("a", one), timed_stream("b", other), timed_stream("c", []))
    there = latency_there(Tried(evidence(latency=streams), "U2@64.latency", 0))
    assert there is not None
    assert (there.count, there.min_us, there.max_us) == (200, 1.0, 9.0)
    assert there.mean_us == 3.0
    assert there.p50_us == pytest.approx(1.0, rel=0.002)
    assert there.p99_us == pytest.approx(9.0, rel=0.002)
    assert latency_there(Tried(evidence(), "x", 0)) is None


def test_a_burst_that_is_stretched_is_none(evidence):
    load = evidence().load.model_copy(update={"burst": True, "duration_us": 1000})
    whole = evidence(load=load, progress={"elapsed_us": 1040})
    assert not [reason for reason in reasons(whole) if "burst" in reason]
    (reason,) = [
        one for one in reasons(evidence(load=load, progress={"elapsed_us": 1100})) if "burst" in one
    ]
    assert "1,100 µs of 1,000" in reason


def test_all_four_benchmarks_are_measured_and_shown(linerate, tmp_path):
    done = linerate(
        "search",
        "--rfc2544",
        "--sizes",
        "64,1518",
        "--repeat",
        "2",
        "--json",
        FAKE_DUT_PPS=str(DUT_PPS),
        FAKE_BUFFER=str(BUFFER),
    )
    assert done.returncode == 0
    # On a slow machine it says how far it is.
    assert all(line.startswith("linerate: after ") for line in done.stderr.splitlines())
    document = result_of(done.stdout)
    small, large = document["sizes"]
    assert small["throughput_pps"] == pytest.approx(DUT_PPS, rel=0.005)
    curve = {round(point["line_percent"]): point["loss_ratio"] for point in small["loss_curve"]}
    assert list(curve) == [100, 90, 80, 70, 60, 50, 40, 30, 20]
    assert curve[100] == pytest.approx(1 - DUT_PPS / LINE, abs=0.001)
    assert curve[30] == curve[20] == 0
    longest = BUFFER / (1 - DUT_PPS / LINE)
    assert len(small["bursts"]) == 2
    assert small["bursts"] == pytest.approx([longest] * 2, rel=0.03)
    assert small["corrected_buffer_seconds"] == pytest.approx(BUFFER / LINE, rel=0.05)
    assert small["limit"].startswith("worker-cpu")
    assert large["all_bursts_pass"]
    assert large["throughput_pps"] == pytest.approx(large["line_pps"])
    assert [round(point["line_percent"]) for point in large["loss_curve"]] == [100, 90]
    folder = tmp_path / document["run"]
    run = load_run(folder)
    names = {result.trial for result in run.results}
    for one in run.rfc2544:
        used = {one.throughput_trial, *one.burst_trials, *(p.trial for p in one.loss_curve)}
        assert used <= names
        assert all((folder / f"evidence/{trial}.json").exists() for trial in used)
    assert all(result.test.split(".")[-1].isdigit() for result in trials_of(run, run.searches[0]))
    page = html.page(report.document(run, folder)).html
    assert page == (folder / "report.html").read_text().removesuffix("\n")
    assert 'id="throughput"' in page
    assert 'id="loss-curve"' in page
    for made in (markdown.render(report.document(run, folder)), page):
        assert "forwarder-0 is saturated" in made
    shown = linerate("report", document["run"], "--format", "markdown", "-o", "x.md")
    assert shown.returncode == 0, shown.stderr
    cut = run.model_copy(update={"status": "interrupted", "problem": "by SIGINT"})
    assert "**interrupted:** by SIGINT" in markdown.render(report.document(cut, folder))


def test_a_tester_that_holds_the_line_for_a_moment_only_is_asked_for_less(linerate):
    words = ("search", "--rfc2544", "--sizes", "64,512", "--repeat", "1", "--json")
    done = linerate(*words, FAKE_DUT_PPS="5e6", FAKE_TIRES="12e6")
    assert done.returncode == 0, done.stderr
    small, large = result_of(done.stdout)["sizes"]
    first = small["loss_curve"][0]
    assert 10e6 < first["pps"] < 12e6
    assert first["pps"] == small["max_pps"]
    assert first["loss_ratio"] == pytest.approx(1 - 5e6 / first["pps"], abs=0.001)
    assert large["loss_curve"][0]["line_percent"] == pytest.approx(100, abs=0.1)


def test_a_tester_that_can_less_in_the_end_fails_the_run_in_a_line(fake_environment, tmp_path):
    class Tired(Rfc2544Bench):
        def _measure_bursts(self, _attempts):
            raise retry.TesterLimitError(1.5e6)

    how = Rfc2544How(width=0.5, duration_seconds=0.3)
    searched = How((NDR,), how.width, how.duration_seconds)
    plan = rfc2544_plan(search_plan(Testbed(), select("standard", "U2"), searched, ("x",)), how)
    folder = RunFolder.create(tmp_path, "rfc2544")
    run = Tired(plan, folder, Bar(new_progress(), 1), how).measure()
    assert run.status == "failed"
    assert run.problem == "U2: the tester offers 1.5 Mpps at most, where it offered more before"
    assert run.rfc2544[0].loss_curve


def test_the_tables_fit_80_columns(linerate):
    done = linerate("search", "--rfc2544", "--sizes", "64", "--repeat", "1", FAKE_DUT_PPS="1e6")
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines() if "runs/" not in line) <= 80
    assert "What limits throughput, and how we know" in done.stdout
    assert "Frame loss (26.3)" in done.stdout


def test_goals_are_not_for_it(linerate, tmp_path):
    done = linerate("search", "--rfc2544", "--goal", "1%")
    assert done.returncode == 2
    assert "--goal" in done.stderr
    assert not (tmp_path / "runs").exists()
