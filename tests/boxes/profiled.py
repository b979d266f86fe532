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
        total = worker.clocks_per_packet or 0.0
        yield f"{worker.name}: {total:,.0f} cycles/packet in softirq"
        for node in sorted(worker.nodes, key=lambda one: -(one.clocks_per_packet or 0.0)):
            spent = node.clocks_per_packet or 0.0
            share = 100 * spent / (total or 1)
            yield f"  {spent:>10,.0f}  {share:5.1f} %  {node.quote.text}"
    yield from (quote.text for quote in found.doubts)
