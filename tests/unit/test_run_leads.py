"""The top of the pages of sweeps, matrices, RFC 2544, latency, soaks: how fast, what limits it."""

from pathlib import Path

import pytest

from linerate.base import histogram
from linerate.model.measurement.latency import LatencyFigures, LatencyLoads, LatencyPoint
from linerate.model.run_records import FrameSize, Goal, Search, SoakState
from linerate.report import (
    latency_lead,
    lead,
    matrix,
    matrix_lead,
    rfc2544_lead,
    soak_lead,
    sweep,
    sweep_lead,
)
from linerate.report.document import Lead
from linerate.report.figures import percentiles, sizes
from linerate.report.of_run import document_of
from linerate.report.render import html, markdown
from linerate.results.matrix_rows import rows
from linerate.results.sweep_points import points

MISSED = "card0 port 0: rx missed (ring full)"
LINE = 14_880_952.0


def sweep_of(configurations, frame_bytes):
    return {"configurations": configurations, "frame_bytes": frame_bytes, "repeats": 1, "directions": 2,
            "absent": []}  # fmt: skip


@pytest.fixture
def point(result, evidence):
    """A trial of a sweep or matrix that loses this much."""

    def make(configuration, size, lost=0):
        one = result(
            f"{configuration}@{size}",
            evidence(losses={MISSED: lost} if lost else {}),
            configuration=configuration,
        )
        return one.model_copy(update={"frame_bytes": size})

    return make


@pytest.fixture
def swept(run, point):
    small = [point("io", 64, 10_000_000), point("router", 64, 20_000_000)]
    large = [point("io", 1518), point("router", 1518)]
    return run(*small, *large, sweep=sweep_of(["io", "router"], [64, 1518]), suite="sweep")


def test_a_sweep_begins_with_its_smallest_frames(swept):
    found = sweep_lead.outcome(swept, points(swept))
    best = points(swept)["io", 64]
    assert (found.value, found.unit) == lead.rate(best.pps or 0.0)
    assert found.subject == "io, 64-byte frames, the fastest of 2"
    assert "It reaches the line from 1518 bytes on." in found.verdict
    assert [name for name, _ in found.facts] == ["of the line", "router"]
    assert found.sure.endswith("; one trial")


def test_a_page_says_its_outcome_before_all_pictures_and_lists_its_parts(swept):
    document = document_of(swept, Path("s"))
    body = html.page(document).body
    at = [body.index(text) for text in ('class="lead', 'class="contents"', 'id="sizes"')]
    assert at == sorted(at)
    for name in ("rates", "limits", "environment"):
        assert f'<a href="#{name}">' in body
        assert f'<section class="part" id="{name}">' in body
    assert found_lead(document).verdict in body.replace("&#39;", "'")


def test_sizes_of_one_limit_are_one_line(run, point):
    losses = {64: 9_000_000, 128: 5_000_000, 256: 0, 512: 0, 1518: 0}
    points = [point("io", size, lost) for size, lost in losses.items()]
    measured = run(*points, sweep=sweep_of(["io"], list(losses)), suite="sweep")
    made = sweep.limits(measured)
    assert [row[:3] for row in made.rows] == [
        ("io", "64 to 128 B", "rx-ring"),
        ("io", "256 to 1518 B", "line"),
    ]


def test_lines_of_one_colour_differ_in_the_legend(run, point):
    names = [f"device {at}" for at in range(9)]
    points = [point(name, 64) for name in names]
    measured = run(*points, sweep=sweep_of(names, [64]), suite="sweep")
    styles = [style for _, style in sizes.picture(measured).legend]
    assert len(set(styles)) == len(names)
    assert 'class="swatch dashed"' in html.page(document_of(measured, Path("s"))).body


@pytest.mark.parametrize(("tests", "links"), [(16, 16), (17, 1)])
def test_many_tests_are_one_line_of_the_contents(run, result, evidence, tests, links):
    measured = run(*(result(f"U1@{64 + at}", evidence()) for at in range(tests)))
    body = html.page(document_of(measured, Path("s"), lambda *_: None)).body
    contents = body[body.index('class="contents"') : body.index("</nav>")]
    assert contents.count("#test-") == links
    assert ("U1@64 to U1@80" in contents) == (links == 1)
    assert body.count('href="#test-U1@64"') > 1


def found_lead(document):
    return next(one for one in document.sections if isinstance(one, Lead))


def test_a_matrix_begins_with_the_fastest_of_all(run, point):
    measured = run(
        point("loopback-2", 64), point("router", 64, 30_000_000),
        point("af_packet loopback-2", 64, 40_000_000),
        sweep=sweep_of(["loopback-2", "router", "af_packet loopback-2"], [64]), suite="matrix",
    )  # fmt: skip
    found = matrix_lead.outcome(measured, rows(measured, {}))
    assert found.subject == "loopback-2 over card, the fastest of 3 configurations"
    names = [name for name, _ in found.facts]
    assert names[0] == "of the line"
    assert any(name.endswith("fastest over veth") for name in names)
    assert names[-1] == "over the slowest beside it"


def test_a_matrix_without_a_valid_trial_says_why(run, result, evidence):
    one = result("router@64", evidence(), configuration="router")
    bad = one.model_copy(update={"valid": False, "invalid": ("the tester was descheduled",)})
    measured = run(bad, sweep=sweep_of(["router"], [64]), suite="matrix")
    found = matrix_lead.outcome(measured, rows(measured, {}))
    assert (found.value, found.tone) == ("No result", "failed")
    assert "the tester was descheduled" in found.verdict


def test_columns_that_a_terminal_shortens_are_spelled_elsewhere(run, point):
    measured = run(point("router", 64), sweep=sweep_of(["router"], [64]), suite="matrix")
    document = matrix.document(measured, Path("m"), rows(measured, {}))
    for made in (html.page(document).body, markdown.render(document)):
        assert "% of line" in made
        assert "clk" not in made
    (note,) = document.abbreviations
    assert "clk: cycles" in note.text


@pytest.mark.parametrize(
    ("share", "tone", "line"),
    [(0.5, "limited", "1 of 2 frame sizes reach the line: 1518 bytes."),
     (1.0, "good", "2 of 2 frame sizes reach the line: 64, 1518 bytes.")],
)  # fmt: skip
def test_rfc2544_begins_with_the_throughput_of_the_smallest_frames(
    run, result, evidence, share, tone, line
):
    def size(frame_bytes, pps):
        return FrameSize(loadtest=f"U2@{frame_bytes}", frame_bytes=frame_bytes, line_pps=LINE,
                         max_pps=LINE, throughput_pps=pps)  # fmt: skip

    one = result("U2@64.1", evidence(losses={MISSED: 10_000_000}))
    goal = Goal(loss_ratio=0, lower_pps=share * LINE, upper_trial=one.trial)
    search = Search(loadtest="U2@64", text="64 B", frame_bytes=64, width=0.005,
                    duration_seconds=2.0, min_pps=1e5, max_pps=LINE, line_pps=LINE, found=True,
                    goals=(goal,))  # fmt: skip
    both = (size(64, share * LINE), size(1518, LINE))
    found = rfc2544_lead.outcome(run(one, searches=(search,), rfc2544=both))
    assert found.subject.startswith("64-byte frames")
    assert found.unit == "Mpps without loss"
    assert dict(found.facts) == {"of the line": f"{100 * share:.1f} %"}
    assert found.verdict.endswith(line)
    assert found.tone == tone
    assert "trials of 2 s, RFC 2544 wants 60 s" in found.sure


def timed(result, evidence, number, p50, p99):
    figures = LatencyFigures(
        stream="s", direction="t0 to t1", count=1000, jitter_us=1.0, lost=0, duplicated=0,
        out_of_order=0, min_us=1.0, mean_us=p50, p50_us=p50, p90_us=p99, p99_us=p99, p99_9_us=p99,
        p99_99_us=p99, p99_999_us=p99, max_us=2 * p99,
    )  # fmt: skip
    one = result(f"U2.{number}", evidence())
    return one.model_copy(update={"latency": (figures,)})


@pytest.mark.parametrize(
    ("p99s", "verdict"),
    [
        ((20.0, 30.0, 90.0), "more than 2 times that from 100 % on, not yet at 50 %."),
        ((20.0, 30.0, 40.0), "it stays below 2 times that at all 3 loads."),
    ],
)
def test_latency_begins_with_p99_at_the_highest_load(run, result, evidence, p99s, verdict):
    trials = [timed(result, evidence, at, 10.0, p99) for at, p99 in enumerate(p99s)]
    loads = LatencyLoads(
        loadtest="U2", text="64 B many flows", frame_bytes=64, top="NDR", top_pps=1e6,
        line_pps=LINE,
        points=tuple(
            LatencyPoint(percent=percent, pps=percent * 1e4, trial=one.trial)
            for percent, one in zip((10, 50, 100), trials, strict=True)
        ),
    )  # fmt: skip
    found = latency_lead.outcome(run(*trials, latencies=(loads,)), loads)
    assert found.value == f"{p99s[-1]:.2f}"
    assert found.subject.endswith("at 100 % of the NDR, 1 Mpps")
    assert found.verdict == f"20.00 µs at p99 at 10 % of the load; {verdict}"
    assert found.sure == "3,000 frames timed"
    assert dict(found.facts)["lost there"] == "0"


def test_no_load_has_the_grey_of_the_bare_link(run, result, evidence):
    text = histogram.to_text(histogram.from_buckets([(1000, 5), (2000, 7)]))
    trials = []
    for at in range(6):
        one = timed(result, evidence, at, 10.0, 20.0)
        (figures,) = one.latency
        known = figures.model_copy(update={"histogram": text})
        trials.append(one.model_copy(update={"latency": (known,), "own_latency": (known,)}))
    loads = LatencyLoads(
        loadtest="U2", text="64 B", frame_bytes=64, top="NDR", top_pps=1e6, line_pps=LINE,
        points=tuple(
            LatencyPoint(percent=10.0 * (at + 1), pps=1e5, trial=one.trial)
            for at, one in enumerate(trials)
        ),
    )  # fmt: skip
    figure = percentiles.over_loads(run(*trials, latencies=(loads,)), loads)
    colours = [style.colour for _, style in figure.legend]
    assert len(colours) == 7
    assert len(set(colours)) == 7


@pytest.mark.parametrize(
    ("lost", "unexplained", "tone"), [(0, 0, "good"), (5, 0, "limited"), (5, 3, "failed")]
)
def test_a_soak_begins_with_what_it_held(run, result, evidence, lost, unexplained, tone):
    soak = SoakState(
        loadtest="U2", pps=11.9e6, asked_seconds=28_800, every_seconds=60, stop_at="unexplained",
        seconds=600.0, intervals=10, sent=10**9, received=10**9 - lost, lost=lost,
        unexplained=unexplained, lossy_intervals=bool(lost), verdict="a load for long: what it says.",
    )  # fmt: skip
    measured = run(result("U2", evidence()), soak=soak)
    found = soak_lead.outcome(measured, soak)
    assert (found.value, found.unit, found.tone) == ("11.90", "Mpps for 10 min", tone)
    assert dict(found.facts)["intervals with a loss"] == f"{int(bool(lost))} of 10"
    assert found.sure.startswith("8 h were asked for")
    assert ">What it says." in html.page(document_of(measured, Path("s"), lambda *_: None)).body


@pytest.mark.parametrize(
    ("pps", "shown"), [(12.345e6, ("12.35", "Mpps")), (2500.0, ("2.5", "kpps")),
                       (300.0, ("300", "pps"))]
)  # fmt: skip
def test_a_rate_has_one_unit(pps, shown):
    assert lead.rate(pps) == shown
