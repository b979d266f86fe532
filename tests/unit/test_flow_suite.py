"""Suite `flowtable`: what it offers, on what, and what its table says of it."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.base.published import plain
from linerate.engine.readings import read_flows
from linerate.experiments.latency import timed
from linerate.lab.engine_config import bench_config
from linerate.lab.links.card import CardLink
from linerate.model import suites
from linerate.model.measurement.flows import FlowCounts
from linerate.model.suites import flowtable
from linerate.model.testbed import Testbed, parse
from linerate.report import bench, flow_table, json_output
from linerate.report.render import html, markdown, terminal
from linerate.results.store import FlowFigures, flow_figures

MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
TESTS = {test.name: test for test in suites.SUITES["flowtable"].loadtests}
MISSED = "card0 port 0: rx missed (ring full)"


def layer(stream, name):
    return next(one[name] for one in stream["layers"] if name in one)


def streams(name, rate=None):
    return suites.streams(TESTS[name], MACS, rate or {"percent": 100})


def config(name, document=None):
    bed = flowtable.SUITE.base(parse(document or {}, "x"))
    bed = flowtable.SUITE.testbed(bed, TESTS[name])
    with CardLink().joined(bed) as ends:
        return bench_config(bed, ends, TESTS[name], "x")


def test_each_traffic_is_there_with_offload_off_and_on():
    assert list(TESTS) == [
        f"{traffic}-{offload}"
        for traffic in ("imix", "syn", "zipf", "flood")
        for offload in ("off", "on")
    ]
    assert [one.name for one in suites.select("flowtable", "IMIX,zipf-on")] == [
        "imix-off", "imix-on", "zipf-on",
    ]  # fmt: skip


def test_imix_is_seven_four_one_of_1194_flows_a_direction():
    made = streams("imix-on")
    assert [stream["frame_bytes"] for stream in made] == [64, 594, 1518] * 2
    for direction in (made[:3], made[3:]):
        pps = [one["rate"]["percent"] / (one["frame_bytes"] + 20) for one in direction]
        assert pps[0] / pps[2] == pytest.approx(7)
        assert pps[1] / pps[2] == pytest.approx(4)
        assert sum(one["rate"]["percent"] for one in direction) == pytest.approx(100)
        assert sum(one["flows"]["count"] for one in direction) == 1194
        assert len({layer(one, "udp")["dst"] for one in direction}) == 3
    assert [one["weight"] for one in streams("imix-on", {"max": True})] == [7, 4, 1] * 2
    # Share of the line rate: the engine sends the load that the trial requests.
    mean = TESTS["imix-on"].traffic.frame_bytes
    asked = sum(one["rate"]["percent"] / 100 / (one["frame_bytes"] + 20) for one in made)
    assert asked == pytest.approx(2 / (mean + 20))


def test_handshakes_are_too_short_for_a_time_stamp():
    (loadtest,) = suites.select("flowtable", "syn-off")
    with pytest.raises(ValueError, match="no room for a time stamp; expected others, by --only"):
        timed(loadtest)


@pytest.mark.parametrize("name", ["syn-on", "zipf-off"])
def test_both_directions_are_of_the_same_flows(name):
    there, back = streams(name)
    assert layer(there, "ipv4") == layer(back, "ipv4")
    assert back["flows"] == there["flows"] | {"mirror": True}
    assert layer(back, "ethernet")["dst"] == MACS[1]


def test_a_connection_comes_no_further_than_syn_and_ack():
    assert [layer(one, "tcp")["flags"] for one in streams("syn-off")] == [2, 18]


def test_a_flood_goes_one_way_and_no_flow_comes_twice():
    (stream,) = streams("flood-on")
    assert stream["flows"] == {"count": 2**31 - 1}


def test_the_testbed_forwards_by_the_flow_table_over_a_card_with_rules():
    made = config("zipf-on")
    assert made["forwarder"]["mode"] == "flowtable"
    assert made["forwarder"]["flowtable"] == {"flows": 1 << 22, "offload": {}}
    assert made["cards"][0]["flow_table"] == {"preset": "x710-patched"}
    assert "offload" not in config("zipf-off")["forwarder"]["flowtable"]
    assert config("flood-off")["forwarder"]["flowtable"]["idle_ms"] == 250


def test_a_testbed_that_says_otherwise_is_left_alone():
    document = {
        "card": {"flow_table": {"capacity": 512}},
        "dut": {"mode": "flowtable", "flowtable": {"flows": 4096, "offload": {"rules": 9}}},
    }
    made = config("imix-on", document)
    assert made["forwarder"]["flowtable"] == {"flows": 4096, "offload": {"rules": 9}}
    assert made["cards"][0]["flow_table"] == {"capacity": 512}
    assert "offload" not in config("imix-off", document)["forwarder"]["flowtable"]
    assert Testbed().card.flow_table is None


class Telemetry:
    """Answers as the engine does."""

    def __init__(self, mode):
        self.mode = mode

    def ask(self, command):
        return {
            "/linerate/info": {"mode": self.mode},
            "/linerate/flows,top=0": {"flows": 7, "packets": 100, "marked": 60, "protocol": []},
            "/linerate/offload,e0": {"state": "on", "rules": 5, "create_ns_mean": 22_000},
        }[command]

    def table(self, command):
        assert command == "/linerate/offload"
        return [{"name": "e0", "state": "on"}]


def test_counters_are_read_of_a_flow_table_only():
    assert read_flows(Telemetry("router")) is None  # type: ignore[arg-type]
    found = read_flows(Telemetry("flowtable"))  # type: ignore[arg-type]
    assert found == FlowCounts(
        table={"flows": 7, "packets": 100, "marked": 60},
        ports={"e0": {"rules": 5, "create_ns_mean": 22_000, "on": 1}},
    )
    assert found.marked_percent == 60


def test_counters_are_differences_and_levels_are_not():
    before = FlowCounts(table={"packets": 10, "flows": 9}, ports={"e0": {"promoted": 3}})
    after = FlowCounts(
        table={"packets": 30, "flows": 8, "marked": 4},
        ports={"e0": {"promoted": 5, "rules": 4, "create_ns_mean": 1_000_000}},
    )
    since = after.since(before)
    assert since.table == {"packets": 20, "flows": 8, "marked": 4}
    assert since.ports["e0"] == {"promoted": 2, "rules": 4, "create_ns_mean": 1_000_000}
    assert since.programming_seconds == pytest.approx(0.002)
    assert FlowCounts().marked_percent == 0


COUNTS = FlowCounts(
    table={"packets": 1000, "marked": 900, "flows": 50, "created": 60, "not_recorded_full": 7},
    ports={"e0": {"rules": 20}, "e1": {"rules": 22}},
)


def test_figures_are_those_of_the_wire(evidence):
    ports = {
        "t0": {"rx_packets": 1000, "rx_bytes": 64_000},
        "t1": {"rx_packets": 10, "rx_bytes": 15_140},
    }
    made = flow_figures(evidence(flows=COUNTS, ports=ports, idle=0.25))
    assert made is not None
    # In 5 s; each frame takes 20 bytes more than its size.
    assert made.upstream_bps == pytest.approx((15_140 + 200) * 8 / 5)
    assert made.downstream_bps == pytest.approx(84_000 * 8 / 5)
    assert made.busy_percent == pytest.approx(75)
    assert (made.marked_percent, made.rules, made.not_recorded) == (90, 42, 7)
    assert flow_figures(evidence()) is None


def figures(**changes):
    given = {
        "offload": False, "upstream_bps": 3390.2e6, "downstream_bps": 3390.6e6,
        "busy_percent": 100.0, "marked_percent": 0.0, "rules": 0, "flows": 1194, "created": 1194,
        "not_recorded": 0,
    }  # fmt: skip
    return FlowFigures(**(given | changes))


@pytest.fixture
def published(result, run):
    """Results with the figures of the published comparison."""

    def made(name, **changes):
        return result(name).model_copy(update={"flow_table": figures(**changes)})

    on = {"offload": True, "marked_percent": 99.2, "rules": 2388}
    full = {"upstream_bps": 9999.8e6, "downstream_bps": 9883.7e6}
    return run(
        made("syn-off"),
        made("syn-on", upstream_bps=5491.7e6, downstream_bps=5512.5e6, **on),
        made("imix-off", busy_percent=75.0, **full),
        made("imix-on", busy_percent=57.0, **full, **on),
        made("zipf-on", **on),
        result("U2"),
    )


def test_the_gain_is_of_the_rate_or_of_the_cpu(published):
    gains = [row.gain for row in flow_table.rows(published.reported())]
    # Zipf without offload is not there: nothing to compare with.
    assert gains == ["", "1.62 ×", "", "-18 % CPU", ""]


def test_a_rate_that_the_tester_fell_short_of_is_no_loss_of_the_device(result, run):
    slower = figures(offload=True, upstream_bps=3000e6, downstream_bps=3000e6, busy_percent=40.0)
    made = run(
        result("syn-off").model_copy(update={"flow_table": figures(busy_percent=80.0)}),
        result("syn-on").model_copy(update={"flow_table": slower}),
    )
    assert [row.gain for row in flow_table.rows(made.reported())] == ["", "-43 % a packet"]


def test_every_report_has_the_table(published):
    out = io.StringIO()
    made = bench.document(published, Path("runs/x"), lambda *_: None)
    terminal.show(Console(file=out, width=80, highlight=False), made)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.startswith("syn") and " on " in line)
    assert row.split() == ["syn", "on", "5491.7", "5512.5", "100", "99.2", "2,388", "1.62", "×"]
    document = plain(json_output.bench(published, Path("runs/x")))
    assert len(document["flow_table"]) == 5
    assert document["flow_table"][1]["rate_ratio"] == pytest.approx(1.6228, abs=1e-3)
    assert "| syn | on | 5491.7 |" in markdown.render(made)
    assert flow_table.TITLE in html.page(made).html


def test_other_suites_have_no_such_table(run, result):
    document = plain(json_output.bench(run(result("U2")), Path("runs/x")))
    assert "flow_table" not in document
    made = bench.document(run(result("U2")), Path("runs/x"), lambda *_: None)
    assert flow_table.TITLE not in markdown.render(made)


PORT = {
    "rules": 2000, "limit": 7168, "refused": 0, "full": 0, "promoted": 10, "on": 1,
    "create_ns_mean": 22_000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("marked", "port", "text"),
    [
        (600, {"rules": 7168}, "is full (7,168 of 7,168 entries); 60.0 % of the packets"),
        (600, {"rules": 6800, "full": 90}, "is full (6,800 of 7,168 entries)"),
        (600, {"rules": 450, "promoted": 450, "create_ns_mean": 11_000_000}, "91 rules a second"),
        (0, {"rules": 0, "refused": 8}, "the card refused 8 rules"),
        (0, {"rules": 0, "on": 0, "silent": 8}, "switched off, as they had no effect"),
        (950, {"rules": 7168}, None),
        (600, {}, None),
    ],
)
def test_what_keeps_flows_in_software(evidence, marked, port, text):
    counts = FlowCounts(table={"packets": 1000, "marked": marked}, ports={"e0": PORT | port})
    measured = evidence(flows=counts, losses={MISSED: 20_000_000}, idle=0.0)
    verdict = explain(evidence_of(measured, "zipf-on", "x"))
    assert verdict.limit == ("worker-cpu" if text is None else "flow-offload")
    if text is not None:
        assert text in verdict.sentence
        assert "worker-cpu" in verdict.also


def test_a_worker_with_time_to_spare_is_not_held_up_by_flows(evidence):
    counts = FlowCounts(table={"packets": 1000}, ports={"e0": PORT | {"rules": 7168}})
    measured = evidence(flows=counts, losses={MISSED: 20_000_000}, idle=0.5)
    assert explain(evidence_of(measured, "zipf-on", "x")).limit != "flow-offload"
