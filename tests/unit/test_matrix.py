"""`linerate matrix`: cases, what each costs, factors; as a whole on the fake engine."""

import io
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console
from tests.command import result_of

from linerate.analysis.cost import Cost, Costs, WorkerCost, costs_of
from linerate.base.prerequisites import of_refusal
from linerate.experiments.matrix import look
from linerate.experiments.sweep import How, loadtest_of
from linerate.lab.engine_config import bench_config, doubled
from linerate.lab.links import End, Ends, find
from linerate.model.ledger import NodeTime, TimeLedger
from linerate.model.matrix_cases import cases, select
from linerate.model.run_records import Hop
from linerate.model.suites import Loadtest, Traffic
from linerate.model.sut_config import Configuration
from linerate.model.testbed import Testbed
from linerate.report import matrix as report
from linerate.report.matrix import list_report
from linerate.report.render import html
from linerate.results.matrix_rows import _hop_clocks, groups, rows
from linerate.results.store import Run, load_run

BOTH_WAYS = How((64,), 1, 2, 1.0)
TWO = ("matrix", "--only", "loopback-2,router", "--duration", "1s")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_all_cases_of_the_comparison_are_there():
    names = names_of(cases())
    assert len(set(names)) == len(names)
    modes = ["rx-only", "tx-only", "loopback-2", "loopback-4", "l2-switch"]
    assert names[:5] == modes
    for mode in modes:
        assert {f"af_packet {mode}", f"af_xdp {mode}"} <= set(names)
        for driver in ("socket-single", "socket-vector-10", "socket-mmap", "libpcap", "io_uring"):
            handed_over = {f"{driver} {mode} locked", f"{driver} {mode} lock-free"}
            assert f"{driver} {mode}" in names
            # Without received packets there is no hand-off.
            assert handed_over.isdisjoint(names) == (mode == "tx-only")
    assert {"kernel", "bridge", "testpmd", "iperf3 one-way", "memif io"} <= set(names)


def test_each_is_compared_with_one_that_is_there_and_does_the_same():
    known = {case.configuration.name: case for case in cases()}
    for case in known.values():
        baseline = known[case.dpdk]
        assert baseline.wire == case.wire
        assert baseline.mode == case.mode or case.wire == "card"
        ways = {loadtest_of(one.configuration, 64, BOTH_WAYS).directions
                for one in (case, baseline)}  # fmt: skip
        assert len(ways) == 1


def names_of(chosen):
    return [case.configuration.name for case in chosen]


def test_cases_are_chosen_by_name():
    assert names_of(select("router,loopback-2")) == ["loopback-2", "router"]
    assert {case.configuration.driver for case in select("socket-mmap*")} == {"socket-mmap"}
    assert {case.mode for case in select("*rx-only*")} == {"rx-only"}
    assert select("mode=rx-only") == select("*rx-only*") == select("mode=rxonly")
    assert names_of(select("io_uring-loopback-4-locked")) == ["io_uring loopback-4 locked"]
    assert {case.configuration.threading for case in select("threading=lock*")} == {
        "locked", "lock-free",
    }  # fmt: skip
    assert names_of(select("dut=bridge,wire=memif")) == [
        "bridge", "memif io", "memif macswap", "memif testpmd",
    ]  # fmt: skip
    assert select(None) == cases()
    for wrong in ("fly", "", "socket-mmap*,fly", "mode=fly", "name=router"):
        with pytest.raises(ValueError, match="--list says which there are"):
            select(wrong)


def test_what_cannot_run_is_reported_with_its_reason(fake_environment):
    wanted = (Configuration(mode="io"), Configuration(driver="socket-mmap", wire="veth"))
    looked = look(Testbed(), wanted)
    assert len(looked.lines) + len(looked.absent) == 2
    assert all(one.reason and one.planned and "\n" not in one.reason for one in looked.absent)


def test_what_is_missing_is_reported_with_its_remedy(monkeypatch, fake_environment):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    wanted = [case.configuration for case in select("testpmd,memif-testpmd,iperf3*")]
    missing = {one.configuration: one for one in look(Testbed(), wanted).absent}
    assert missing["memif testpmd"].reason == "testpmd needs dpdk-testpmd"
    assert missing["memif testpmd"].remedy == "apt-get install dpdk-dev"
    assert all(one.remedy for one in missing.values())
    assert len(missing) == 3
    output = Console(width=200, record=True, file=io.StringIO())
    list_report(output, [], tuple(missing.values()))
    text = output.export_text()
    assert "memif testpmd: not here: testpmd needs dpdk-testpmd; apt-get install dpdk-dev" in text


def test_a_refusal_is_reported_with_what_to_install():
    refused = of_refusal("this engine: it was built without liburing: install liburing-dev")
    assert refused.remedy == "install liburing-dev"
    assert of_refusal("this engine: no driver 'x'").remedy == ""


def test_two_cases_in_one_go(linerate, fake_environment):
    done = linerate(*TWO, "--repeat", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = result_of(done.stdout)
    assert [one["configuration"] for one in document["configurations"]] == ["loopback-2", "router"]
    for one in document["configurations"]:
        assert one["received_pps"] == pytest.approx(20e6, rel=1e-4)
        assert one["over_slowest"] == pytest.approx(1, rel=1e-3)
        assert one["over_dpdk"] == pytest.approx(1, rel=1e-3)
        assert one["limit"] == "worker-cpu"
        assert one["rx"]["cycles_per_packet"] > 0
        assert one["rx"]["syscalls_per_packet"] is None
    folder = Path(document["run"])
    text = (folder / "report.html").read_text()
    assert "Packet rates over wire card" in text
    assert list(fake_environment.iterdir()) == []
    assert linerate("explain", str(folder), "--test", "loopback-2@64").returncode == 0
    assert linerate("report", str(folder)).returncode == 0


def test_the_tables_fit(linerate):
    done = linerate(*TWO, "--repeat", "1")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines if "everything is in" not in line)
    assert sum(line.startswith("router ") for line in lines) == 2
    assert sum(line.startswith("  router: ") for line in lines) == 1
    assert done.stderr == "matrix: 2 configurations, 1 s each: about 4 seconds\n"


def test_the_list_starts_nothing(linerate, tmp_path):
    done = linerate("matrix", "--list", "--only", "router")
    assert done.stdout == "router\n"
    assert result_of(linerate("matrix", "--list", "--json").stdout)["configurations"]
    assert not (tmp_path / "runs").exists()


def test_a_killed_one_leaves_what_was_measured(fake_environment, tmp_path, linerate):
    # A second a trial: the test may come late to see that one is done, and others are left.
    command = [sys.executable, "-m", "linerate", *TWO[:3], "--duration", "20s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not any('"trial": "loopback-2@64"' in path.read_text()
                      for path in tmp_path.glob("runs/*/run.json")):  # fmt: skip
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)
    (folder,) = tmp_path.glob("runs/*")
    run = load_run(folder)
    assert run.status == "running"
    assert "loopback-2@64" in {result.test for result in run.reported()}
    assert linerate("report", str(folder)).returncode == 0
    deadline = time.monotonic() + 60
    while engines_of(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def engines_of(lab):
    """Processes that name a killed lab as the one to die with."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--parent" in words and words[words.index(b"--parent") + 1] == str(lab).encode():
            found.append(path)
    return found


def ledger(nodes):
    made = {name: NodeTime(calls=10, vectors=vectors, clocks=clocks)
            for name, (vectors, clocks) in nodes.items()}  # fmt: skip
    return TimeLedger(
        worker="forwarder-0", role="forwarder", tsc_hz=10**9, elapsed_clocks=10**9,
        overhead_clocks=0, nodes=made,
    )  # fmt: skip


def test_costs_are_those_of_the_device_rx_and_tx_separate(evidence):
    counters = {"rx_packets": 1000, "tx_packets": 500, "rx_syscalls": 100, "tx_syscalls": 500,
                "rx_copied_bytes": 60_000, "tx_copied_bytes": 30_000}  # fmt: skip
    measured = evidence(
        time_at_load=(ledger({"port-rx-e0-0": (1000, 40_000), "port-tx-e1": (500, 10_000)}),),
        ports={"e0": counters, "e1": counters, "t0": {"rx_packets": 9, "rx_syscalls": 9}},
    )
    costs = costs_of(measured)
    assert (costs.rx.clocks, costs.tx.clocks) == (40.0, 20.0)
    assert (costs.rx.syscalls, costs.tx.syscalls) == (0.1, 1.0)
    assert (costs.rx.copied_bytes, costs.tx.copied_bytes) == (60.0, 60.0)


def test_costs_without_a_counter_are_not_invented(evidence):
    costs = costs_of(evidence(time_at_load=(), ports={"e0": {"rx_packets": 1000}}))
    assert costs.rx.syscalls is costs.tx.copied_bytes is costs.rx.clocks is None
    assert costs.all_clocks is costs.kernel_percent is None


def test_factors_are_of_the_same_wire(run, result, evidence):
    measured = [
        result(f"{name}@64", evidence(losses={"card0 port 0: rx missed (ring full)": lost}),
               configuration=name)
        for name, lost in (
            ("loopback-2", 0), ("router", 37_202_380), ("af_packet rx-only", 60_000_000),
            ("af_xdp loopback-2", 0), ("af_packet loopback-2", 37_202_380), ("of old", 5),
        )
    ]  # fmt: skip
    made = {row.configuration: row for row in rows(run(*measured), {})}
    assert made["router"].over_dpdk == pytest.approx(0.5, rel=1e-3)
    assert made["loopback-2"].over_slowest == pytest.approx(2, rel=1e-3)
    assert made["af_packet rx-only"].over_dpdk == pytest.approx(1)
    assert made["af_packet rx-only"].over_slowest == pytest.approx(1)
    assert made["af_xdp loopback-2"].over_dpdk == pytest.approx(2, rel=1e-3)
    assert made["of old"].over_dpdk is None
    grouped = [(group.wire, group.mode) for group in groups(made.values())]
    assert grouped[:3] == [("card", ""), ("veth", "rx-only"), ("veth", "loopback-2")]


def test_two_loopbacks_are_one_twice():
    with find("card").joined(Testbed()) as ends:
        pass
    one = bench_config(Testbed(), ends, Loadtest("x", Traffic(64, "many"), 2), "x")
    both = doubled(one)
    assert [port["name"] for port in both["ports"]] == [
        "e0", "e1", "t0", "t1", "e2", "e3", "t2", "t3",
    ]  # fmt: skip
    assert len({port["mac"] for port in both["ports"]}) == 8
    assert [card["name"] for card in both["cards"]] == ["card0", "card1"]
    assert {port["card"] for port in both["ports"][4:]} == {"card1"}
    assert both["forwarder"]["ports"] == ["e0", "e1", "e2", "e3"]
    assert [stream["rx_port"] for stream in both["tester"]["streams"]] == ["t1", "t0", "t3", "t2"]
    assert len({stream["name"] for stream in both["tester"]["streams"]}) == 4


def test_two_loopbacks_over_other_wires_have_ends_of_their_own():
    def end(name, number):
        return End({"driver": "ethdev", "device": f"net_x{number}", "devargs": f"iface={name}"})

    first = Ends((end("t0", 0), end("t1", 1)), (end("e0", 2), end("e1", 3)))
    second = Ends((end("t2", 4), end("t3", 5)), (end("e2", 6), end("e3", 7)))
    with_both = Ends(first.tester, first.dut, second=second)
    config = bench_config(Testbed(), with_both, Loadtest("x", Traffic(64, "many"), 2, 2), "x")
    assert "cards" not in config or config["cards"] == []
    ports = {port["name"]: port["devargs"] for port in config["ports"]}
    assert ports == {name: f"iface={name}" for name in ports}
    assert len({port["device"] for port in config["ports"]}) == 8


def test_text_in_a_page_is_text(run, result, evidence):
    name = "<script>alert(1)</script>"
    sweep = {"configurations": [name], "frame_bytes": [64], "repeats": 1, "directions": 2,
             "absent": [{"configuration": name, "reason": name}]}  # fmt: skip
    measured = run(
        result(f"{name}@64", evidence(), configuration=name), sweep=sweep, suite="matrix"
    )
    assert name not in html.page(report.document(measured, Path("run"), rows(measured, {}))).html


def test_what_a_wire_costs_is_taken_off_who_sends():
    """10 Mpps at 2.5 GHz through a reader of 50 cycles and a writer of 200, 150 of them a hop."""
    costs = Costs(
        tx=Cost(clocks=180.0),
        workers=(
            WorkerCost(clocks=50.0, sent_share=0.0, tsc_hz=2.5e9),
            WorkerCost(clocks=200.0, sent_share=1.0, tsc_hz=2.5e9),
        ),
    )
    assert costs.tx_above(150.0) == 30.0
    assert costs.free_wire_pps(150.0) == 50e6
    assert costs.free_wire_pps(120.0) == 2.5e9 / 80
    assert costs.tx_above(None) is costs.free_wire_pps(None) is None
    # Nothing but the hop is known of it: no rate is infinite.
    assert costs.model_copy(update={"workers": costs.workers[1:]}).free_wire_pps(200.0) is None


def test_a_hop_costs_no_more_than_the_cheapest_that_makes_one():
    case = next(case for case in cases() if case.wire == "veth")
    hop = Hop(call="send", clocks=4000.0, pps=6e5, tsc_hz=2.5e9)

    def of(hop: Hop | None, *sends: float | None) -> float | None:
        sweep = SimpleNamespace(hop=hop)
        costs = [Costs(tx=Cost(clocks=one)) for one in sends]
        return _hop_clocks(cast(Run, SimpleNamespace(sweep=sweep)), case, costs)

    assert of(hop, 4100.0, None) == 4000.0
    assert of(hop, 3900.0, 4100.0) == 3900.0
    assert of(None, 3900.0) is None
