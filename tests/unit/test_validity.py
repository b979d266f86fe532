"""Trials without a result, and suspect ones."""

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import caused_by_host, caused_by_tester, doubts, reasons
from linerate.host.machine import CpuSeconds
from linerate.lab.dut._linux import _worker
from linerate.model.ledger import Entry
from linerate.model.measurement import Load, Stamp
from linerate.model.measurement.trial import RoundTrip
from linerate.model.nic_presets import Card

TX_FULL = "port-tx-e1: no free tx slots"

LOAD = Load(frame_bytes=64, directions=2, link_bps=10**10, scale_ppm=500_000, duration_us=1_000_000)


def test_a_foreign_device_that_damages_frames_is_suspect(evidence):
    foreign = evidence().model_copy(update={"foreign": True})
    assert doubts(foreign) == ()
    damaged = Entry(place="tester", kind="corrupted", packets=3)
    entries = (*foreign.packets.entries, damaged)
    packets = foreign.packets.model_copy(update={"entries": entries})
    texts = doubts(foreign.model_copy(update={"packets": packets, "foreign": True}))
    assert "3 packets received damaged" in texts


@pytest.mark.parametrize(("managed", "marked"), [((1e6, 1.04e6), False), ((1e6, 1.06e6), True)])
def test_attempts_that_disagree_by_over_five_per_cent_are_suspect(evidence, managed, marked):
    load = evidence().load.model_copy(update={"fell_short_pps": managed})
    assert bool(doubts(evidence(load=load))) == marked


def test_a_clean_trial_is_valid(evidence):
    assert reasons(evidence()) == ()
    assert doubts(evidence()) == ()


def test_losses_do_not_make_a_trial_invalid(evidence):
    assert reasons(evidence(losses={"card0 port 0: rx missed (ring full)": 10**6})) == ()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"sent": 74_000_000}, "offered below asked: 14.800 Mpps of 14.881 Mpps (99.46 %)"),
        ({"sent": 75_000_000}, "offered above asked: 75,000,000 of 74,404,762 packets"),
        ({"losses": {"tester t0: tx full": 3}}, "tester saturated: it lost 3 packets itself"),
        ({"losses": {"t1: rx missed": 3}}, "tester saturated: it lost 3 packets itself"),
        ({"progress": {"drained": False}}, "counters not drained"),
        ({"progress": {"paused_us": 400_000}}, "duration stretched by 8.0 %"),
        ({"progress": {"end_tsc": 5_500_000_100}}, "duration stretched by 10.0 %"),
        (
            {"progress": {"elapsed_us": 4_000_000, "end_tsc": 4_000_000_100}},
            "cut short: 4.000 of 5.000 s",
        ),
        ({"unexplained": 7}, "packet ledger violated: 7 packets unexplained"),
    ],
)
def test_each_reason_is_named(evidence, given, text):
    (reason,) = reasons(evidence(**given))
    assert reason.startswith(text)


def test_a_trial_that_sent_nothing_has_no_result(evidence, bursts):
    """That is its one reason: no others apply."""
    (reason,) = reasons(evidence(sent=0, progress={"elapsed_us": 0}))
    assert reason.startswith("nothing was sent: look at the profile's rates")
    offered = bursts.traffic.offered.model_copy(update={"connections_per_second": 0.25})
    load = LOAD.model_copy(update={"offered": offered, "scale_ppm": 1_000_000})
    (reason,) = reasons(evidence(sent=0, load=load))
    assert "at 0.25 connections/s none begins within 1 s; give a longer --duration" in reason
    pushes_back = LOAD.model_copy(update={"pushes_back": True})
    (reason,) = reasons(evidence(sent=0, load=pushes_back, progress={"elapsed_us": 0}))
    assert reason.startswith("nothing was sent: the link took no packet")
    # A device that sends by itself is offered nothing, and measured.
    itself = LOAD.model_copy(update={"counted": "other"})
    assert not any("nothing was sent" in one for one in reasons(evidence(sent=0, load=itself)))


def test_a_trial_that_took_too_long_is_none(evidence):
    late = {"elapsed_us": 5_500_000, "end_tsc": 5_500_000_100}
    measurement = evidence(progress=late)
    pushed_back = measurement.load.model_copy(update={"pushes_back": True})
    measurement = measurement.model_copy(update={"load": pushed_back})
    assert "took too long: 5.500 s for 5.000 s" in reasons(measurement)
    assert caused_by_host(measurement)
    # Where it offered less for that, one reason is enough, and it may be the tester's own.
    (only,) = reasons(evidence(progress=late))
    assert only.startswith("offered below asked")
    assert not caused_by_host(evidence(progress=late))


def test_a_tester_that_waited_for_its_cpu_is_no_tester(evidence, ledger_of_worker):
    """On interfaces its own clock goes on while it does not run."""
    ledgers = (ledger_of_worker("tester", 0.1, "tester"), ledger_of_worker())
    calm = Stamp(descheduled_percent={"tester": 4.0, "forwarder-0": 0.0})
    assert reasons(evidence(time=ledgers, stamp=calm)) == ()
    waited = Stamp(descheduled_percent={"tester": 80.0, "forwarder-0": 0.0})
    measurement = evidence(time=ledgers, stamp=waited)
    (reason,) = reasons(measurement)
    assert reason.startswith("tester was runnable and did not run for 80.0 % of the time")
    assert caused_by_host(measurement)


def test_programs_on_the_kernels_cpu_are_not_the_device(evidence, ledger_of_worker):
    """CPU time of threads is not available to a kernel that forwards in softirqs."""
    before = _worker(1, CpuSeconds(100.0, 50.0, 10.0, 1.0, 39.0), 10**9, 0)
    after = _worker(1, CpuSeconds(105.0, 50.0, 12.0, 1.0, 42.0), 10**9, 5_000_000)
    (reason,) = reasons(evidence(time=(after.since(before),)))
    assert reason.startswith("kernel-cpu1 was descheduled for 60.0 % of the trial")


def test_the_tester_that_fetches_late_is_not_the_devices_loss(evidence):
    lost = {"port-tx-e1: no free tx slots": 10**6}
    assert reasons(evidence(losses=lost)) == ()
    late = evidence(losses=lost, ports={"t0": {"link_waits": 0}, "t1": {"link_waits": 900}})
    (reason,) = reasons(late)
    assert reason == "tester saturated: it polled too late 900 times, 1,000,000 packets lost so"


def test_a_hole_in_the_cycles_is_reported(evidence, ledger_of_worker):
    hole = ledger_of_worker().model_copy(update={"elapsed_clocks": 6_000_000_000})
    (reason,) = reasons(evidence(time=(hole,)))
    assert reason == "forwarder-0: 83.33 % of its cycles accounted for"


def test_a_lower_load_helps_only_the_tester(evidence):
    assert caused_by_tester(evidence(sent=70_000_000))
    assert not caused_by_tester(evidence(unexplained=1))


def test_what_the_machine_did_makes_a_trial_suspect(evidence):
    stamp = Stamp(
        roundtrips_before=(RoundTrip(worker="forwarder-0", min_ns=80, median_ns=90),),
        roundtrips_after=(RoundTrip(worker="forwarder-0", min_ns=300, median_ns=385),),
        steal_seconds={"tester": 0.0, "forwarder-0": 0.5},
    )
    suspect = evidence(stamp=stamp, progress={"paused_us": 100_000})
    assert reasons(suspect) == ()
    assert doubts(suspect) == (
        "forwarder-0: core-to-core round trip 90 → 385 ns",
        "forwarder-0: 10.0 % of its CPU stolen by the hypervisor",
        "the tester was descheduled for 2.0 % of the trial",
    )


def descheduled(ledger_of_worker, seconds, idle=0.5):
    ledger = ledger_of_worker(idle=idle)
    clocks = round(seconds * ledger.tsc_hz)
    spent = ledger.overhead_clocks - clocks
    return ledger.model_copy(update={"away_clocks": clocks, "overhead_clocks": spent})


def test_what_an_descheduled_worker_lost_is_the_machines(evidence, ledger_of_worker):
    # 5 ms at 14.88 Mpps are 74,405 packets.
    workers = (descheduled(ledger_of_worker, 0.005),)
    lost = {"card0 port 0: rx missed (ring full)": 70_000, "port-tx-e1: no free tx slots": 5_000}
    disturbed = evidence(losses=lost, time=workers, time_at_load=workers)
    assert doubts(disturbed) == ("forwarder-0: 5.0 ms descheduled, 75,000 packets lost so",)
    assert explain(evidence_of(disturbed, "U2", "x")).limit == "line"


def test_an_descheduled_forwarder_has_no_result(evidence, ledger_of_worker):
    workers = (descheduled(ledger_of_worker, 0.6),)
    (reason,) = reasons(evidence(time=workers, time_at_load=workers))
    assert reason.startswith("forwarder-0 was descheduled for 12.0 % of the trial")
    assert reason.endswith("stop what else runs on this machine")


def test_what_an_descheduled_worker_can_not_have_lost_is_the_devices(evidence, ledger_of_worker):
    lost = {"card0 port 0: rx missed (ring full)": 200_000}
    workers = (descheduled(ledger_of_worker, 0.005),)
    assert doubts(evidence(losses=lost, time=workers, time_at_load=workers)) == ()
    busy = (descheduled(ledger_of_worker, 0.05, idle=0.01),)
    overloaded = evidence(
        losses={place: 10 * packets for place, packets in lost.items()},
        time=busy,
        time_at_load=busy,
    )
    assert doubts(overloaded) == ()
    assert explain(evidence_of(overloaded, "U2", "x")).limit == "worker-cpu"


def test_a_slow_cards_link_idles_without_the_tester(evidence):
    late = {"losses": {TX_FULL: 20_000_000}, "ports": {"e1": {"link_waits": 1000}}}
    assert any("polled too late" in reason for reason in reasons(evidence(**late)))
    slow = Card(pps_ceiling=500_000)
    assert not any("polled too late" in reason for reason in reasons(evidence(**late, card=slow)))


def test_that_a_wire_pushes_back_is_no_disturbance(evidence, result):
    load = evidence().load.model_copy(update={"pushes_back": True})
    pushed = result("U2", evidence(load=load, sent=10_000_000))
    assert pushed.suspect
    assert not pushed.disturbed
    stolen = Stamp(steal_seconds={"forwarder-0": 1.0})
    assert result("U2", evidence(load=load, sent=10_000_000, stamp=stolen)).disturbed
