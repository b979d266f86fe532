"""Cycles of a box's kernel by part, sampled by its `perf` within a load that it forwards with ease."""

from collections.abc import Iterator
from pathlib import Path

from tests.boxes.matrix import Box
from tests.boxes.runner import load_of

from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import reasons
from linerate.lab.rig import Rig
from linerate.lab.trial import run_trial
from linerate.model.evidence import Evidence
from linerate.model.suites import Loadtest, Traffic


def profiled(box: Box, folder: Path, seconds: float) -> str:
    """One trial with `dut.profile`, at the load of the box's first place."""
    dut = box.testbed.dut.model_copy(update={"profile": True})
    testbed = box.testbed.model_copy(update={"dut": dut})
    loadtest = Loadtest("U2", Traffic(64, "many"), 1)
    load = load_of(testbed, loadtest, box.places[0].load, seconds)
    rig = Rig(testbed, lambda name: folder / name)
    with rig.with_box(), rig.under_test(loadtest, "profiled") as ready:
        measured = run_trial(ready.tester, load, lambda _progress: None)
    found = evidence_of(measured, "U2", "measured")
    sent, received = measured.packets.sent, measured.packets.received
    head = f"{box.kind}: {sent:,} packets sent, {received:,} received"
    return "\n".join((head, *reasons(measured), *_rows(found)))


def _rows(found: Evidence) -> Iterator[str]:
    for worker in found.workers:
        if worker.role != "worker":
            continue
        clocks = {node.name: node.clocks_per_packet or 0.0 for node in worker.nodes}
        total = sum(clocks.values())
        yield f"{worker.name}: {total:,.0f} cycles/packet in softirq"
        for name, spent in sorted(clocks.items(), key=lambda one: -one[1]):
            yield f"  {name:<20} {spent:>10,.0f}  {100 * spent / (total or 1):5.1f} %"
    yield from (quote.text for quote in found.doubts)
