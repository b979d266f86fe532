"""Reports for programs: the JSON that `--json` prints."""

from pathlib import Path
from typing import Any

from linerate.analysis.explain import Verdict
from linerate.base.line_rate import FrameRate, PcieLink
from linerate.model.ledger import PacketLedger, TimeLedger
from linerate.report import flow_table, offered, repeats
from linerate.report.marks import marks
from linerate.results.store import Result, Run


def bench(run: Run, folder: Path) -> dict[str, Any]:
    """Say what a run measured: one trial for each test, the last attempt."""
    return {
        "run": str(folder),
        "status": run.status,
        "problem": run.problem,
        "absent": [one.model_dump(include={"configuration", "reason"}) for one in run.absent],
        "trials": [trial(result) | offered.document(result, folder) for result in run.reported()],
        **repeats.document(run),
        **_flow_table(run.reported()),
    }


def _flow_table(results: list[Result]) -> dict[str, Any]:
    """The flow table's figures by traffic, where the device has one; valid ones alone."""
    if all(result.flow_table is None for result in results):
        return {}
    return {"flow_table": list(flow_table.documents(results))}


def trial(result: Result) -> dict[str, Any]:
    """Sum up one trial; an invalid one has no figures that could pass for a result."""
    figures = {
        "offered_pps": result.offered_pps,
        "received_pps": result.received_pps,
        "percent_of_line": result.percent_of_line,
        "loss_percent": result.loss_percent,
        "l1_bps": result.l1_bps,
        "l2_bps": result.l2_bps,
        "l2_bps_no_fcs": result.l2_bps_no_fcs,
        "left_out": result.left_out,
    }
    return {
        "test": result.test,
        "valid": result.valid,
        **(figures if result.valid else dict.fromkeys(figures)),
        "limit": result.verdict.limit,
        "verdict": verdict(result.verdict),
        "invalid": list(result.invalid),
        "suspect": list(result.suspect),
        "provisional": result.provisional,
        "marks": marks(result),
        "attempt": result.attempt,
        **_latency(result),
        "ledger": packets(result.packets),
        "workers": [worker(ledger) for ledger in result.time],
    }


def _latency(result: Result) -> dict[str, Any]:
    """Timed streams, if any; of an invalid trial too, as evidence."""
    if not result.latency:
        return {}
    given = {"latency": [one.model_dump() for one in result.latency]}
    if result.own_latency:
        given["own_latency"] = [one.model_dump() for one in result.own_latency]
    return given


def verdict(found: Verdict) -> dict[str, Any]:
    """Spell out a verdict."""
    return {
        "limit": found.limit,
        "also": list(found.also),
        "confidence": found.confidence,
        "sentence": found.sentence,
        "evidence": [quote.model_dump() for quote in found.evidence],
        "ceilings": [one.model_dump() for one in found.ceilings],
        "try": list(found.try_),
        "reference": found.reference,
        "configured": found.configured,
    }


def packets(ledger: PacketLedger) -> dict[str, Any]:
    """Sum up a packet ledger: sent + originated + added = all that follows."""
    return {
        "sent": ledger.sent,
        "originated": ledger.originated,
        "added": ledger.added,
        "received": ledger.received,
        "duplicated": ledger.duplicated,
        "corrupted": ledger.corrupted,
        "other": ledger.other,
        "consumed": ledger.consumed,
        "held": ledger.held,
        "losses": ledger.losses,
        "unexplained": ledger.unexplained,
    }


def worker(ledger: TimeLedger) -> dict[str, Any]:
    """Sum up a worker's time ledger."""
    return {
        "name": ledger.worker,
        "role": ledger.role,
        "cycles_closed_percent": ledger.closed_percent,
        "idle_percent": ledger.idle_percent,
        "overhead_percent": ledger.percent(ledger.overhead_clocks),
        "away_percent": ledger.percent(ledger.away_clocks),
        "sleep_percent": ledger.percent(ledger.sleep_clocks),
        "nodes": {
            name: {
                "calls": node.calls,
                "vectors": node.vectors,
                "clocks_per_packet": node.clocks_per_packet,
                "idle_calls": node.idle_calls,
            }
            for name, node in ledger.nodes.items()
        },
    }


def ledgers(result: Result) -> dict[str, Any]:
    """Spell out both ledgers of a trial."""
    return {
        "test": result.test,
        "valid": result.valid,
        "packets": {
            "entries": [entry.model_dump() for entry in result.packets.entries],
            **packets(result.packets),
        },
        "workers": [
            worker(ledger) | {"clocks": ledger.model_dump(exclude={"worker", "role"})}
            for ledger in result.time
        ],
    }


def line(rate: FrameRate, link_bps: float, slots: dict[str, PcieLink]) -> dict[str, Any]:
    """Spell out line-rate arithmetic."""
    return {
        "link_bps": link_bps,
        "frame_bytes": rate.frame_bytes,
        "pps": rate.packets_per_second,
        "l1_bps": rate.l1_bps,
        "l2_bps": rate.l2_bps,
        "l2_bps_no_fcs": rate.l2_bps_no_fcs,
        "percent_of_line": rate.percent_of(link_bps),
        "ns_per_packet": 1e9 / rate.packets_per_second,
        "pcie": {
            name: {
                "data_bps": slot.data_bps,
                "pps": slot.usable(rate.frame_bytes).packets_per_second,
                "l1_bps": slot.usable(rate.frame_bytes).l1_bps,
            }
            for name, slot in slots.items()
        },
    }
