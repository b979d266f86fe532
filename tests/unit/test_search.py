"""`linerate search` on the fake engine, and what it is made of."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.command import result_of

from linerate.analysis.validity import caused_by_host
from linerate.base.errors import TestbedError
from linerate.experiments.retry import host_decides, lost_of
from linerate.experiments.search import How, Point, interval
from linerate.model.ledger import TimeLedger
from linerate.model.measurement import Load
from linerate.model.nic_presets import Card, card_option
from linerate.model.run_records import Goal, Search
from linerate.model.testbed import Testbed, with_options
from linerate.results.goals import goals_text, limiting, parse_ratio
from linerate.results.store import load_measurement, load_run

RX = "card0 port 0: rx missed (ring full)"
CEILING = "card0: card packet rate"
HERTZ = 1_000_000_000


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def search(linerate, *arguments, **environment):
    """The JSON of a search, the finished process, and the run's folder."""
    done = linerate("search", *arguments, "--json", **environment)
    document = result_of(done.stdout)
    return document, done, Path(document["run"])


@pytest.mark.parametrize("pps", [1e6, 10e6])
def test_both_goals_are_found(linerate, pps):
    document, done, folder = search(linerate, FAKE_DUT_PPS=str(pps))
    assert (done.returncode, done.stderr) == (0, "")
    assert document["found"]
    assert document["ndr_pps"] == pytest.approx(pps, rel=0.005)
    # So much may be offered that no more than that share is lost.
    assert document["pdr_pps"] == pytest.approx(pps / 0.995, rel=0.005)
    ndr, pdr = document["goals"]
    assert (ndr["loss_ratio"], pdr["loss_ratio"]) == (0, 0.005)
    for goal in (ndr, pdr):
        assert goal["lower_pps"] < goal["upper_pps"] <= goal["lower_pps"] * 1.0051
        assert goal["limit"] == "worker-cpu"
    assert ndr["lower_pps"] <= pps < ndr["upper_pps"]
    run = load_run(folder)
    assert run.status == "complete"
    assert run.searches[0].goals[0].lower_pps == document["ndr_pps"]


def test_a_deciding_trial_of_few_packets_is_longer():
    """A ring that takes some hundred packets at its end hides a loss of as many."""
    how = How()
    at_load = [how.seconds_at(pps, 1.0) for pps in (1e6, 150e3, 100e3, 50e3, 5e3)]
    assert at_load == [1, 1, 1.5, 3, 4]
    assert how.seconds_at(5e3, how.initial_seconds) == how.initial_seconds
    assert How(duration_seconds=60.0).seconds_at(1e3, 60.0) == 60


def test_each_trial_is_in_the_run(linerate):
    document, _, folder = search(linerate, FAKE_DUT_PPS="5e6")
    run = load_run(folder)
    names = [trial["trial"] for trial in document["trials"]]
    assert names == [result.trial for result in run.results]
    assert names == [f"U2.{number}" for number in range(1, len(names) + 1)]
    assert run.tests == tuple(names)
    for trial in document["trials"]:
        measurement = load_measurement(folder, trial["trial"])
        assert measurement.packets.unexplained == 0
        assert measurement.load.asked_pps == trial["asked_pps"]
        assert trial["verdict"]["sentence"]
        assert trial["ledger"]["sent"] == measurement.packets.sent
    # Separate from them.
    warm_up = load_measurement(folder, "U2-warm-up")
    assert 0 < warm_up.packets.sent < 1e6
    lower = [
        one for one in document["trials"] if one["trial"] == run.searches[0].goals[0].lower_trial
    ]
    assert lower[0]["loss_percent"] == 0
    assert lower[0]["duration_seconds"] == pytest.approx(1, abs=0.01)


def test_other_goals_and_frames(linerate):
    document, done, _ = search(
        linerate,
        "--goal",
        "10%",
        "--goal",
        "0.5%",
        "--sizes",
        "512",
        "--loadtest",
        "b2",
        FAKE_DUT_PPS="2e6",
    )
    assert done.returncode == 0
    assert document["frame_bytes"] == 512
    assert [goal["loss_ratio"] for goal in document["goals"]] == [0, 0.005, 0.1]
    assert document["goals"][2]["lower_pps"] == pytest.approx(2e6 / 0.9, rel=0.006)
    assert document["goals"][2]["forwarded_pps"] == pytest.approx(2e6, rel=0.006)


def test_the_line_is_no_upper_load(linerate):
    document, done, _ = search(linerate, FAKE_DUT_PPS="50e6")
    assert done.returncode == 0
    (ndr, _) = document["goals"]
    assert document["ndr_pps"] == document["pdr_pps"] == pytest.approx(14_880_952, rel=1e-5)
    assert ndr["upper_pps"] is None
    assert ndr["limit"] == "line"


def test_several_loadtests_are_several_searches(linerate):
    document, _, folder = search(linerate, "--loadtest", "U2,U3", FAKE_DUT_PPS="5e6")
    assert [one["loadtest"] for one in document["searches"]] == ["U2", "U3"]
    assert all(trial["test"].startswith("U3.") for trial in document["searches"][1]["trials"])
    assert document["ndr_pps"] == document["searches"][0]["ndr_pps"]
    page = (folder / "report.html").read_text()
    assert "search-U2" in page
    assert "search-U3" in page


def test_a_slow_tester_is_reported_to_be_the_limit(linerate):
    document, done, _ = search(linerate, FAKE_TESTER_PPS="10e6")
    assert done.returncode == 0
    assert document["ndr_pps"] == pytest.approx(9.5e6, rel=1e-3)
    assert document["goals"][0]["upper_pps"] is None
    assert document["goals"][0]["limit"] == "tester"


def test_a_tester_that_manages_less_behind_the_device_is_asked_for_less(linerate):
    document, done, _ = search(linerate, FAKE_MANAGES="10e6")
    assert done.returncode == 0
    assert document["ndr_pps"] == pytest.approx(document["max_pps"], rel=1e-3)
    assert document["max_pps"] < 10.1e6
    assert any(not trial["valid"] for trial in document["trials"])
    assert document["goals"][0]["limit"] == "tester"


def test_frame_sizes_are_searches_of_their_own(linerate):
    document, done, folder = search(
        linerate, "--sizes", "64,1518", "--loadtest", "U2", FAKE_DUT_PPS="5e6"
    )
    assert done.returncode == 0
    small, large = document["searches"]
    assert (small["loadtest"], large["loadtest"]) == ("U2@64", "U2@1518")
    assert small["ndr_pps"] == pytest.approx(5e6, rel=0.005)
    # The line's rate of large frames.
    assert large["ndr_pps"] == pytest.approx(812_744, rel=1e-4)
    assert "search-U2-1518" in (folder / "report.html").read_text()
    assert load_measurement(folder, "U2@1518.1").load.frame_bytes == 1518


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"FAKE_UNDRAINED": "1"}, "counters not drained"),
        ({"FAKE_PAUSED": "0.2"}, "duration stretched by 20.0 %"),
    ],
)
def test_without_a_valid_trial_there_is_no_figure(linerate, fault, message):
    document, done, folder = search(linerate, **fault)
    assert done.returncode == 1
    assert document["status"] == "failed"
    assert document["ndr_pps"] is None
    assert document["pdr_pps"] is None
    assert "no valid trial at" in done.stderr
    assert f"({message}" in done.stderr
    assert ("linerate doctor" in done.stderr) == ("FAKE_PAUSED" in fault)
    names = [result.trial for result in load_run(folder).results]
    assert names == ["U2.1", *(f"U2.1-{number}" for number in range(2, 11))]
    assert all(message in trial["invalid"][0] for trial in document["trials"])
    assert "not found to the end" in (folder / "report.html").read_text()


def test_what_was_measured_before_a_crash_is_kept(linerate, tmp_path):
    # Engine 1 measures the ceiling; the second polls a while before it dies.
    counter = {"FAKE_COUNT": str(tmp_path / "count"), "FAKE_DIE_IN": "2"}
    document, done, folder = search(linerate, **counter)
    assert done.returncode == 1
    assert document["ndr_pps"] is None
    assert "the engine closed the connection" in done.stderr
    assert (folder / "report.html").is_file()


def test_the_report_is_printed(linerate):
    done = linerate("search", "--goal", "0.1%", FAKE_DUT_PPS="5e6")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines if line.startswith(("NDR", "PDR", "0.1 %"))] == [
        "NDR",
        "0.1",
        "PDR",
    ]
    why = lines.index("What limits, and how we know")
    assert lines[why + 1].startswith("  NDR  worker-cpu: forwarder-0 is saturated")
    assert "of its time to spare there" in " ".join(" ".join(lines[why:]).split())
    folder = next(line for line in lines if line.startswith("everything is in")).split()[-1]
    shown = linerate("show", "ledger", folder, "U2.2")
    assert shown.returncode == 0
    assert "accounted for" in shown.stdout
    assert linerate("explain", folder).returncode == 0
    assert "U2.3" in linerate("report", folder, "--format", "csv").stdout
    text = linerate("report", folder, "--format", "markdown").stdout
    assert "| NDR | 0 % |" in text
    assert "limited by worker-cpu" in text.lower().replace("\\", "")
    assert linerate("report", folder, "-o", "page.html").returncode == 0


class Page(HTMLParser):
    """Requests of a page, and the places where its script writes."""

    def __init__(self, text):
        super().__init__()
        self.outside = []
        self.ids = set()
        self.feed(text)

    def handle_starttag(self, _tag, attrs):
        given = dict(attrs)
        self.outside += [
            given[key] for key in ("src", "href") if str(given.get(key)).startswith("http")
        ]
        self.ids.add(given.get("id"))


def test_the_page_shows_loads_and_limits(linerate):
    _, _, folder = search(linerate, FAKE_DUT_PPS="5e6")
    text = (folder / "report.html").read_text()
    page = Page(text)
    assert page.outside == []
    assert "search-U2" in page.ids
    assert {f"test-{name}" for name in ("U2.7",)} & page.ids
    assert "limited by worker-cpu" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--goal", "lots"), "--goal: expected a loss ratio from 0 to below 100 %, as 0.5%"),
        (("--goal", "100%"), "--goal: expected a loss ratio"),
        (("--precision", "0.01%"), "--precision: expected 0.1% to 50%"),
        (("--loadtest", "U9"), "no loadtest 'U9'"),
        (("--sizes", "63"), "sizes: expected 64 to 1522 bytes"),
        (("--card", "pps=some"), "card: pps: expected a whole number, as pps=2000000,link=10G"),
        (("--card", "speed=5"), "card: expected each of pps, link"),
        (("--card", "pps=1,pps=2"), "at most once"),
        (("--card", "link=fast"), "card.link_bps: expected a bit rate"),
        (("--loadtest", "U1", "--traffic", "imix"), "expected either a profile or 'U1'"),
        (("--repeat", "2"), "--repeat: of bursts, with --rfc2544"),
        (("--dut", "txonly"), "txonly: a search needs our tester to offer loads"),
    ],
)
def test_wrong_usage_is_reported(linerate, arguments, message):
    done = linerate("search", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_cards_limits_are_read():
    assert card_option("cx5-en") == "cx5-en"
    assert card_option("pps=2000000,link=10G") == {"pps_ceiling": 2_000_000, "link": "10G"}
    assert card_option("cx5-en,rx_queues=1") == {"preset": "cx5-en", "rx_queues": 1}
    card = with_options(Testbed(), card="pps=2.5M,link=25G,rx_ring=512").card
    assert card == Card(pps_ceiling=2_500_000, link_bps=25_000_000_000, rx_ring=512)
    assert with_options(Testbed(), card="mcx342a,pps=5M").card.pps_ceiling == 5_000_000
    for wrong in ("pps", "pps=", "pps=-1", "pps=inf", "pps=nan", "pps=1.5", ",", "cx5-en,", "=1"):
        with pytest.raises(TestbedError):
            with_options(Testbed(), card=wrong)


def test_ratios_are_read():
    assert parse_ratio("0.5%") == parse_ratio(" 0.005 ") == 0.005
    assert parse_ratio("0") == 0
    for wrong in ("", "%", "-1%", "1", "100%", "nan", "5%%", "half"):
        with pytest.raises(ValueError, match="expected a loss ratio"):
            parse_ratio(wrong)


def point(mpps, loss_ratio, seconds=1.0):
    return Point(mpps * 1e6, seconds, loss_ratio, mpps * 1e6 * (1 - loss_ratio), f"t{mpps}")


def test_an_interval_closes_in_from_both_sides():
    assert interval([], 0) == Goal(loss_ratio=0)
    points = [point(10, 0.5), point(4, 0), point(6, 0.003), point(5, 0), point(5.5, 0.001)]
    ndr, pdr = interval(points, 0), interval(points, 0.005)
    assert (ndr.lower_pps, ndr.upper_pps) == (5e6, 5.5e6)
    assert (ndr.lower_trial, ndr.upper_trial) == ("t5", "t5.5")
    assert (pdr.lower_pps, pdr.upper_pps) == (6e6, 10e6)
    assert pdr.forwarded_pps == pytest.approx(6e6 * 0.997)
    # A load that held what a lower one did not is no lower load.
    odd = interval([*points, point(7, 0)], 0)
    assert (odd.lower_pps, odd.upper_pps) == (5e6, 5.5e6)
    assert interval([point(3, 0.1)], 0).lower_pps is None
    assert goals_text([ndr, pdr]) == "NDR 5–5.5 Mpps, PDR 6–10 Mpps"
    assert goals_text([interval([point(3, 0.1)], 0), interval([point(3, 0)], 0.01)]) == (
        "NDR < 3 Mpps, 1 % > 3 Mpps"
    )


def away(seconds, idle=0.5):
    """Ledgers of a forwarder that was descheduled for so long, of 5 s."""
    clocks = 5 * HERTZ
    return (
        TimeLedger(
            worker="forwarder-0",
            role="forwarder",
            tsc_hz=HERTZ,
            elapsed_clocks=clocks,
            overhead_clocks=round(clocks * (1 - idle)) - round(seconds * HERTZ),
            away_clocks=round(seconds * HERTZ),
            sleep_clocks=round(clocks * idle),
            loops=1,
            nodes={},
        ),
    )


def test_loss_that_may_be_the_hosts_is_worth_another_trial(evidence):
    # 10 ms at 14.88 Mpps are 148,810 packets.
    absent = evidence(losses={RX: 100_000}, time=away(0.01))
    assert host_decides(absent, [0])
    assert not host_decides(absent, [0.005])
    assert not host_decides(evidence(losses={RX: 100_000}, time=away(0)), [0])
    assert not host_decides(evidence(losses={RX: 400_000}, time=away(0.01)), [0])
    # Few of those 74 million, and no descheduling known: it was stalled, if it had idle polls.
    assert host_decides(evidence(losses={RX: 7_000}, time_at_load=away(0)), [0])
    assert not host_decides(evidence(losses={RX: 8_000}, time_at_load=away(0)), [0])
    assert not host_decides(evidence(losses={RX: 7_000}, time_at_load=away(0, idle=0.01)), [0])
    # Lost at a ceiling as well: no undisturbed trial would hold it.
    both = evidence(losses={RX: 100_000, CEILING: 5}, time=away(0.01))
    assert not host_decides(both, [0])
    assert not host_decides(evidence(), [0, 0.005])
    assert not caused_by_host(absent)
    # A descheduled tester catches up in a burst, of which a card refuses a little.
    late = tuple(one.model_copy(update={"role": "tester"}) for one in away(0.001))
    burst = evidence(losses={CEILING: 80}, time=late)
    assert host_decides(burst, [0])
    assert not host_decides(evidence(losses={CEILING: 80}, time=away(0)), [0])
    assert not host_decides(evidence(losses={CEILING: 80_000}, time=late), [0])
    assert caused_by_host(evidence(time=away(1)))


def test_what_a_wire_did_not_take_was_not_forwarded(evidence):
    load = Load(frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=10**6, duration_us=10**6)
    taken = evidence(load=load.model_copy(update={"pushes_back": True}), sent=10_000_000)
    assert lost_of(taken) == (4_880_952, 14_880_952)
    assert lost_of(evidence(load=load, sent=14_880_000, losses={RX: 7})) == (7, 14_880_000)


def test_the_limit_is_named_by_the_lowest_load_that_shows_it(run, result, evidence):
    def trial(number, scale, losses):
        load = Load(
            frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=scale, duration_us=10**6
        )
        card = Card(pps_ceiling=2_000_000)
        return result(f"U2.{number}", evidence(losses=losses, load=load, card=card))

    held = trial(1, 134_000, {})
    hardly = trial(2, 134_500, {"card0 port 0: odd": 1})
    clearly = trial(3, 200_000, {"card0 port 0: card packet rate": 976_190})
    most = trial(4, 400_000, {"card0 port 0: card packet rate": 3_952_380})
    about = {
        "loadtest": "U2",
        "text": "x",
        "frame_bytes": 64,
        "width": 0.005,
        "duration_seconds": 1,
        "min_pps": 1,
        "max_pps": 2,
        "line_pps": 3,
    }
    found = Search(**about)
    made = run(held, hardly, clearly, most, searches=[found])
    goal = Goal(loss_ratio=0, lower_trial="U2.1", upper_trial="U2.2")
    assert clearly.verdict.limit == "card-pps"
    assert hardly.verdict.limit in ("none", "unknown")
    assert limiting(made, found, goal) == clearly
    assert limiting(made, found, goal.model_copy(update={"upper_trial": "U2.3"})) == clearly
    assert limiting(made, found, Goal(loss_ratio=0)) is None


def test_progress_shows_the_interval_narrowing(fake_environment, tmp_path):
    """Progress for a terminal, by an observer that only listens."""
    from linerate.experiments.search import How, SearchBench, search_plan
    from linerate.model.suites import select
    from linerate.results.store import RunFolder

    class Listener:
        def __init__(self):
            self.message = []

        def step(self, text, seconds):
            self.message.append(text)

        def progress(self, progress):
            pass

        def measured(self, result):
            pass

        def waiting(self, text):
            pass

        def absent(self, absent):
            pass

    listener = Listener()
    plan = search_plan(Testbed(), select("standard", "B2"), How(), ("x",))
    bench = SearchBench(plan, RunFolder.create(tmp_path, "search"), listener, How())
    made = bench.measure()
    assert made.status == "complete"
    message = [text for text in listener.message if text.startswith("B2.")]
    assert message[0] == "B2.1, 29.76 Mpps: NDR ?, PDR ?"
    assert message[1].startswith("B2.2, ")
    assert message[1].endswith(" Mpps: NDR < 29.76 Mpps, PDR < 29.76 Mpps")
    assert all("–" in text for text in message[3:])
    assert made.searches[0].goals[0].upper_pps == pytest.approx(20e6, rel=0.006)
