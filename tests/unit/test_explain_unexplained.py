"""Missing packets without a reason are reported, on every wire: no verdict ignores them."""

from typing import Any

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.cli.commands.search import outcome
from linerate.cli.run_into_folder import exit_code, nothing_came_back
from linerate.model.measurement import Load, ToolCpu
from linerate.model.measurement.trial import RoundTrip, Stamp
from linerate.model.tester_workers import TesterWorkers

LINE = Load(
    frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=1_000_000, duration_us=5_000_000
)
HALF = LINE.model_copy(update={"scale_ppm": 500_000})
#: One flow of 250.
ONE_FLOW = 1 / 250
#: Trials on each wire, but for the losses.
WIRES: dict[str, dict[str, Any]] = {
    "card": {"load": HALF, "ceiling_pps": 7.8e6},
    "ethdev": {"load": HALF, "ceiling_pps": None},
    "ethdev-at-the-line": {"load": LINE, "ceiling_pps": None},
    "veth": {"load": HALF.model_copy(update={"pushes_back": True}), "ceiling_pps": 7.8e6},
    "memif": {"load": LINE.model_copy(update={"pushes_back": True}), "ceiling_pps": None},
}
NO_LOSS_SAID = ("line", "tester", "none")


def trial(evidence, wire, share, **changes):
    given = WIRES[wire] | changes
    sent = round(given["load"].asked_pps * 5)
    return evidence(foreign=True, unexplained=round(share * sent), **given)


def judged(measured):
    return explain(evidence_of(measured, "U2", "evidence/U2.json"))


def bare(measured):
    """The same trial, of a device that counts nothing."""
    workers = tuple(one for one in measured.time if one.role == "tester")
    return measured.model_copy(update={"time": workers, "time_at_load": workers})


@pytest.mark.parametrize("share", [1.0, 0.5, ONE_FLOW], ids=["all", "half", "one-flow"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("counts", [True, False], ids=["counts", "silent"])
def test_silent_loss_is_unexplained(evidence, wire, share, counts):
    measured = trial(evidence, wire, share)
    found = judged(measured if counts else bare(measured))
    assert found.limit == "unexplained", found.sentence
    assert not set(found.also) & set(NO_LOSS_SAID)
    assert f"{measured.lost:,} of {measured.packets.sent:,} packets" in found.sentence
    assert "between sent by the tester" in found.sentence
    assert len(found.evidence) == 2
    assert any("show errors" in line for line in found.try_)


@pytest.mark.parametrize("wire", WIRES)
def test_noise_is_no_unexplained_loss(evidence, wire):
    assert judged(bare(trial(evidence, wire, 0.0009))).limit != "unexplained"


def test_all_received_is_reported_of_what_was_received(evidence):
    found = judged(trial(evidence, "card", 0.0))
    assert found.limit == "tester"
    assert found.sentence.startswith("all 7.44 Mpps that the tester offered were received; ")
    found = judged(trial(evidence, "card", 0.0005))
    assert found.limit == "tester"
    assert found.sentence.startswith(
        "all 7.44 Mpps that the tester offered were received but 18,601 p"
    )


@pytest.mark.parametrize(("nanoseconds", "far"), [(60.0, False), (380.0, True)])
def test_cpus_that_are_far_from_each_other_are_why_a_tester_does_less(evidence, nanoseconds, far):
    trip = RoundTrip(worker="forwarder-0", min_ns=50.0, median_ns=nanoseconds)
    measured = trial(evidence, "card", 0.0)
    found = judged(measured.model_copy(update={"stamp": Stamp(roundtrips_before=(trip,))}))
    assert found.limit == "tester"
    assert ("far from each other (a cache line takes 380 ns to and fro)" in found.sentence) is far


def test_a_tester_that_fell_short_has_no_other_ceiling_than_that(evidence):
    sent = round(0.9 * 5 * HALF.asked_pps)
    found = judged(evidence(foreign=True, load=HALF, ceiling_pps=9e6, sent=sent))
    assert found.limit == "tester"
    assert (
        "asked for more, it offered 6.70 Mpps beside the device (9.00 Mpps over the bare link)"
        in found.sentence
    )
    (own,) = [one for one in found.ceilings if one.name == "tester"]
    assert own.mpps == pytest.approx(sent / 5e6)


@pytest.mark.parametrize(("workers", "quoted"), [(1, True), (4, False)])
def test_too_few_workers_of_the_tester_are_evidence_of_its_limit(evidence, workers, quoted):
    load = HALF.model_copy(update={"tester_workers": TesterWorkers(workers=workers, needed=4)})
    sent = round(0.9 * 5 * load.asked_pps)
    found = judged(evidence(foreign=True, load=load, ceiling_pps=9e6, sent=sent))
    assert found.limit == "tester"
    texts = [quote.text for quote in found.evidence]
    assert ("too few tester workers: 1 of 4 needed" in texts) is quoted


def test_the_two_counters_between_which_packets_are_missing_are_named(evidence):
    ports = {
        "t0": {"tx_packets": 1000},
        "e0": {"rx_packets": 1000, "tx_packets": 0},
        "e1": {"rx_packets": 0, "tx_packets": 400},
    }
    measured = evidence(load=HALF, sent=1000, unexplained=610, foreign=True, ports=ports)
    found = judged(measured)
    assert found.limit == "unexplained"
    assert (
        "600 between rx packets of the device's ports (1,000) and tx packets of the device's ports "
        "(400)"
    ) in found.sentence


def test_a_busy_load_tool_is_no_reason_for_loss(evidence):
    tool = ToolCpu(name="iperf3", sender_percent=100.0, receiver_percent=40.0)
    assert judged(bare(trial(evidence, "veth", 0.5, tool=tool))).limit == "unexplained"


def test_what_is_lost_at_known_places_is_not_unexplained(evidence):
    lost = {"card0 port 0: card packet rate": 20_000_000}
    assert judged(evidence(losses=lost)).limit == "card-pps"
    # Part of it is unexplained: the limit is kept, and the rest is reported beside it.
    found = judged(evidence(losses=lost, unexplained=5_000_000, foreign=True))
    assert found.limit == "card-pps"
    assert "unexplained" in found.also


def test_a_trial_of_which_nothing_received_fails(evidence, result, run):
    well, empty = result("U1"), result("U2", trial(evidence, "ethdev", 1.0))
    assert exit_code(run(well)) == 0
    assert nothing_came_back(run(well)) == ""
    done = run(well, empty)
    assert exit_code(done) == 1
    assert nothing_came_back(done).startswith(
        "U2: received nothing of 37,202,381 packets sent; 37,202,381 of 37,202,381 packets "
    )
    searched = {
        "loadtest": "U2", "text": "", "frame_bytes": 64, "width": 0.005, "duration_seconds": 1.0,
        "min_pps": 1.0, "max_pps": 2.0, "line_pps": 2.0, "found": True,
    }  # fmt: skip
    assert outcome(run(empty, searches=[searched])) == 1
    assert outcome(run(well, searches=[searched])) == 0
