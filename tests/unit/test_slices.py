"""Slices of a trial: rate, loss and validity are those of the clean ones."""

from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import LIMIT_WITHIN, caused_by_host, doubts, reasons
from linerate.experiments.asked_load import OF_LOOK, AskedLoad
from linerate.model.measurement import Stamp
from linerate.model.measurement.slices import PlaceLoss, Slice, Slices
from linerate.model.measurement.trial import RoundTrip
from linerate.results.store import Judged, Which, result_of

MISSED = "card0 port 0: rx missed (ring full)"
#: 10 Gb/s, frames of 64 bytes, 10 ms.
LINE = 148_809


def one(number, **changes):
    fields = {
        "end_us": 10_000 * number,
        "took_us": 10_000,
        "sent": LINE,
        "received": LINE,
        "lost": 0,
    }
    return Slice(**fields | changes)


def five_seconds(disturbed=(), **changes):
    """500 of them; those of these numbers disturbed, and changed."""
    return tuple(
        one(number, disturbed=True, **changes) if number in disturbed else one(number)
        for number in range(1, 501)
    )


def disturbed(evidence, lost=4_000, lost_clean=0, numbers=(3, 4, 5), **changes):
    """A trial in which the forwarder was away for 30 ms, and a ring overflowed."""
    away = {"away_us": 9_000, "worker": "forwarder-0", "lost": (lost - lost_clean) // len(numbers)}
    slices = Slices(
        slices=five_seconds(numbers, **away),
        places=(PlaceLoss(place=MISSED, lost=lost, lost_disturbed=lost - lost_clean),),
    )
    return evidence(losses={MISSED: lost}, **changes).model_copy(update={"slices": slices})


def test_what_was_lost_in_disturbed_slices_is_left_out(evidence):
    measurement = disturbed(evidence)
    assert reasons(measurement) == ()
    assert measurement.lost == measurement.left_out == 4_000
    assert measurement.judged_lost == 0
    assert measurement.loss_percent == 0
    assert measurement.received.packets_per_second == pytest.approx(100 * LINE)
    verdict = explain(evidence_of(measurement, "U2", "x.json", ()))
    assert verdict.limit == "line"
    result = result_of(Which(test="U2", text=""), measurement, Judged(verdict=verdict))
    assert result.left_out == 4_000
    assert result.clean_seconds == pytest.approx(4.97)
    assert result.received_pps_interval is not None
    low, high = result.received_pps_interval
    assert low <= result.received_pps <= high


def test_what_was_lost_in_clean_ones_is_the_devices(evidence):
    measurement = disturbed(evidence, lost=900_000, lost_clean=840_000)
    assert measurement.left_out == 60_000
    assert measurement.loss_percent == pytest.approx(100 * 840_000 / (497 * LINE))
    found = evidence_of(measurement, "U2", "x.json", ())
    assert [loss.packets for loss in found.losses] == [840_000]
    assert found.conditions is not None
    assert found.conditions.sent_packets - found.conditions.received_packets == 840_000


def test_a_loss_that_no_slice_counted_is_reported_by_what_is_missing(evidence):
    """For a foreign device: sent in a disturbed slice and not received in it."""
    numbers = (3, 4, 5)
    rows = five_seconds(numbers, received=LINE - 1_000)
    measurement = evidence(losses={}, unexplained=10_000).model_copy(
        update={"slices": Slices(slices=rows), "foreign": True}
    )
    after = measurement.packets.sent - sum(row.sent for row in rows)
    assert measurement.left_out == 3_000 + after
    assert measurement.judged_lost == 7_000 - after


def test_what_a_late_tester_sent_after_its_last_slice_is_left_out(evidence):
    """Half of all is lost: in clean slices too, and no more than half there."""
    halved = tuple(
        row.model_copy(update={"received": row.sent // 2}) for row in five_seconds((3, 4, 5))
    )
    measurement = evidence(losses={}, unexplained=250 * LINE).model_copy(
        update={"slices": Slices(slices=halved[:250]), "foreign": True}
    )
    assert measurement.packets.sent == pytest.approx(500 * LINE, rel=1e-5)
    assert measurement.loss_percent == pytest.approx(50, abs=0.1)


@pytest.mark.parametrize("progress", [{"paused_us": 400_000}, {"end_tsc": 6_000_000_100}])
def test_a_trial_that_was_disturbed_for_a_while_is_valid(evidence, progress):
    assert reasons(evidence(progress=progress))
    assert reasons(disturbed(evidence, progress=progress)) == ()
    assert doubts(disturbed(evidence, progress=progress)) == ()


def test_too_little_undisturbed_time_makes_it_invalid(evidence):
    measurement = disturbed(evidence, numbers=tuple(range(51, 501)))
    (reason,) = reasons(measurement)
    assert reason.startswith(
        "undisturbed for 0.50 s of 5.00 s, 1.00 s are needed: forwarder-0 was "
    )
    assert caused_by_host(measurement)


def test_no_rate_is_above_what_was_offered(evidence):
    """Frames that waited in a ring while a worker was descheduled are received in a clean slice."""
    rows = tuple(one(n, received=LINE + 1_024) for n in range(1, 501))
    measurement = evidence().model_copy(update={"slices": Slices(slices=rows)})
    assert measurement.received.packets_per_second <= measurement.offered.packets_per_second
    assert measurement.line_percent <= 100


def test_a_short_trial_needs_its_own_time(evidence):
    load = evidence().load
    assert load.clean_us == 1_000_000
    assert load.model_copy(update={"duration_us": 300_000}).clean_us == 300_000
    for fields in ({"burst": True}, {"pushes_back": True}, {"takes_turns": True}):
        assert load.model_copy(update=fields).clean_us == 0


def test_looks_lower_the_first_load(evidence):
    asked, whole = AskedLoad(1_000_000, 40e6), 74_404_762
    short = [evidence(sent=round(whole * share)) for share in (0.7, 0.8)]
    lower = asked.after_look(short)
    assert lower.scale_ppm == pytest.approx(OF_LOOK * 800_000, rel=1e-4)
    # They disagree, which the result shows.
    assert lower.fell_short_pps == pytest.approx((0.7 * 14.88e6, 0.8 * 14.88e6), rel=1e-3)
    assert lower.ceiling_pps == pytest.approx(0.8 * 14.88e6, rel=1e-3)
    once = asked.after_look([*short, evidence()])
    assert (once.scale_ppm, once.of_tester) == (1_000_000, True)
    assert asked.after_look([evidence(), evidence()]) == asked
    host = evidence(sent=whole // 2, progress={"paused_us": 1_000_000})
    assert asked.after_look([host]) == asked


def test_a_load_that_is_the_testers_own_limit_is_valid_if_it_offers_less(evidence):
    """That it could more a moment before is marked, where it is much."""
    whole = evidence().packets.sent
    for share, marked in ((0.97, False), (0.7, True)):
        short = evidence(sent=round(share * whole))
        assert len(reasons(short)) == 1
        load = short.load.model_copy(update={"offered_within": 1.0})
        short = short.model_copy(update={"load": load})
        assert reasons(short) == ()
        assert bool(doubts(short)) == marked
        verdict = explain(evidence_of(short, "U2", "x.json", ()))
        assert verdict.limit != "line"


def test_cpus_moved_from_each_other_are_a_state_with_a_result_of_its_own(evidence):
    """It could the whole line when it was looked at."""
    load = evidence().load.model_copy(update={"offered_within": LIMIT_WITHIN})
    near, far = (
        Stamp(roundtrips_after=(RoundTrip(worker="forwarder-0", min_ns=40, median_ns=ns),))
        for ns in (90, 380)
    )
    half = {"sent": evidence().packets.sent // 2, "load": load}
    assert len(reasons(evidence(stamp=near, **half))) == 1
    assert len(reasons(evidence(stamp=far, losses={MISSED: 10**6}, **half))) == 1
    there = evidence(stamp=far, **half)
    assert reasons(there) == ()
    assert "a moment before it could 14.881 Mpps" in doubts(there)[0]
    found = explain(evidence_of(there, "U2", "x.json", ()))
    assert found.limit == "tester"
    assert "a cache line takes 380 ns" in found.sentence


def test_a_tester_far_behind_its_load_may_have_lost_packets_by_its_bursts(evidence):
    missed = {MISSED: 10**6}
    for share, valid in ((0.97, True), (0.7, False)):
        sent = round(share * evidence().packets.sent)
        load = evidence().load.model_copy(update={"offered_within": 1.0})
        assert (reasons(evidence(sent=sent, losses=missed, load=load)) == ()) == valid


def test_what_is_late_in_clean_slices_and_sent_in_others_is_offered(evidence):
    rows = five_seconds((3, 4, 5), sent=LINE * 2)
    late = tuple(
        row if row.disturbed else row.model_copy(update={"sent": LINE - 900}) for row in rows
    )
    measurement = evidence().model_copy(update={"slices": Slices(slices=late)})
    assert measurement.offered.packets_per_second < 0.995 * measurement.asked_pps
    assert reasons(measurement) == ()


def test_a_trial_with_little_clean_time_shows_what_the_tester_manages(evidence):
    """Some clean time is no result, but the load need not be tried again for that."""
    asked = AskedLoad(1_000_000, 40e6)
    numbers = tuple(range(51, 501))
    rows = tuple(
        row if row.disturbed else row.model_copy(update={"sent": LINE // 2})
        for row in five_seconds(numbers, worker="tester", away_us=9_000)
    )
    half = evidence(sent=evidence().packets.sent // 2)
    half = half.model_copy(update={"slices": Slices(slices=rows)})
    assert caused_by_host(half)
    lower = asked.after(half).after(half)
    assert lower.scale_ppm == pytest.approx(475_000, rel=1e-3)
    assert asked.after_look([half]).scale_ppm == pytest.approx(490_000, rel=1e-3)


def test_the_interval_weighs_slices_by_their_length():
    """A slice cut into ten equal ones changes no mean."""
    pieces = [one(1, end_us=1_000 * n, sent=100, received=100) for n in range(1, 11)]
    found = Slices(slices=(*pieces, one(2, received=3_000)))
    assert found.received_pps_interval is not None
    low, high = found.received_pps_interval
    assert (low + high) / 2 == pytest.approx(4_000 / 0.02)
    assert Slices(slices=pieces).received_pps_interval == pytest.approx((100_000, 100_000))


def test_the_interval_of_equal_slices_is_that_of_their_mean():
    received = (100, 130, 90, 120)
    found = Slices(slices=tuple(one(n, received=r) for n, r in enumerate(received, 1)))
    assert found.received_pps_interval is not None
    low, high = found.received_pps_interval
    half = 1.959964 * stdev(received) / 2 * 100
    assert (low, high) == pytest.approx((11_000 - half, 11_000 + half), rel=1e-6)


counts = st.integers(0, 10**6)
slices = st.builds(
    lambda rows: tuple(one(n, **row) for n, row in enumerate(rows, 1)),
    st.lists(
        st.fixed_dictionaries(
            {"sent": counts, "received": counts, "lost": counts, "disturbed": st.booleans()}
        ),
        max_size=40,
    ),
)


@given(slices, counts, counts, counts)
def test_no_more_is_left_out_than_was_lost(rows, lost, at_place, inside):
    place = PlaceLoss(place=MISSED, lost=at_place, lost_disturbed=min(at_place, inside))
    found = Slices(slices=rows, places=(place,))
    assert 0 <= found.left_out(lost) <= lost
    assert found.clean_us == 10_000 * sum(not row.disturbed for row in rows)
    if not any(row.disturbed for row in rows):
        assert found.left_out(lost) == min(lost, place.lost_disturbed)
