"""The page: each figure, the laws of its ledgers, and that a run's text stays text."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.model.ledger import Entry, PacketLedger
from linerate.model.measurement import Sample
from linerate.model.testbed import parse
from linerate.report import bench, lead
from linerate.report.document import Column, Document, Table
from linerate.report.figures import ceilings, clocks, over_time, sankey, time_shares
from linerate.report.figures.picture import node_styles
from linerate.report.render import html, markdown

MISSED = "card0 port 0: rx missed (ring full)"
HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"
PLACES = st.sampled_from(
    [MISSED, "port-tx-e1: no free tx slots", "sent", "received", "all packets"]
)


def render(run, name, measurements):
    made = bench.document(run, Path(name), lambda _, trial: measurements.get(trial))
    return html.page(made)


def drawn(picture):
    assert picture.plot is not None, picture.note
    return picture.plot


class Page(HTMLParser):
    """Contents of a page as in a browser."""

    def __init__(self, page):
        super().__init__()
        self.elements = []
        self.scripts = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            self.scripts[-1] += data

    @property
    def figures(self):
        return json.loads(self.scripts[0])

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture
def sampled(evidence):
    """A trial with losses, seen three times while packets flew."""

    def sample(at_us, packets):
        nodes = {"port-rx-e0-0": packets, "port-tx-e1": packets // 2, "ip4-lookup": packets}
        return Sample(
            at_us=at_us, sent_packets=0, received_packets=0, vectors={"forwarder-0": nodes}
        )

    samples = (sample(1_000_000, 1_000_000), sample(2_000_000, 3_000_000))
    return evidence(losses={MISSED: 1_000}, samples=samples)


@pytest.fixture
def measured(run, result, evidence, sampled):
    """A run with a sampled trial, an invalid one, and one of a losing device."""
    return run(
        result("U1", sampled),
        result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0)),
        result("B1", evidence(unexplained=7)),
    )


@pytest.fixture
def page(measured, sampled):
    return Page(render(measured, "a-run", {"U1": sampled}).html)


def test_each_figure_is_there(page):
    named = {attrs["id"] for attrs in page.all("div") if attrs.get("class") == "picture"}
    assert named == set(page.figures)
    assert named >= {"clocks", "over-time", "time-shares", "ledger-U1", "ceilings-U1", "ledger-B1"}
    assert "ceilings-B1" not in named


def test_each_picture_is_described_in_words(page):
    pictures = [attrs for attrs in page.all("div") if attrs.get("class") == "picture"]
    assert pictures
    for attrs in pictures:
        assert re.search(r"\d", attrs["aria-label"])
        assert attrs["role"] == "img"
        assert attrs["tabindex"] == "0"


def test_the_page_asks_for_nothing(page):
    assert page.all("html") == [{"lang": "en"}]
    assert page.all("script")[1:] == [{}] * len(html.SCRIPTS)
    assert all(attrs["href"].startswith("data:") for attrs in page.all("link"))
    assert not page.all("img")
    policy = next(a["content"] for a in page.all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_page_is_small(page, measured, sampled):
    assert len(render(measured, "a-run", {"U1": sampled}).html) < 100_000


def test_no_line_is_more_than_full(run, result):
    over = result("U1").model_copy(update={"line_percent": 100.2})
    made = render(run(over), "a-run", {})
    assert "100.2" not in made.body
    figure = json.loads(made.figures)["of-line"]
    assert figure["data"][0]["x"] == [100.0]


def test_each_row_of_a_test_leads_to_its_section(page, measured):
    ids = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
    targets = [attrs["href"][1:] for attrs in page.all("a")]
    assert targets
    assert set(targets) <= ids
    assert {f"test-{one.test}" for one in measured.reported()} <= set(targets)


def test_no_chart_is_empty_and_no_chapter(run, result, evidence):
    bare = result("U1", evidence()).model_copy(update={"time_at_load": (), "time": ()})
    made = render(run(bare), "a-run", {})
    figures = json.loads(made.figures)
    assert "of-line" in figures
    for figure in figures.values():
        assert any(trace.get("x") or trace.get("link") for trace in figure["data"])
    for name in ("losses", "cycles", "time", "power", "latency"):
        assert f'id="{name}"' not in made.body
    assert "No samples" not in made.body


def test_doubts_stand_at_the_heading_of_a_test_and_of_what_it_is_in(run, result, evidence):
    odd = result("U1", evidence(losses={MISSED: 5})).model_copy(update={"suspect": ("it moved",)})
    body = render(run(odd, result("U2")), "a-run", {}).body
    headings = re.findall(r"<h2>.*?</h2>", body)
    doubted = [one for one in headings if "* suspect" in one]
    assert any(one.startswith("<h2>U1") for one in doubted)
    assert any(one.startswith("<h2>Losses") for one in doubted)
    assert not any(one.startswith("<h2>U2") for one in doubted)


def test_the_outcome_says_how_fast_and_how_sure(run, result, evidence):
    slow = result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0))
    found = lead.of_bench(run(result("U1"), slow))
    assert (found.value, found.unit, found.tone) == ("10.88", "Mpps", "limited")
    assert dict(found.facts)["of the line"] == "73.1 %"
    assert found.verdict.startswith("Limited by worker-cpu: ")
    assert found.verdict.endswith(" 1 of 2 tests reach the line.")
    assert found.sure == "medium confidence"
    full = lead.of_bench(run(result("U1"), result("U2")))
    assert full.verdict == "All 2 tests are limited by the line alone."
    broken = lead.of_bench(run(result("U1", evidence(unexplained=1))))
    assert (broken.value, broken.tone) == ("No result", "failed")
    assert "1 packets unexplained" in broken.verdict


def test_text_of_a_run_stays_text(run, result, evidence):
    hostile = result("U1", evidence(losses={HOSTILE: 5})).model_copy(
        update={"test": HOSTILE, "text": HOSTILE, "suspect": (HOSTILE,)}
    )
    invalid = result("U2", evidence(unexplained=1)).model_copy(update={"invalid": (HOSTILE,)})
    measured = run(
        hostile, invalid, command=["linerate", HOSTILE], status="failed", problem=HOSTILE
    )
    made = render(measured, HOSTILE, {}).html
    honest = Page(render(run(result("U1")), "a-run", {}).html)
    page = Page(made)
    assert "<script>alert" not in made
    assert len(page.all("script")) == len(honest.all("script"))
    assert not page.all("img")
    label = page.figures[f"ledger-{HOSTILE}"]["data"][0]["node"]["label"]
    assert not any("<script" in one or "<img" in one for one in label)


def test_an_invalid_trial_has_no_figures_of_a_result(run, result, evidence):
    bad = result("U2", evidence(unexplained=7))
    made = render(run(bad), "a-run", {}).html
    assert "No trial has a valid result" in made
    assert "7 packets unexplained" in made
    assert set(Page(made).figures) == {"ledger-U2"}
    assert f"{bad.received_pps / 1e6:.2f}" not in re.sub(
        r"<script.*?</script>", "", made, flags=re.S
    )
    figure = Page(made).figures["ledger-U2"]
    assert figure["layout"]["annotations"][0]["text"].startswith("INVALID")


def test_infinite_figures_of_a_foreign_run_make_a_page(run, result):
    odd = result("U1").model_copy(update={"received_pps": float("inf"), "l1_bps": float("nan")})
    assert Page(render(run(odd), "a-run", {}).html).figures["ceilings-U1"]


def test_a_run_without_results_is_a_page(run):
    made = render(run(status="failed", problem="no engine"), "a-run", {}).html
    assert "failed: no engine" in made
    assert "Nothing was measured" in made
    assert len(Page(made).scripts) == 1


def ledger(packets, places, originated=0, held=0, unexplained=0):
    lost = list(zip(places, packets, strict=False))
    # More than the least of the others together: nothing is sent less than never.
    received = 200
    sent = sum(n for _, n in lost) + received + held + unexplained - originated
    return PacketLedger(
        entries=(
            Entry(place="tester t0", kind="sent", packets=sent),
            Entry(place="dut", kind="originated", packets=originated),
            *(Entry(place=place, kind="loss", packets=n) for place, n in lost),
            Entry(place="rings", kind="held", packets=held),
            Entry(place="tester", kind="received", packets=received),
        )
    )


@given(
    st.lists(st.integers(0, 10**12), max_size=5),
    st.lists(PLACES, min_size=5, max_size=5),
    st.integers(0, 50),
    st.integers(-50, 50),
    st.integers(-20, 10**6),
)
def test_what_flows_in_flows_out(packets, places, originated, held, unexplained):
    made = ledger(packets, places, originated, held, unexplained)
    found = sankey.flows(made)
    assert all(flow.packets > 0 for flow in found)
    hub_in = sum(flow.packets for flow in found if flow.target == sankey.HUB)
    hub_out = sum(flow.packets for flow in found if flow.source == sankey.HUB)
    assert hub_in == hub_out
    from_sent = sum(flow.packets for flow in found if flow.source == "sent")
    assert from_sent == made.sent
    lost = sum(n for place, n in made.losses.items())
    own = {"received", "still held", "unexplained", sankey.HUB}
    assert sum(flow.packets for flow in found if flow.target not in own) == lost


def test_the_least_loss_can_be_seen(result, evidence):
    one = result("U2", evidence(losses={MISSED: 1}))
    picture = sankey.picture(one)
    link = drawn(picture)["data"][0]["link"]
    assert min(link["value"]) == pytest.approx(sankey.VISIBLE_SHARE * one.packets.sent)
    assert any("1 packets, <0.01 %" in text for text in link["customdata"])
    assert "drawn that wide" in picture.note
    assert "lost 1 (<0.01 %)" in picture.alt


def test_bars_of_a_worker_add_up_to_what_a_packet_costs(result):
    one = result("U2")
    picture = clocks.picture([one], node_styles([one]))
    forwarder = one.time_at_load[1]
    height = sum(trace["y"][0] for trace in drawn(picture)["data"])
    assert height == pytest.approx(forwarder.node_clocks / forwarder.nodes["ip4-lookup"].vectors)


def test_a_cut_bar_keeps_its_composition_and_is_marked(result, evidence):
    cheap = [result(name) for name in ("U1", "U2", "U3")]
    dear = result("B1")
    forwarder = dear.time_at_load[1]
    nodes = {
        name: node.model_copy(update={"clocks": 30 * node.clocks})
        for name, node in forwarder.nodes.items()
    }
    ledgers = (dear.time_at_load[0], forwarder.model_copy(update={"nodes": nodes}))
    dear = dear.model_copy(update={"time_at_load": ledgers})
    results = [*cheap, dear]
    plot = drawn(clocks.picture(results, node_styles(results)))
    heights = [sum(trace["y"][at] or 0 for trace in plot["data"]) for at in range(4)]
    whole = [forwarder.node_clocks / forwarder.nodes["ip4-lookup"].vectors] * 3
    assert heights[:3] == pytest.approx(whole)
    assert heights[3] == pytest.approx(clocks.CUT * whole[0])
    # In it each node has the share that it has in the others.
    for trace in plot["data"]:
        assert trace["y"][3] / heights[3] == pytest.approx(trace["y"][0] / heights[0])
    marked = [shape for shape in plot["layout"]["shapes"] if shape["type"] == "break"]
    assert [(one["x0"] + one["x1"]) / 2 for one in marked] == [3]


def test_shares_of_a_worker_add_up_to_all_of_its_time(result):
    workers = result("U2").time_at_load
    assert workers
    for worker in workers:
        assert sum(time_shares.shares(worker).values()) == pytest.approx(worker.closed_percent)


def test_rates_over_time_are_differences(result, sampled):
    one = result("U2", sampled)
    picture = over_time.picture([one], {"U2": sampled}, node_styles([one]))
    lines = {trace["name"]: trace for trace in drawn(picture)["data"]}
    assert lines["port-rx-e0-0"]["x"] == [0.5, 1.5, None]
    assert lines["port-rx-e0-0"]["y"] == [1e6, 2e6, None]
    assert set(lines) == {"port-rx-e0-0", "port-tx-e1"}
    assert drawn(picture)["layout"]["yaxis"]["rangemode"] == "tozero"
    assert drawn(picture)["layout"]["annotations"][0]["text"] == "<b>U2</b>"


def test_rates_that_differ_much_are_drawn_on_a_logarithmic_axis(result, evidence):
    def sample(at_us, packets):
        nodes = {"forwarder-0": {"port-rx-e0-0": packets}}
        return Sample(at_us=at_us, sent_packets=0, received_packets=0, vectors=nodes)

    slow = evidence(samples=(sample(1_000_000, 1_000), sample(2_000_000, 1_001_000)))
    one = result("U2", slow)
    picture = over_time.picture([one], {"U2": slow}, node_styles([one]))
    assert drawn(picture)["layout"]["yaxis"]["type"] == "log"
    assert "logarithmic" in picture.note


def test_a_device_without_nodes_has_the_rates_that_the_tester_counted(result, evidence):
    samples = tuple(
        Sample(at_us=at * 1_000_000, sent_packets=at * 100, received_packets=at * 90, vectors={})
        for at in (1, 2)
    )
    kernel = evidence(samples=samples)
    one = result("U2", kernel)
    picture = over_time.picture([one], {"U2": kernel}, {})
    lines = {trace["name"]: trace["y"] for trace in drawn(picture)["data"]}
    assert lines == {"sent": [100, 100, None], "received": [90, 90, None]}


def test_a_sample_that_says_an_earlier_time_is_left_out(result, evidence, sampled):
    first, last = sampled.samples
    odd = evidence(samples=(last, first))
    one = result("U2", odd)
    picture = over_time.picture([one], {"U2": odd}, node_styles([one]))
    assert drawn(picture)["data"][0]["x"] == [1.0, None]


def test_a_run_without_samples_says_so(result, evidence):
    picture = over_time.picture([result("U2")], {"U2": evidence()}, {})
    assert picture.plot is None
    assert "no samples" in picture.note


def test_the_measured_rate_lies_across_the_ceilings(result, evidence):
    one = result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0))
    picture = ceilings.picture(one)
    line = drawn(picture)["layout"]["shapes"][0]
    assert line["x0"] == line["x1"] == pytest.approx(one.received_pps / 1e6)
    assert [label.partition("<br>")[0] for label in drawn(picture)["data"][0]["y"]] == [
        "worker forwarder-0",
        "link",
    ]
    # 40 Mpps of a line of 14.88 can never matter; the table has it.
    assert picture.note.endswith("Too far above to matter: tester 40.00 Mpps.")
    assert picture.table is not None
    assert len(picture.table.rows) == len(one.verdict.ceilings)


def test_a_ceiling_far_above_leaves_the_others_room_though_the_verdict_names_it(result, evidence):
    one = result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0))
    near, *others = one.verdict.ceilings
    far = near.model_copy(update={"name": "rx ring", "limit": "rx-ring", "mpps": 14_603.0})
    verdict = one.verdict.model_copy(update={"limit": "rx-ring", "ceilings": (near, *others, far)})
    picture = ceilings.picture(one.model_copy(update={"verdict": verdict}))
    assert drawn(picture)["layout"]["xaxis"]["range"][1] < 100
    assert "Named for other reasons than this ceiling: rx ring 14,603 Mpps." in picture.note


def test_a_column_that_a_page_has_elsewhere_is_in_other_forms_alone():
    columns = (Column("test", "text"), Column("watts", elsewhere=True), Column("Mpps"))
    made = Document("x", (Table("All tests", columns, (("U2", "41.5", "9.87"),)),), data=dict)
    body = html.page(made).body
    assert "9.87" in body
    assert "watts" not in body
    assert "41.5" not in body
    assert "| U2 | 41.5 | 9.87 |" in markdown.render(made)


@given(st.integers(0, 40), st.integers(0, 4))
def test_a_table_in_parts_has_each_column_once(pairs, block):
    columns = (Column("test", "text"), *(Column(f"{at}") for at in range(2 * pairs)))
    whole = Table("All", columns, (tuple(f"cell {one.name}" for one in columns),), block=block)
    parts = whole.in_pages
    assert [column for part in parts for column in part.columns[1:]] == list(columns[1:])
    assert [cell for part in parts for cell in part.rows[0][1:]] == list(whole.rows[0][1:])
    assert {part.columns[0] for part in parts} == {columns[0]}
    if block:
        assert all(len(part.columns) <= 13 for part in parts)
        assert all((len(part.columns) - 1) % block == 0 for part in parts[:-1])


def test_a_node_looks_the_same_in_all_pictures(page):
    looks: dict[str, str] = {}
    for name in ("clocks", "over-time"):
        for trace in page.figures[name]["data"]:
            colour = trace["line"]["color"] if "line" in trace else trace["marker"]["color"]
            if not trace["name"].startswith("port-tx"):
                assert looks.setdefault(trace["name"], colour) == colour
    assert len(set(looks.values())) == len(looks)


def test_the_testbeds_name_is_in_it(run, result):
    made = render(run(result("U1"), testbed=parse({"name": "rack-7"}, "x")), "a-run", {}).html
    assert "rack-7" in made
