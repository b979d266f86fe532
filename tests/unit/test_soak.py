"""Soaks: what is unexplained while packets fly, what stops them, what is kept."""

import json
import signal
import subprocess
import sys

import pytest

from linerate.commands.soak import minute_line, parse_load
from linerate.ledger import Entry, PacketLedger
from linerate.soak import Minute, confirmed, sequence_lost, unexplained
from linerate.store import load_measurement, load_run

SOAK = ("soak", "--for", "10s", "--every", "10s", "--load", "50%")


def flying(evidence, sent=10**7, received=10**7, lost=0, gaps=0, consumed=0):
    entries = (
        Entry(place="tester t0", kind="sent", packets=sent),
        Entry(place="ring", kind="loss", packets=lost),
        Entry(place="local", kind="consumed", packets=consumed),
        Entry(place="tester", kind="received", packets=received),
    )
    return evidence(packets=PacketLedger(entries=entries), streams={"a": {"lost": gaps}})


def test_what_is_on_its_way_is_not_lost(evidence):
    assert unexplained(flying(evidence, received=10**7 - 5000)) == 0


def test_a_gap_that_the_ledger_knows_is_explained(evidence):
    assert unexplained(flying(evidence, lost=7, gaps=7)) == 0
    assert unexplained(flying(evidence, lost=900, gaps=7)) == 0
    assert unexplained(flying(evidence, consumed=7, gaps=7)) == 0


def test_one_packet_more_is_not(evidence):
    measurement = flying(evidence, lost=7, gaps=8)
    assert sequence_lost(measurement) == 8
    assert unexplained(measurement) == 1


def test_a_device_that_lets_nothing_through_shows_no_gaps(evidence):
    assert unexplained(flying(evidence, received=10**6)) == 9 * 10**6


def test_frames_that_overtake_each_other_are_not_lost(evidence):
    settled = iter([flying(evidence, gaps=3), flying(evidence, gaps=0)])
    assert confirmed(flying(evidence, gaps=5), lambda: next(settled)) == 0
    assert confirmed(flying(evidence, gaps=5), lambda: flying(evidence, gaps=4)) == 4


@pytest.mark.parametrize(
    ("text", "load"), [("80%", 0.8), ("100%", 1.0), ("2M", 2e6), ("1500", 1500.0), ("5k", 5e3)]
)
def test_loads_are_read(text, load):
    assert parse_load(text) == load


@pytest.mark.parametrize("text", ["", "0%", "101%", "-2M", "1", "x", "nan", "inf%"])
def test_odd_loads_are_refused(text):
    with pytest.raises(ValueError, match="--load"):
        parse_load(text)


def test_a_line_fits_a_terminal():
    line = minute_line(
        Minute("x", 8 * 3600 + 61, 14.88e6, 10**12, 10**12, 10**6, 10**9, {}, 10**5, 10**4, {}, {})
    )
    assert line.startswith("08:01:01  14.8800 Mpps")
    assert len(line) <= 100


def test_a_load_is_held(linerate, tmp_path):
    done = linerate(*SOAK, "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["passed"]
    assert document["verdict"].endswith("none lost.")
    assert document["sent"] == document["received"] > 0
    folder = tmp_path / document["run"]
    run = load_run(folder)
    assert (run.status, len(run.results)) == ("complete", 1)
    assert run.results[0].packets.violations == []
    load_measurement(folder, "U2")


def test_a_loss_that_nothing_explains_fails(linerate):
    done = linerate(*SOAK, "--json", FAKE_UNEXPLAINED="3")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert not document["passed"]
    assert document["verdict"].endswith("3 lost that no counter explains.")


def test_any_loss_fails_where_that_is_asked(linerate):
    for stop_at, code in (("any", 1), ("unexplained", 0), ("never", 0)):
        done = linerate(*SOAK, "--stop-at", stop_at, FAKE_DUT_PPS="5e6")
        assert done.returncode == code, done.stdout
        assert "all explained" in done.stdout


def test_a_tester_without_a_cpu_makes_it_no_longer(linerate):
    done = linerate("soak", "--for", "2s", "--every", "1s", FAKE_STARVES="1.5")
    assert done.returncode == 1
    assert ": invalid, " in done.stdout.splitlines()[-1]


def test_of_a_searchs_ndr(linerate):
    found = json.loads(linerate("search", "--json", FAKE_DUT_PPS="5e6").stdout)
    done = linerate(*SOAK[:-1], "90%", "--of", found["run"], "--json", FAKE_DUT_PPS="5e6")
    assert json.loads(done.stdout)["pps"] == pytest.approx(0.9 * found["ndr_pps"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_all(fake_environment, tmp_path, number):
    command = [sys.executable, "-m", "linerate", "soak", "--for", "8h", "--every", "1s"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert "Mpps" in line
        running.send_signal(number)
        rest = running.stdout.read()
    assert running.returncode == 128 + number
    (folder,) = (tmp_path / "runs").iterdir()
    run = load_run(folder)
    assert run.status == "interrupted"
    assert len(run.results) == 1
    assert run.soak is not None
    assert run.soak.intervals >= 1
    assert run.soak.verdict in rest
    lines = (folder / "minutes.jsonl").read_text().splitlines()
    assert len(lines) == run.soak.intervals
    assert {"pps", "lost", "on_their_way", "away_ms"} <= json.loads(lines[0]).keys()


def test_wrong_usage_is_told(linerate):
    done = linerate("soak", "--load", "120%")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the command line: --load: expected 80%")
    done = linerate("soak", "--loadtest", "U1,U2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the command line: --loadtest: a soak holds one; expected one of U1,U2\n"
