"""Verdicts on trials that were measured: over wires that push back, and of devices that send."""

from pathlib import Path

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.model.measurement import Measurement

TRIALS = Path(__file__).parents[1] / "data" / "trials"


def measured(name):
    return Measurement.model_validate_json((TRIALS / f"{name}.json").read_text())


def judged(measurement):
    return explain(evidence_of(measurement, "x", "evidence/x.json"))


@pytest.mark.parametrize(
    ("name", "limit", "text"),
    [
        # The sender pays for the whole hop, and the device waits for frames.
        ("veth-af_packet", "tester", "forwarder-0 keeps up"),
        ("veth-rx-only", "tester", "6,966 cycles a packet (5,286 over the bare link)"),
        ("memif-macswap", "tester", "23 % of its time to spare"),
        # Frames are lost at a socket, or wait in it, before a worker that never rests.
        ("veth-socket-single", "syscall", "73,538 packets lost before it"),
        ("veth-waiting", "syscall", "it takes 96 % of what is sent"),
        # The kernel sends to an interface whose backlog its own CPU has no time for.
        ("veth-bridge", "worker-cpu", "kernel-cpu1 is saturated"),
        ("veth-tx-only", "syscall", "0.02 system calls a packet"),
        ("card-tx-only", "line", "98.1 % of the line"),
        ("veth-iperf3", "tester", "its CPU was busy for 100 %"),
    ],
)
def test_what_limits_is_reported_with_its_figures(name, limit, text):
    found = judged(measured(name))
    assert found.limit == limit, found.sentence
    assert text in found.sentence
    assert found.evidence


def test_a_cpu_that_programs_had_is_not_saturated_by_the_kernel():
    """Its softirqs fill half of it: they could do twice as much."""

    def half(ledger):
        softirq = ledger.nodes.get("softirq")
        if softirq is None:
            return ledger
        fewer = softirq.model_copy(update={"clocks": softirq.clocks // 2})
        taken = softirq.clocks - fewer.clocks
        update = {"nodes": {"softirq": fewer}, "away_clocks": ledger.away_clocks + taken}
        return ledger.model_copy(update=update)

    assert judged(with_ledgers(measured("veth-bridge"), half)).limit != "worker-cpu"


def with_ledgers(measurement, change):
    """The same trial, each worker's ledger at load changed."""
    ledgers = tuple(change(ledger) for ledger in measurement.time_at_load)
    return measurement.model_copy(update={"time_at_load": ledgers})


def rested(ledger):
    """A worker that had nothing to do for half of its time more."""
    return ledger.model_copy(
        update={
            "elapsed_clocks": 2 * ledger.elapsed_clocks,
            "sleep_clocks": ledger.sleep_clocks + ledger.elapsed_clocks,
        }
    )


def test_a_tester_with_time_to_spare_is_not_the_limit():
    idle = with_ledgers(
        measured("veth-af_packet"),
        lambda ledger: rested(ledger) if ledger.role == "tester" else ledger,
    )
    found = judged(idle)
    assert found.limit != "tester"
    still = with_ledgers(measured("veth-af_packet"), rested)
    found = judged(still)
    assert found.limit == "unknown"
    assert "tester had 50 % of its time to spare" in found.sentence


def test_a_device_that_sends_by_itself_and_rests_is_not_the_limit():
    assert judged(with_ledgers(measured("veth-tx-only"), rested)).limit == "unknown"


def test_a_kernel_with_time_to_spare_lost_frames_for_want_of_slots():
    found = judged(with_ledgers(measured("veth-bridge"), rested))
    assert found.limit == "tx-ring"


def test_a_load_tool_with_time_to_spare_is_not_the_limit():
    trial = measured("veth-iperf3")
    tool = trial.tool.model_copy(update={"sender_percent": 20.0, "receiver_percent": 30.0})
    assert judged(trial.model_copy(update={"tool": tool})).limit == "unknown"
