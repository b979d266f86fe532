"""Soaks: what is unexplained while packets fly, what stops them, what is kept."""

import json
import signal
import subprocess
import sys

import pytest
import typer
from tests.command import result_of

from linerate.cli.commands.soak import minute_line, ndr_of, parse_load, share_of
from linerate.cli.durations import as_long_seconds
from linerate.cli.rates import parse_pps
from linerate.cli.run_into_folder import Bar, new_progress
from linerate.cli.traffic_options import check_steady
from linerate.experiments.soak import (
    How,
    Minute,
    SoakBench,
    confirmed,
    lost_so_far,
    sequence_lost,
    soak_plan,
    unexplained,
)
from linerate.model.ledger import Entry, PacketLedger
from linerate.model.run_records import Goal, Search, SoakState
from linerate.model.suites import select
from linerate.model.suites.offered import Offered, StreamRate
from linerate.model.testbed import Testbed
from linerate.results.store import RunFolder, load_measurement, load_run
from linerate.traffic.offered import loadtest_of
from linerate.traffic.profile import Profile, TrafficError
from linerate.traffic.rate import parse_rate

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


@pytest.mark.parametrize("figure", [lost_so_far, unexplained])
def test_frames_that_overtake_each_other_are_not_lost(evidence, figure):
    settled = iter([flying(evidence, gaps=3), flying(evidence, gaps=0)])
    assert confirmed(figure, flying(evidence, gaps=5), lambda: next(settled)) == 0
    assert confirmed(figure, flying(evidence, gaps=5), lambda: flying(evidence, gaps=4)) == 4


def test_what_was_lost_before_needs_no_further_reading(evidence):
    def again():
        raise AssertionError("read again")

    assert confirmed(lost_so_far, flying(evidence, gaps=5), again, before=5) == 5


def unsigned(measurement):
    """The same of a profile half of whose frames have no signature.

    Those are received as `other`.
    """
    streams = (
        StreamRate(name="a", side=0, frame_bytes=64, pps=1e6),
        StreamRate(name="b", side=0, frame_bytes=64, pps=1e6, signed=False),
    )
    offered = Offered(profile="mixed", text="mixed", rate="1x", streams=streams)
    load = measurement.load.model_copy(update={"offered": offered})
    sent, *entries, received = measurement.packets.entries
    half = received.packets // 2
    others = {"place": f"{sent.place}: unsigned", "packets": sent.packets // 2}
    entries += [
        sent.model_copy(update={"packets": sent.packets - others["packets"]}),
        sent.model_copy(update=others),
        received.model_copy(update={"packets": received.packets - half}),
        Entry(place="tester", kind="other", packets=half),
    ]
    packets = PacketLedger(entries=tuple(entries))
    return measurement.model_copy(update={"load": load, "packets": packets})


def test_frames_without_a_signature_are_lost_by_the_ledger(evidence):
    measurement = unsigned(flying(evidence, received=10**7 - 900, lost=700))
    assert sequence_lost(measurement) == 0
    assert lost_so_far(measurement) == 700
    assert unexplained(measurement) == 0
    assert lost_so_far(unsigned(flying(evidence, received=10**7 - 900))) == 0
    assert lost_so_far(flying(evidence, consumed=7)) == 7


def test_what_has_no_signature_explains_no_gap(evidence):
    assert unexplained(unsigned(flying(evidence, gaps=5))) == 5
    assert unexplained(unsigned(flying(evidence, lost=5, gaps=5))) == 0


def test_a_foreign_devices_own_drops_are_not_ours(evidence):
    measurement = flying(evidence, lost=3).model_copy(update={"foreign": True})
    assert lost_so_far(measurement) == 0
    assert lost_so_far(unsigned(measurement)) == 3


def test_any_loss_stops_it_and_overtaking_does_not(evidence, tmp_path):
    how = How(load=0.5, seconds=60, every_seconds=1, stop_at="any")
    plan = soak_plan(Testbed(), select("standard", "U2")[0], how, ("x",))
    minutes: list[Minute] = []
    folder = RunFolder.create(tmp_path, "soak")
    bench = SoakBench(plan, folder, Bar(new_progress(), 1), how, minutes.append)
    state = SoakState(
        loadtest="U2", pps=1e6, asked_seconds=60, every_seconds=1, stop_at="any", lost=0
    )
    bench._update(soak=state)
    overtaken, whole = flying(evidence, gaps=5), flying(evidence)
    assert not bench._interval(overtaken, overtaken, lambda: whole)
    lossy = unsigned(flying(evidence, received=10**7 - 900, lost=700))
    assert bench._interval(lossy, lossy, lambda: lossy)
    assert [minute.lost for minute in minutes] == [0, 700]
    assert bench.run.soak is not None
    assert (bench.run.soak.lossy_intervals, bench.run.soak.lost) == (1, 700)
    # Late frames were not lost, and no interval gets fewer than none.
    bench._interval(whole, whole, lambda: whole)
    assert (minutes[-1].lost, minutes[-1].lost_total) == (0, 0)
    assert bench.run.soak.lossy_intervals == 1


@pytest.mark.parametrize(
    ("text", "load"),
    [("80%", 0.8), ("100%", 1.0), ("2M", 2e6), ("1500", 1500.0), ("5k", 5e3), ("2mpps", 2e6)],
)
def test_loads_are_read(text, load):
    assert parse_load(text) == load


@pytest.mark.parametrize("text", ["", "0%", "101%", "-2M", "1", "x", "nan", "inf%"])
def test_odd_loads_are_refused(text):
    with pytest.raises(ValueError, match="--load"):
        share_of(text, 1e6)

    with pytest.raises(ValueError, match="--load"):
        parse_load(text)


def test_a_share_is_of_what_was_found():
    assert share_of("90%", 1e6) == pytest.approx(9e5)
    with pytest.raises(ValueError, match="with --of a share"):
        share_of("2M", 1e6)


@pytest.mark.parametrize(
    "text", ["2M", "2mpps", "2000k", "2000kpps", "2000000", "2e6", "0.002Gpps"]
)
def test_packets_a_second_are_written_in_one_way(text):
    assert parse_pps(text) == 2e6


@pytest.mark.parametrize("text", ["", "M", "-2M", "0", "2MM", "2 M", "1e13", "2mbps", "nan", "50%"])
def test_what_are_no_packets_a_second(text):
    with pytest.raises(ValueError, match="expected packets a second, as 2M"):
        parse_pps(text)


def test_a_line_fits_a_terminal():
    line = minute_line(
        Minute("x", 8 * 3600 + 61, 14.88e6, 10**12, 10**12, 10**6, 10**9, {}, 10**5, 10**4, {}, {})
    )
    assert line.startswith("08:01:01  14.8800 Mpps")
    assert len(line) <= 100


def test_a_load_is_held(linerate, tmp_path):
    done = linerate(*SOAK, "--json")
    document = result_of(done.stdout)
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
    document = result_of(done.stdout)
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


def test_of_the_ndr_that_a_search_found_with_the_same_frames(linerate):
    words = ("search", "--sizes", "64,1518", "--loadtest", "U2,U3", "--json")
    found = result_of(linerate(*words, FAKE_DUT_PPS="5e6").stdout)
    ndr_pps = {one["loadtest"]: one["ndr_pps"] for one in found["searches"]}
    soak = (*SOAK[:-1], "90%", "--of", found["run"])
    done = linerate(*soak, "--loadtest", "U3", "--json", FAKE_DUT_PPS="5e6")
    assert result_of(done.stdout)["pps"] == pytest.approx(0.9 * ndr_pps["U3@64"])
    done = linerate(*soak, "--loadtest", "U1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has NDRs of U2@64, U2@1518, U3@64, U3@1518; expected one of U1, 1514 B" in done.stderr
    done = linerate(*soak, "--traffic", "1518")
    assert done.returncode == 2
    assert "expected one of 1518B, 1518 B" in done.stderr


def searched(tmp_path, run, *loadtests):
    folder = RunFolder.create(tmp_path, "search")
    searches = [
        Search(
            loadtest=name, text=name, frame_bytes=size, width=0.005, duration_seconds=1, min_pps=1,
            max_pps=14e6, line_pps=14e6, found=True, goals=(Goal(loss_ratio=0, lower_pps=pps),),
        )
        for name, size, pps in loadtests
    ]  # fmt: skip
    folder.save(run(searches=searches))
    return folder.path


def test_which_ndr_is_meant_is_known_or_asked_for(run, tmp_path):
    u2, u3 = select("standard", "U2,U3")
    path = searched(tmp_path, run, ("U3@64", 64, 1e6), ("U2@1518", 1518, 2e6), ("U2@64", 64, 3e6))
    assert (ndr_of(path, u3), ndr_of(path, u2)) == (1e6, 3e6)
    with pytest.raises(ValueError, match="NDRs of U2, U2@64; expected one of U2, 64 B"):
        ndr_of(searched(tmp_path, run, ("U2", 64, 1e6), ("U2@64", 64, 2e6)), u2)
    with pytest.raises(ValueError, match="NDRs of U2; expected one of U3"):
        ndr_of(searched(tmp_path, run, ("U2", 64, 1e6)), u3)
    with pytest.raises(ValueError, match="no search that found an NDR"):
        ndr_of(searched(tmp_path, run), u3)


@pytest.mark.parametrize(
    "key", [{"bursts": {"frames": 5, "count": 0, "gap_us": 9}}, {"burst": 9}, {"start_us": 1e6}]
)
def test_bursts_are_no_load_to_hold(key):
    with pytest.raises(TrafficError, match=r"p has bursts, or .* a soak needs a rate that holds"):
        check_steady((profiled(key),), "a soak")


@pytest.mark.parametrize("key", [{}, {"start_us": 10.0}, {"places": [0], "at": [0.5]}])
def test_times_within_a_round_are(key):
    check_steady((profiled(key),), "a soak")


def profiled(key):
    profile = Profile(name="p", text="p", streams=({"rate": {"pps": 1000}, **key},))
    return loadtest_of(profile, parse_rate("1x"), None, 10**10)


def test_it_lasts_no_longer_than_the_engine_sends():
    assert as_long_seconds("30d") == 30 * 86400
    with pytest.raises(typer.BadParameter, match="1s to 30d"):
        as_long_seconds("30.1d")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_all(fake_environment, tmp_path, number):
    command = [sys.executable, "-m", "linerate", "soak", "--for", "8h", "--every", "1s"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert "pps" in line
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


def test_wrong_usage_is_reported(linerate):
    done = linerate("soak", "--load", "120%")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the command line: --load: expected 80%")
    done = linerate("soak", "--loadtest", "U1,U2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the command line: --loadtest: a soak holds one; expected one of U1,U2\n"
    done = linerate("soak", "--loadtest", "U1", "--traffic", "imix")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the command line: --traffic: expected either a profile or 'U1'\n"
