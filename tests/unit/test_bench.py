"""`linerate bench` and `linerate show` as a whole, on the fake engine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.command import result_of

from linerate.results.store import load_measurement, load_run

FOUR = ("bench", "--duration", "1s", "--only", "U1,U2,B2,B4")
ONE = ("bench", "--duration", "1s", "--only", "U2")
#: A second a trial: long enough to be ended while it has others to measure, though the test comes
#: late to see that one is done.
SLOW = (sys.executable, "-m", "linerate", "bench", "--duration", "20s", "--only", "U1,U2,U3,U4")


def bench(linerate, *arguments, **environment):
    """The JSON of a bench, the finished process, and the run's folder."""
    done = linerate(*arguments, "--json", **environment)
    assert done.stdout, done.stderr
    document = result_of(done.stdout)
    return document, done, Path(document["run"])


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_suite_is_measured(linerate, fake_environment):
    document, done, folder = bench(linerate, *FOUR)
    assert (done.returncode, done.stderr) == (0, "")
    assert [trial["test"] for trial in document["trials"]] == ["U1", "U2", "B2", "B4"]
    assert all(trial["valid"] for trial in document["trials"])
    assert [trial["limit"] for trial in document["trials"]] == [
        "line",
        "line",
        "worker-cpu",
        "worker-cpu",
    ]
    b2 = document["trials"][2]
    assert b2["offered_pps"] == pytest.approx(2 * 14_880_952, rel=1e-4)
    assert b2["received_pps"] == pytest.approx(20e6, rel=1e-4)
    assert b2["line_percent"] == pytest.approx(67.2, abs=0.05)
    assert all(trial["ledger"]["unexplained"] == 0 for trial in document["trials"])
    assert list(fake_environment.iterdir()) == []
    run = load_run(folder)
    assert run.status == "complete"
    assert run.environment.dpdk == "DPDK fake"
    assert [ceiling.pps for ceiling in run.ceilings] == [60e6] * 4
    for trial in ("U1", "U2", "B2", "B4", "ceiling-1", "ceiling-4"):
        assert load_measurement(folder, trial).packets.unexplained == 0


def test_a_trial_that_sent_nothing_is_no_result(linerate):
    document, done, _ = bench(linerate, *ONE, FAKE_OFFERED="0")
    (trial,) = document["trials"]
    assert done.returncode == 1
    assert not trial["valid"]
    assert trial["invalid"][0].startswith("nothing was sent: ")


def test_the_table_is_printed(linerate):
    done = linerate(*FOUR)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    b2 = next(line for line in lines if line.startswith("B2"))
    assert b2.split()[-1] == "worker-cpu"
    folder = next(line for line in lines if line.startswith("everything is in")).split()[-1]
    shown = linerate("show", "ledger", folder, "b2")
    assert shown.returncode == 0
    assert "card0 port 0: rx missed (ring full)" in shown.stdout
    assert "accounted for" in shown.stdout
    ledgers = result_of(linerate("show", "ledger", folder, "--json").stdout)
    assert [ledger["test"] for ledger in ledgers] == ["U1", "U2", "B2", "B4"]
    missing = linerate("show", "ledger", folder, "U3")
    assert missing.returncode == 1
    assert "no loadtest 'U3' was measured; there are U1, U2, B2, B4" in missing.stderr


def test_a_slow_tester_offers_what_it_can(linerate):
    document, done, _ = bench(linerate, *ONE, FAKE_TESTER_PPS="10e6")
    (trial,) = document["trials"]
    assert done.returncode == 0
    assert trial["valid"]
    assert trial["limit"] == "tester"
    assert trial["offered_pps"] == pytest.approx(9.5e6, rel=1e-3)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"FAKE_UNDRAINED": "1"}, "counters not drained"),
        ({"FAKE_UNEXPLAINED": "9"}, "9 packets unexplained"),
        ({"FAKE_OPEN_CYCLES": "0.05"}, "95.00 % of its cycles accounted for"),
        ({"FAKE_PAUSED": "0.2"}, "duration stretched by 20.0 %"),
    ],
)
def test_an_invalid_trial_is_repeated_and_never_reported(linerate, monkeypatch, fault, message):
    document, done, folder = bench(linerate, *ONE, **fault)
    assert done.returncode == 1
    (trial,) = document["trials"]
    assert not trial["valid"]
    assert trial["received_pps"] is None
    assert trial["attempt"] == 3
    assert any(message in reason for reason in trial["invalid"])
    run = load_run(folder)
    assert [result.trial for result in run.results] == ["U2", "U2-2", "U2-3"]
    assert load_measurement(folder, "U2-3").packets.sent


def test_a_tester_that_does_not_get_done_is_stopped(linerate):
    document, done, _ = bench(
        linerate, "bench", "--duration", "50ms", "--only", "U2", FAKE_STUCK="1", FAKE_HURRY="1"
    )
    assert done.returncode == 0
    assert document["trials"][0]["valid"]


def test_a_tester_below_its_ceiling_is_its_own_limit(linerate):
    """Looks find it; what it offers then is a result, marked if it is much less than they showed."""
    document, done, folder = bench(linerate, *ONE, FAKE_OFFERED="0.9")
    (trial,) = document["trials"]
    assert done.returncode == 0
    assert trial["valid"]
    assert trial["limit"] == "tester"
    (result,) = load_run(folder).results
    assert result.asked_pps == pytest.approx(0.98 * 0.9 * 14.88e6, rel=1e-3)
    assert trial["offered_pps"] == pytest.approx(0.9 * result.asked_pps, rel=1e-3)
    assert any("a moment before" in text for text in trial["suspect"])


def test_a_tester_that_manages_less_behind_the_device_is_found_its_load(linerate):
    # Each packet that comes back costs it time that it can't send in: what it manages falls as
    # what it is asked for does, but not as fast.
    document, done, folder = bench(linerate, *ONE, FAKE_MANAGES="10e6")
    (trial,) = document["trials"]
    assert done.returncode == 0
    assert trial["valid"]
    asked = [result.asked_pps for result in load_run(folder).results]
    assert asked == sorted(asked, reverse=True)
    assert 10e6 < trial["offered_pps"] <= asked[-1]
    assert trial["limit"] == "tester"


def test_what_was_measured_before_a_crash_is_kept(linerate, tmp_path, fake_environment):
    # Engines 1 and 2 measure the ceilings, 3 is U1's, 4 is U2's.
    counter = {"FAKE_COUNT": str(tmp_path / "count"), "FAKE_DIE_IN": "4"}
    document, done, folder = bench(
        linerate, "bench", "--duration", "1s", "--only", "U1,U2", **counter
    )
    assert done.returncode == 1
    assert document["status"] == "failed"
    assert [trial["test"] for trial in document["trials"]] == ["U1"]
    assert "the engine closed the connection" in done.stderr
    assert load_run(folder).status == "failed"
    assert list(fake_environment.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_measured_before_a_signal_is_kept(fake_environment, tmp_path, number, code):
    with subprocess.Popen([*SLOW, "--json"], stdout=subprocess.PIPE, text=True) as process:
        wait_for(lambda: measured(tmp_path, "U1"))
        process.send_signal(number)
        document = result_of(process.communicate(timeout=120)[0])
    assert process.returncode == code
    assert document["status"] == "interrupted"
    assert document["trials"][0]["test"] == "U1"
    assert list(fake_environment.iterdir()) == []


def test_what_was_measured_before_a_kill_is_kept(fake_environment, tmp_path, linerate):
    with subprocess.Popen(SLOW, stdout=subprocess.PIPE) as process:
        wait_for(lambda: measured(tmp_path, "U1"))
        process.kill()
        process.communicate(timeout=120)
    (folder,) = tmp_path.glob("runs/*")
    run = load_run(folder)
    assert run.status == "running"
    assert run.reported()[0].test == "U1"
    assert linerate("show", "ledger", str(folder)).returncode == 0


def measured(folder, test):
    """Whether a run in that folder has a result of the test already."""
    runs = folder.glob("runs/*/run.json")
    return any(f'"test": "{test}"' in run.read_text() for run in runs)


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bench", "--only", "U9"), "the command line: no loadtest 'U9'"),
        (("bench", "--suite", "nightly"), "the command line: no suite 'nightly'"),
        (("bench", "--dut", "fly"), "the command line: dut.mode: expected one of router"),
        (("bench", "--card", "cx9"), "the command line: card: expected one of"),
        (("bench", "none.yaml"), "none.yaml: no such file or directory"),
        (("bench", "--duration", "soon"), "expected 50ms to 60m"),
        (("bench", "--workers", "0"), "Invalid value for '--workers'"),
        (("line", "10X", "64"), "link: expected a bit rate"),
        (("line", "10G", "63"), "Invalid value for 'FRAME_BYTES'"),
        (("fly",), "No such command"),
    ],
)
def test_wrong_usage_is_reported(linerate, arguments, message):
    done = linerate(*arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


def test_no_engine_is_reported_in_one_line(linerate):
    done = linerate(*ONE, LINERATE_ENGINE="/nowhere/linerate-engine")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("linerate: /nowhere/linerate-engine: no such program")
    assert done.stderr.count("\n") == 1
    assert linerate("show", "runtime").stderr == "linerate: no engine runs\n"


def test_a_live_engine_is_shown(linerate, fake_environment, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"name": "alive", "tester": {"streams": []}}))
    command = [os.environ["LINERATE_ENGINE"], "--parent", str(os.getpid()), str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            runtime = linerate("show", "runtime")
            assert "Thread 2 forwarder-0 (lcore 1)" in runtime.stdout
            assert "polling" in runtime.stdout
            assert "no route" in linerate("show", "errors").stdout
            assert "rx_pcie 7" in linerate("show", "ports").stdout
            assert "1024" in linerate("show", "rings", "--engine", "alive").stdout
            for table in ("runtime", "errors", "ports", "rings"):
                assert result_of(linerate("show", table, "--json").stdout)
            wrong = linerate("show", "rings", "--engine", "dead")
            assert wrong.returncode == 1
            assert "no engine is called 'dead': alive runs" in wrong.stderr
        finally:
            process.kill()


def test_arithmetic_is_printed(linerate):
    done = linerate("line", "10G", "64")
    assert "rate 14,880,952 packets/s" in " ".join(done.stdout.split())
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    document = result_of(linerate("line", "2.5G", "64", "--pps", "3280000", "--json").stdout)
    assert document["line_percent"] == pytest.approx(88.17, abs=0.01)
    assert document["l2_bps_no_fcs"] == pytest.approx(1.5744e9)


def test_help_has_examples(linerate):
    for command in (
        ("bench",),
        ("line",),
        ("explain",),
        ("sweep",),
        ("search",),
        ("matrix",),
        ("audit",),
        ("show", "ledger"),
    ):
        done = linerate(*command, "--help")
        assert done.returncode == 0
        assert "Example" in done.stdout
        assert f"linerate {' '.join(command)}" in " ".join(done.stdout.split())


def test_words_complete_themselves(linerate):
    def completed(words, position):
        return linerate(
            _LINERATE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(position)
        ).stdout.split()

    commands = (
        "bench sweep search latency soak matrix campaign bisect report compare baseline trend datasheet power "
        "runs export dataset query serve exporter trex top trace capture explain collect testbed "
        "scenario doctor clean audit line schema show nic traffic"
    )
    assert completed("linerate ", 1) == commands.split()
    assert "cx5-en" in completed("linerate bench --card cx", 3)
    data = Path(__file__).parents[1] / "data"
    assert completed(f"linerate audit {data}/lo", 2) == [f"{data}/loadtests.csv"]
    for command in ("bench", "search", "soak", "latency"):
        assert completed(f"linerate {command} --dut l2", 3) == ["l2fwd", "l2switch"]
    assert completed("linerate search --loadtest U1,B", 3) == ["U1,B1", "U1,B2", "U1,B3", "U1,B4"]
    assert completed("linerate soak --rate 1", 3) == ["100%", "10%", "1x", "1mpps", "1gbps"]
    assert completed("linerate top --view l", 3) == ["losses", "latency"]
    assert completed("linerate bench --only U1,B", 3) == ["U1,B1", "U1,B2", "U1,B3", "U1,B4"]


def test_suspect_figures_are_shown_where_they_are_asked_for(linerate):
    document, done, folder = bench(linerate, *ONE, "--accept-suspect", FAKE_PAUSED="0.2")
    assert done.returncode == 0, done.stderr
    (row,) = document["trials"]
    assert (row["valid"], row["provisional"], row["marks"], row["attempt"]) == (True, True, "‡*", 2)
    assert row["suspect"][0].startswith("duration stretched by 20.0 %")
    assert row["verdict"]["confidence"] != "high"
    assert row["received_pps"] > 0
    shown = linerate("report", str(folder), "--format", "markdown").stdout
    assert "U2‡" in shown
    assert "Provisional" in shown
    # As before when judged again.
    assert load_run(folder).results[-1].provisional
    assert linerate("explain", str(folder)).returncode == 0


@pytest.mark.parametrize("fault", ["FAKE_UNDRAINED", "FAKE_UNEXPLAINED", "FAKE_OPEN_CYCLES"])
def test_what_is_not_the_machines_is_never_accepted(linerate, fault):
    document, done, _ = bench(linerate, *ONE, "--accept-suspect", **{fault: "1"})
    assert done.returncode == 1
    assert not document["trials"][0]["valid"]
    assert document["trials"][0]["received_pps"] is None
