"""Reports: 80 columns, the same through a pipe, and JSON for programs."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from linerate.base.published import plain
from linerate.model.ledger import NodeTime
from linerate.model.measurement import DropCount, Load, Stamp, WorkerReading
from linerate.model.testbed import parse
from linerate.report import bench, framed, json_output, live, terminal
from linerate.report.render import terminal as screen

MISSED = "card0 port 0: rx missed (ring full)"
LOSSES = "Where each lost packet went"
FOLDER = Path("runs/20261121-100000-router")


def printed(report, *arguments, width=80):
    out = io.StringIO()
    report(Console(file=out, width=width, highlight=False), *arguments)
    return out.getvalue()


def reported(console, run, folder):
    screen.show(console, bench.document(run, folder))


@pytest.fixture
def eight(run, result, evidence):
    """Results of every kind: at the line, with losses, huge numbers, invalid, suspect."""
    both = Load(
        frame_bytes=64,
        directions=2,
        link_bps=25 * 10**9,
        scale_ppm=1_000_000,
        duration_us=30_000_000,
    )
    results = [
        result("U1"),
        result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0)),
        result("U3", evidence(unexplained=1)),
        result("U4", evidence(losses={MISSED: 12})),
        result("B1", evidence(stamp=Stamp(steal_seconds={"forwarder-0": 0.4}))),
        result("B2", evidence(load=both, losses={MISSED: 1_000_000_000}, idle=0.01)),
        result("B3", evidence(load=both)),
        result("B4", evidence(losses={"ip4-lookup: no route": 74_404_762})),
    ]
    return run(*results)


def test_the_table_fits_80_columns(eight):
    text = printed(reported, eight, FOLDER)
    table = text.split("Where each lost packet went")[0]
    assert all(len(line.rstrip()) <= 80 for line in table.splitlines())
    assert "…" not in table
    assert "worker-cpu" in table


def test_every_line_fits_80_columns(eight):
    text = printed(reported, eight, FOLDER)
    assert [line for line in text.splitlines() if len(line.rstrip()) > 80] == []


def test_figures_are_those_measured(eight):
    rows = {
        line.split()[0]: line.split()
        for line in printed(reported, eight, FOLDER).split(LOSSES)[0].splitlines()
        if line[:2] in ("U1", "U2", "U4", "B2")
    }
    assert rows["U1"] == [
        "U1",
        "74,404,762",
        "74,404,762",
        "14.88",
        "10.00",
        "7.62",
        "100.0",
        "0",
        "line",
    ]
    assert rows["U2"][1:3] == ["74,404,762", "54,404,762"]
    assert rows["U2"][-3:] == ["26.9", "%", "worker-cpu"]
    assert rows["U4"][-3:] == ["<0.01", "%", "line"]
    assert rows["B2"][1] == "2,232,142k"


def test_an_invalid_trial_shows_no_figures(eight):
    text = printed(reported, eight, FOLDER)
    row = next(line for line in text.splitlines() if line.startswith("U3"))
    assert row.split() == ["U3", *["–"] * 7, "invalid"]
    assert "U3   packet ledger violated: 1 packets unexplained" in text


def test_a_suspect_trial_is_marked(eight):
    text = printed(reported, eight, FOLDER)
    assert "\nB1* " in text
    assert "B1   forwarder-0: 8.0 % of its CPU stolen by the hypervisor" in text


def test_each_lost_packet_has_a_place(eight):
    text = printed(reported, eight, FOLDER)
    assert re.search(r"U2 +20,000,000 +26\.88 % +card0 port 0: rx missed \(ring full\)", text)
    assert re.search(r"B4 +74,404,762 +100\.00 % +ip4-lookup: no route", text)


def test_cycles_are_by_node_and_test(eight):
    text = printed(reported, eight, FOLDER)
    (row,) = (line for line in text.splitlines() if line.startswith("ip4-lookup"))
    assert len(row.split()) == 8  # U3 is invalid
    assert "accounted for, %" in text


def test_a_run_that_stopped_says_so(run, result):
    stopped = run(result("U1"), status="failed", problem="the engine closed the connection")
    assert "failed: the engine closed the connection" in printed(reported, stopped, FOLDER)
    empty = printed(reported, run(status="interrupted"), FOLDER)
    assert "nothing was measured" in empty.lower()


def test_headings_say_what_was_measured(run, result):
    bed = parse({"dut": {"workers": 2}, "card": "i226-v"}, "x")
    assert framed.heading(run(testbed=bed)) == "router, 2 workers; virtual card, 2 × 2.5 Gb/s"


def test_both_ledgers_are_printed(result, evidence):
    text = printed(terminal.ledger_report, result("U2", evidence(losses={MISSED: 20_000_000})))
    assert re.search(r"^sent +tester t0 +74,404,762$", text, re.M)
    assert re.search(r"^loss +card0 port 0: rx missed \(ring full\) +-20,000,000$", text, re.M)
    assert re.search(r"^unexplained +0$", text, re.M)
    assert text.count("accounted for") == 2
    assert re.search(r"^accounted for +100\.00$", text, re.M)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_json_is_for_programs(eight):
    document = plain(json_output.bench(eight, FOLDER))
    assert document["run"] == str(FOLDER)
    trials = {trial["test"]: trial for trial in document["trials"]}
    assert trials["U2"]["valid"] is True
    assert trials["U2"]["limit"] == "worker-cpu"
    assert trials["U2"]["ledger"]["losses"] == {MISSED: 20_000_000}
    assert trials["U2"]["ledger"]["unexplained"] == 0
    worker = trials["U2"]["workers"][1]
    assert worker["name"] == "forwarder-0"
    assert worker["cycles_closed_percent"] == pytest.approx(100)
    assert worker["nodes"]["ip4-lookup"]["vectors"] == 54_404_762


def test_json_gives_no_figures_of_an_invalid_trial(eight):
    trial = next(
        trial
        for trial in plain(json_output.bench(eight, FOLDER))["trials"]
        if trial["test"] == "U3"
    )
    assert trial["valid"] is False
    assert trial["limit"] == "invalid"
    assert trial["received_pps"] is None
    assert trial["ledger"]["unexplained"] == 1


def test_runtime_rows_are_vpps():
    # A row of a real VPP's `show runtime`: 15543357 calls, 3979099392 vectors, 27.9 Clocks.
    vpp = "ethernet-input                   active           15543357      3979099392               0          2.79e1          256.00"
    node = NodeTime(calls=15543357, vectors=3979099392, clocks=111016873037)
    assert live.runtime_row("ethernet-input", "active", node) == vpp
    polling = "rdma-input                      polling           15543357      3979099392               0          2.57e1          256.00"
    node = NodeTime(calls=15543357, vectors=3979099392, clocks=102262854374)
    assert live.runtime_row("rdma-input", "polling", node) == polling


def test_runtime_is_one_block_a_worker():
    nodes = {
        "port-rx-e0-0": NodeTime(
            calls=10, vectors=1000, clocks=50_000, idle_calls=90, idle_clocks=9000
        ),
        "ip4-lookup": NodeTime(calls=10, vectors=1000, clocks=30_000),
        "drop": NodeTime(calls=1, vectors=5, clocks=100),
        "port-tx-e1": NodeTime(calls=10, vectors=995, clocks=10_000),
    }
    reading = WorkerReading(
        name="forwarder-0",
        cpu=1,
        tid=9,
        role="forwarder",
        tsc_hz=10**9,
        tsc=100_000_500,
        loops=100,
        overhead_clocks=900,
        nodes=nodes,
        polling=("port-rx-e0-0",),
    )
    text = live.runtime([(reading, 500), (reading, 500)])
    assert text.count("---------------") == 1
    lines = text.splitlines()
    assert lines[0] == "Thread 1 forwarder-0 (lcore 1)"
    assert lines[1] == "Time 0.1, 0.1 sec internal node vector rate 95.24 loops/sec 1000.00"
    assert lines[2] == "  vector rates in 1.0000e4, out 9.9500e3, drop 5.0000e1, punt 0.0000e0"
    assert [line.split()[0] for line in lines[4:9]] == [
        "drop",
        "ip4-lookup",
        "port-rx-e0-0",
        "port-rx-e0-0",
        "port-tx-e1",
    ]
    assert "(idle)" in lines[7]
    assert "polling" in lines[6]


def test_errors_are_summed_over_workers():
    drops = tuple(
        DropCount(worker=f"forwarder-{i}", node="ip4-lookup", reason="no route", packets=4)
        for i in range(2)
    )
    lines = live.errors(drops).splitlines()
    assert lines[0].split() == ["Count", "Node", "Reason", "Severity"]
    assert lines[1].split() == ["8", "ip4-lookup", "no", "route", "error"]
