"""`linerate matrix`: cases, what each costs, factors; as a whole on the fake engine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linerate.configuration import Configuration
from linerate.costs import costs_of
from linerate.ledger import NodeTime, TimeLedger
from linerate.matrix import DPDK, cases, look, rows, select
from linerate.report.html import matrix as page
from linerate.store import load_run
from linerate.suite import Loadtest, Traffic
from linerate.testbed import Testbed
from linerate.wires import find
from linerate.wiring import bench_config, doubled

TWO = ("matrix", "--only", "loopback-2,router", "--duration", "1s")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_all_cases_of_the_comparison_are_there():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert names[:5] == ["rx-only", "tx-only", "loopback-2", "loopback-4", "l2-switch"]
    for driver in ("socket-single", "socket-vector-10", "socket-mmap", "libpcap", "io_uring"):
        assert {driver, f"{driver} locked", f"{driver} lock-free"} <= set(names)
    assert {"af_xdp", "kernel", "bridge", "testpmd", "iperf3", *DPDK.values()} <= set(names)


def test_cases_are_chosen_by_name():
    assert [case.name for case in select("router,loopback-2")] == ["loopback-2", "router"]
    assert {case.driver for case in select("socket-mmap*")} == {"socket-mmap"}
    assert len(select("socket-mmap*")) == 3
    assert select(None) == cases()
    for wrong in ("fly", "", "socket-mmap*,fly"):
        with pytest.raises(ValueError, match="--list says which there are"):
            select(wrong)


def test_what_cannot_run_is_said_with_its_reason(fake_environment):
    wanted = (Configuration(mode="io"), Configuration(driver="socket-mmap", wire="veth"))
    looked = look(Testbed(), wanted)
    assert len(looked.lines) + len(looked.absent) == 2
    assert all(one.reason and one.planned and "\n" not in one.reason for one in looked.absent)


def test_two_cases_in_one_go(linerate, fake_environment):
    done = linerate(*TWO, "--repeat", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert [one["configuration"] for one in document["configurations"]] == ["loopback-2", "router"]
    for one in document["configurations"]:
        assert one["pps"] == pytest.approx(20e6, rel=1e-4)
        assert one["over_slowest"] == pytest.approx(1, rel=1e-3)
        assert one["over_dpdk"] == pytest.approx(1, rel=1e-3)
        assert one["limit"] == "worker-cpu"
        assert one["rx"]["clocks"] > 0
        assert one["rx"]["syscalls"] is None
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


def test_the_list_starts_nothing(linerate, tmp_path):
    done = linerate("matrix", "--list", "--only", "router")
    assert done.stdout == "router\n"
    assert json.loads(linerate("matrix", "--list", "--json").stdout)["configurations"]
    assert not (tmp_path / "runs").exists()


def test_a_killed_one_leaves_what_was_measured(fake_environment, tmp_path, linerate):
    command = [sys.executable, "-m", "linerate", *TWO[:3], "--duration", "60s"]
    environment = os.environ | {"FAKE_HURRY": "200"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        deadline = time.monotonic() + 30
        while not any('"trial": "loopback-2@64"' in path.read_text()
                      for path in tmp_path.glob("runs/*/run.json")):  # fmt: skip
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
    (folder,) = tmp_path.glob("runs/*")
    run = load_run(folder)
    assert run.status == "running"
    assert "loopback-2@64" in {result.test for result in run.reported()}
    assert linerate("report", str(folder)).returncode == 0
    deadline = time.monotonic() + 10
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


def test_costs_are_those_of_the_device_rx_and_tx_apart(evidence):
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


def test_costs_that_nobody_counts_are_not_invented(evidence):
    costs = costs_of(evidence(time_at_load=(), ports={"e0": {"rx_packets": 1000}}))
    assert costs.rx.syscalls is costs.tx.copied_bytes is costs.rx.clocks is None
    assert costs.all_clocks is costs.kernel_percent is None


def test_factors_are_of_the_same_wire(run, result, evidence):
    measured = [
        result(f"{name}@64", evidence(losses={"card0 port 0: rx missed (ring full)": lost}),
               configuration=name)
        for name, lost in (("loopback-2", 0), ("router", 37_202_380), ("af_packet", 60_000_000))
    ]  # fmt: skip
    made = {row.configuration: row for row in rows(run(*measured), {})}
    assert made["router"].over_dpdk == pytest.approx(0.5, rel=1e-3)
    assert made["loopback-2"].over_slowest == pytest.approx(2, rel=1e-3)
    assert made["af_packet"].over_dpdk == pytest.approx(1)
    assert made["af_packet"].over_slowest == pytest.approx(1)


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


def test_text_in_a_page_is_text(run, result, evidence):
    name = "<script>alert(1)</script>"
    sweep = {"configurations": [name], "frame_bytes": [64], "repeats": 1, "directions": 2,
             "absent": [{"configuration": name, "reason": name}]}  # fmt: skip
    measured = run(
        result(f"{name}@64", evidence(), configuration=name), sweep=sweep, suite="matrix"
    )
    assert name not in page.render(measured, "run", rows(measured, {}))
