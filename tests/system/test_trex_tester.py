"""The lab drives a TRex server: ours, before a router on a virtual card."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.system.labs import ENDS_IN_SECONDS
from tests.system.trex_server import server
from tests.trex_client import CLIENT

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")
BED = """
tester: {{kind: trex, server: "127.0.0.1:{}:{}"}}
link: 2M
dut: {{kind: external, macs: ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]}}
"""


def served(folder: Path) -> AbstractContextManager[tuple[object, tuple[str, str]]]:
    """The server on one CPU: on all of two, its engine leaves the lab beside it none."""
    bed = folder / "served.yaml"
    bed.write_text(f"cpus: [{max(os.sched_getaffinity(0))}]\n")
    return server(folder / "served", str(bed))


def command(folder: Path, ports: tuple[str, str], *words: str) -> subprocess.Popen[str]:
    """Start linerate on such a testbed."""
    bed = folder / "bed.yaml"
    bed.write_text(BED.format(*ports))
    return subprocess.Popen(
        [sys.executable, "-m", "linerate", *words, bed, "--runs", folder / "runs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"LINERATE_TREX_CLIENT": str(CLIENT)},
    )


def driver_of(process: subprocess.Popen[str]) -> int | None:
    """Its client's process, once it is there."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    for child in listed.split():
        if b"trex/driver.py" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    return None


def sends(runs: Path) -> bool:
    """Whether a trial has sent something, as those who watch the run read it."""
    lives = [line for file in runs.glob("*/live.jsonl") for line in file.read_text().splitlines()]
    return any(json.loads(line).get("sent_pps") for line in lives if line.endswith("}"))


@pytest.mark.smoke
def test_a_bench_by_a_trex_server_and_one_that_is_killed(tmp_path: Path) -> None:
    with served(tmp_path) as (_, ports):
        with command(tmp_path, ports, "bench", "--only", "U2", "--duration", "60s") as killed:
            until = time.monotonic() + ENDS_IN_SECONDS
            while (driver := driver_of(killed)) is None or not sends(tmp_path / "runs"):
                assert time.monotonic() < until
                time.sleep(0.1)
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            until = time.monotonic() + 20
            while Path(f"/proc/{driver}/cmdline").exists():
                assert time.monotonic() < until, "the client outlives who started it"
                time.sleep(0.05)
        # Its ports are free again: the next one takes them without force.
        words = ("bench", "--only", "B2", "--duration", "1s", "--json")
        with command(tmp_path, ports, *words) as bench:
            out, err = bench.communicate(timeout=ENDS_IN_SECONDS)
        assert bench.returncode == 0, err
    (test,) = json.loads(out)["result"]["trials"]
    assert test["valid"], test
    # 2 Mb/s both ways.
    assert test["offered_pps"] == pytest.approx(2 * 2976, rel=0.01)
    assert 0 < test["received_pps"] <= test["offered_pps"]


def test_a_search_a_sweep_a_soak_and_latency_over_load(tmp_path: Path) -> None:
    with served(tmp_path) as (_, ports):
        search = json_of(tmp_path, ports, "search", "--duration", "300ms", "--precision", "20%")
        found = search["result"]
        # For 2 Mb/s one way.
        assert found["found"]
        assert 0 < found["goals"][-1]["lower_pps"] <= 2977
        sweep = json_of(tmp_path, ports, "sweep", "--sizes", "64,512", "--duration", "300ms",
                        "--repeat", "1")  # fmt: skip
        assert sweep["result"]["absent"] == []
        points = sweep["result"]["points"]
        assert [one["trial"]["valid"] for one in points] == [True, True]
        assert points[0]["received_pps"] > points[1]["received_pps"] > 0
        soak = json_of(tmp_path, ports, "soak", "--for", "3s", "--every", "1s", "--load", "1000")
        assert soak["result"]["sent"] == pytest.approx(3000, abs=10)
        assert soak["result"]["intervals"] >= 2
        latency = json_of(tmp_path, ports, "latency", "--ndr", "2000", "--loads", "50,100",
                          "--duration", "500ms")  # fmt: skip
        points = latency["result"]["points"]
        assert [point["load_percent"] for point in points] == [50, 100]
        assert all(point["latency"][0]["count"] > 0 for point in points)
    minutes = [
        json.loads(line)
        for file in (tmp_path / "runs").glob("*/minutes.jsonl")
        for line in file.read_text().splitlines()
    ]
    # Each interval was read at its end.
    assert all(one["pps"] == pytest.approx(1000, rel=0.3) for one in minutes)


@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
@pytest.mark.parametrize("words", [("search", "--duration", "4s"), ("soak", "--every", "1s")])
def test_a_signal_in_the_middle_frees_the_ports_and_keeps_what_was_measured(
    tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    with served(tmp_path) as (_, ports):
        with command(tmp_path, ports, *words, "--load" if words[0] == "soak" else "--loadtest",
                     "500" if words[0] == "soak" else "U2") as ended:  # fmt: skip
            wait_until(lambda: sends(tmp_path / "runs") and is_kept(tmp_path / "runs", words[0]))
            driver = driver_of(ended)
            ended.send_signal(signal.Signals[name])
            _, err = ended.communicate(timeout=ENDS_IN_SECONDS)
        assert "Traceback" not in err
        if driver is not None:
            wait_until(lambda: not Path(f"/proc/{driver}/cmdline").exists())
        # Taken without force: nothing has them any more.
        again = json_of(tmp_path, ports, "bench", "--only", "U2", "--duration", "300ms")
    assert again["result"]["trials"][0]["valid"]
    (run,) = (
        json.loads(one.read_text()) for one in (tmp_path / "runs").glob(f"*-{words[0]}/run.json")
    )
    assert run["status"] == ("interrupted" if name == "SIGINT" else "running")
    assert run["results"] or run["soak"]["sent"] > 0


def json_of(folder: Path, ports: tuple[str, str], *words: str) -> dict[str, Any]:
    """Output of a command that ends well."""
    with command(folder, ports, *words, "--json") as done:
        out, err = done.communicate(timeout=ENDS_IN_SECONDS)
    assert done.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + ENDS_IN_SECONDS
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)


def is_kept(runs: Path, what: str) -> bool:
    """Whether something was measured: an interval of a soak, a trial of a search."""
    if what == "soak":
        return any(file.stat().st_size for file in runs.glob("*/minutes.jsonl"))
    return any(json.loads(file.read_text())["results"] for file in runs.glob("*-search/run.json"))


def test_no_server_is_a_line(tmp_path: Path) -> None:
    with command(tmp_path, ("1", "2"), "bench", "--only", "U2", "--duration", "1s") as bench:
        _, err = bench.communicate(timeout=ENDS_IN_SECONDS)
    assert bench.returncode != 0
    assert "no TRex server at 127.0.0.1:1: connection refused; does it run" in err
    assert "Traceback" not in err
