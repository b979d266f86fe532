"""`linerate sweep` as a whole on the fake engine, and its arithmetic."""

import csv
import io
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command import result_of

from linerate.experiments.sweep import SIZES, parse_sizes
from linerate.results.store import Run, load_measurement, load_run, trial_name
from linerate.results.sweep_points import by_rate, factors, points

PUBLISHED = Path(__file__).parents[1] / "data" / "ls2088a.csv"
TWO = ("sweep", "--config", "mode=io", "--config", "mode=router", "--sizes", "64,1518",
       "--duration", "1s")  # fmt: skip

sizes = st.integers(64, 1518)


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def swept(linerate, *arguments, **environment):
    done = linerate(*arguments, "--json", **environment)
    document = result_of(done.stdout)
    return document, done, Path(document["run"])


def test_configurations_are_swept_in_turn(linerate, fake_environment):
    document, done, folder = swept(linerate, *TWO, "--repeat", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert [(one["configuration"], one["frame_bytes"]) for one in document["points"]] == [
        ("io", 64),
        ("router", 64),
        ("io", 1518),
        ("router", 1518),
    ]
    at_64, _, at_1518, _ = document["points"]
    assert at_64["received_pps"] == pytest.approx(20e6, rel=1e-4)
    assert at_1518["line_percent"] == pytest.approx(100, rel=1e-4)
    assert at_64["spread_percent"] == pytest.approx(0, abs=0.01)
    run = load_run(folder)
    assert [result.trial for result in run.results] == [
        "io@64", "router@64", "io@1518", "router@1518",
        "io@64.2", "router@64.2", "io@1518.2", "router@1518.2",
    ]  # fmt: skip
    assert len(run.ceilings) == 2
    assert load_measurement(folder, "router@1518.2").packets.unexplained == 0
    assert list(fake_environment.iterdir()) == []


def test_the_table_and_the_csv_have_the_published_shape(linerate):
    done = linerate(*TWO, "--repeat", "1", "--sizes", "64,128,256,512,1024,1400")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert sum(line.startswith("configuration") for line in lines) == 2
    assert sum(line.startswith("router ") for line in lines) == 2
    assert all(len(line) <= 80 for line in lines if not line.startswith(("what", "everything")))
    folder = next(line for line in lines if line.startswith("everything is in")).split()[-1]
    shown = linerate("show", "ledger", folder, "io@1400")
    assert "card0 port 0: rx missed (ring full)" in linerate("show", "ledger", folder).stdout
    assert shown.stdout.startswith("io@1400")
    explained = linerate("explain", folder, "--test", "router@64")
    assert explained.returncode == 0
    assert "worker-cpu" in explained.stdout
    table = list(
        csv.DictReader(
            io.StringIO(linerate(*TWO, "--sizes", "64,1400", "--repeat", "1", "--csv").stdout)
        )
    )
    with PUBLISHED.open(encoding="utf-8") as file:
        published = csv.DictReader(file).fieldnames or []
    assert list(table[0])[: len(published)] == published
    assert [row["configuration"] for row in table] == ["io", "router"]
    assert table[0]["fps_64"] == "20000000"


def test_a_configuration_that_fails_takes_nothing_away(linerate, tmp_path):
    # Engines 1 and 2 measure ceilings, 3 is io@64, 4 is router@64, which dies.
    counter = {"FAKE_COUNT": str(tmp_path / "count"), "FAKE_DIE_IN": "4"}
    document, done, _ = swept(linerate, *TWO, "--repeat", "1", **counter)
    assert done.returncode == 1
    assert document["status"] == "complete"
    assert [one["configuration"] for one in document["absent"]] == ["router"]
    assert "the engine closed the connection" in document["absent"][0]["reason"]
    assert [one["trial"]["test"] for one in document["points"]] == ["io@64", "io@1518"]


def test_an_invalid_trial_is_no_point(linerate):
    one = ("sweep", "--sizes", "64", "--repeat", "1", "--duration", "1s")
    done = linerate(*one, FAKE_UNEXPLAINED="9")
    assert done.returncode == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("router"))
    assert line.split()[1:] == ["invalid", "–"]
    assert "router@64: packet ledger violated: 9 packets unexplained" in done.stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_what_was_measured_before_the_end_is_kept(fake_environment, tmp_path, number, code):
    # A second a trial: the test may come late to see that one is done, and others are left.
    command = [sys.executable, "-m", "linerate", *TWO, "--duration", "20s", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not any('"io@64"' in path.read_text() for path in tmp_path.glob("runs/*/run.json")
                      if '"trial": "io@64"' in path.read_text()):  # fmt: skip
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        output = process.communicate(timeout=120)[0]
    assert process.returncode == code
    (folder,) = tmp_path.glob("runs/*")
    run = load_run(folder)
    assert run.status == ("interrupted" if number == signal.SIGINT else "running")
    assert "io@64" in {result.test for result in run.reported()}
    if number == signal.SIGINT:
        assert result_of(output)["points"][0]["received_pps"] is not None
        assert list(fake_environment.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "63"), "expected 64 to 1522 bytes"),
        (("--sizes", "64:128"), "expected FIRST:LAST:STEP"),
        (("--sizes", "64:1518:0"), "expected FIRST:LAST:STEP"),
        (("--sizes", "soon"), "expected 64,128 or 64:1518:64"),
        (("--config", "mode=fly"), "mode: expected one of router"),
        (("--config", "mode=io", "--config", "mode=io"), "'io' is there twice"),
        (("--repeat", "0"), "Invalid value for '--repeat'"),
        (("none.yaml",), "none.yaml: no such file or directory"),
    ],
)
def test_wrong_usage_is_reported(linerate, arguments, message):
    done = linerate("sweep", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


def test_words_complete_themselves(linerate):
    def completed(words, position):
        return linerate(
            _LINERATE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(position)
        ).stdout.split()

    assert completed("linerate sweep --config mode=io,dr", 3) == ["mode=io,driver="]
    assert "driver=socket-mmap" in completed("linerate sweep --config driver=socket", 3)


@given(st.lists(sizes, min_size=1, max_size=9))
def test_sizes_are_each_there_once_in_order(given_sizes):
    text = ",".join(map(str, given_sizes))
    assert parse_sizes(text, 1518) == tuple(sorted(set(given_sizes)))


@given(sizes, sizes, st.integers(1, 2000))
def test_a_range_has_both_ends(one, other, step):
    first, last = sorted((one, other))
    found = parse_sizes(f"{first}:{last}:{step}", 1518)
    assert (found[0], found[-1]) == (first, last)
    gaps = [after - before for before, after in pairwise(found)]
    assert all(gap == step for gap in gaps[:-1])
    assert all(0 < gap <= step for gap in gaps)


@given(st.text(max_size=20))
def test_any_sizes_are_read_or_reported(text):
    try:
        found = parse_sizes(text, 1518)
    except ValueError as error:
        message = str(error)
    else:
        assert all(64 <= size <= 1518 for size in found)
        return
    assert "sizes: expected" in message


def test_the_default_sizes_are_read_back():
    assert parse_sizes(",".join(map(str, SIZES)), 1518) == SIZES


rates = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.one_of(st.none(), st.floats(1, 1e9)),
    max_size=8,
)


@given(rates)
def test_factors_are_ratios(given_rates):
    known = {name: rate for name, rate in given_rates.items() if rate is not None}
    found = factors(given_rates)
    assert list(found) == list(given_rates)
    for name, factor in found.items():
        assert (factor is None) == (name not in known)
        assert factor is None or factor >= 1
    if known:
        assert min(factor for factor in found.values() if factor is not None) == 1
    for name in known:
        assert factors(given_rates, name)[name] == pytest.approx(1)
    assert set(factors(given_rates, "nobody").values()) <= {None}


@given(rates)
def test_sorting_is_stable(given_rates):
    names = by_rate(given_rates)
    assert sorted(names) == sorted(given_rates)
    keys = [given_rates[name] or 0.0 for name in names]
    assert keys == sorted(keys, reverse=True)
    order = list(given_rates)
    for one, other in pairwise(names):
        if (given_rates[one] or 0.0) == (given_rates[other] or 0.0):
            assert order.index(one) < order.index(other)


@pytest.mark.parametrize("repeats", [1, 2, 3, 4])
def test_the_middle_trial_is_reported(run, result, evidence, repeats):
    measured = [
        result("io@64", evidence(losses={"card0 port 0: rx missed (ring full)": 1000 * lost}),
               repeat=repeat, configuration="io")
        for repeat, lost in enumerate((5, 1, 9, 3)[:repeats], start=1)
    ]  # fmt: skip
    swept_run: Run = run(*measured)
    (reported,) = swept_run.reported()
    assert reported.received_pps == sorted(one.received_pps for one in measured)[(repeats - 1) // 2]
    (point,) = points(swept_run).values()
    assert point.pps == pytest.approx(median(one.received_pps for one in measured))
    assert (point.spread_percent is None) == (repeats == 1)


def test_trials_have_names_of_their_own():
    names = {
        trial_name("io@64", repeat, attempt) for repeat in range(1, 5) for attempt in range(1, 5)
    }
    assert len(names) == 16
    assert trial_name("U2") == "U2"
    assert trial_name("U2", 1, 3) == "U2-3"
