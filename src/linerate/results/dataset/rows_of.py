"""Trials of one run as rows of the dataset, whatever kind of run it is."""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from linerate.base import histogram
from linerate.base.line_rate import format_pps, line_rate
from linerate.model.ledger import cycles_by_node
from linerate.model.measurement.latency import LatencyFigures, LatencyLoads
from linerate.model.testbed import Dut
from linerate.results.dataset.row import TrialKeys, TrialRow
from linerate.results.goals import goal_name
from linerate.results.index.row import card_name
from linerate.results.store import Result, Run

#: Ends of tests' names that are no part of a loadtest's: size, number and purpose of a trial.
_ENDS = re.compile(r"(@\d+)?(\.(\d+|latency|loss-[\d.]+|burst-[\d.]+))?$|-at-[\d.]+$")
#: RFC 2544's trial for latency, at the throughput that was found.
_AT_THROUGHPUT = re.compile(r"\.latency$")
NS_PER_US = 1000.0
#: Loads above this share of the line are the line: clocks of two hosts differ.
LINE_SHARE = 0.9999
#: Digits that distinguish machines.
DIGITS = 10
#: Columns of which a machine's digest is made: another value is another machine.
MACHINE = ("cpu", "kernel", "microcode", "bios", "nic", "nic_firmware")
NOTHING = TrialKeys()


def rows_of(run: Run, folder: Path, keys: TrialKeys = NOTHING) -> list[TrialRow]:
    """Every attempt of every trial. What `keys` leave empty is taken of the run."""
    about = _of_run(run, folder, keys)
    loads = _named_loads(run)
    return [
        TrialRow(
            **about | _of_result(result, keys, run.labels.get("setting", "")),
            load=_load(run, result, keys, loads),
        )
        for result in run.results
    ]


def unit_key_of(run: Run, folder: Path) -> str:
    """Key of a run that comes of no campaign: the same however often it is added."""
    known = (folder.resolve().name, run.started.isoformat(), run.environment.hostname, *run.command)
    return "run-" + hashlib.sha256("\n".join(known).encode()).hexdigest()[:24]


def _of_run(run: Run, folder: Path, keys: TrialKeys) -> dict[str, Any]:
    """Columns that all its trials have in common."""
    labels, dut, use = run.labels, run.testbed.dut, run.scenario
    version, commit = _version(run, dut)
    machine = _machine(run)
    return {
        "unit_key": unit_key_of(run, folder),
        "run": folder.resolve().name,
        "started": run.started,
        "command": _command(run),
        "campaign": keys.campaign or labels.get("campaign", ""),
        "device": keys.device or (use.box if use else dut.name),
        "version": keys.version or labels.get("version", version),
        "commit": keys.commit or labels.get("commit", commit),
        "scenario": keys.scenario or (use.name if use else run.suite),
        "scenario_digest": keys.scenario_digest or (use.digest if use else ""),
        "values": keys.values or (use.values if use else {}),
        "workers": dut.workers,
        "testbed": keys.testbed or run.testbed.name,
        "machine": _digest(machine),
        "host": run.environment.hostname,
        **machine,
        "labels": labels,
    }


def _version(run: Run, dut: Dut) -> tuple[str, str]:
    """Version and commit of devices that come with what measured, or with its host."""
    about = run.environment
    known = {
        "engine": (about.linerate, about.commit),
        "kernel": (about.kernel, ""),
        "testpmd": (about.dpdk, ""),
    }
    return ("", "") if dut.is_box else known.get(dut.kind, ("", ""))


def _machine(run: Run) -> dict[str, str]:
    about, testbed = run.environment, run.testbed
    card = f"virtual card, {card_name(testbed.card)}" if testbed.wire == "card" else testbed.wire
    return {
        "cpu": about.cpu_model,
        "kernel": about.kernel,
        "microcode": about.microcode,
        "bios": about.bios,
        "nic": about.nic or card,
        "nic_firmware": about.nic_firmware,
    }


def _digest(machine: dict[str, str]) -> str:
    text = json.dumps([machine[name] for name in MACHINE])
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _command(run: Run) -> str:
    """The command, by what the run has: its words are a program's own where Python measured."""
    kinds = {
        "rfc2544": run.rfc2544,
        "latency": run.latencies,
        "search": run.searches,
        "soak": run.soak,
        "sweep": run.sweep,
    }
    named = run.command[1] if len(run.command) > 1 else ""
    found = next((kind for kind, there in kinds.items() if there), "bench")
    return "matrix" if found == "sweep" and named == "matrix" else found


def _of_result(result: Result, keys: TrialKeys, setting: str) -> dict[str, Any]:
    """Figures of one trial."""
    cycles = cycles_by_node(result.time_at_load)
    return {
        "trial": result.trial,
        "setting": keys.setting or setting or result.configuration,
        "loadtest": "" if result.configuration else _ENDS.sub("", result.test, count=1),
        "frame_bytes": result.frame_bytes,
        "repeat": result.repeat if keys.repeat is None else keys.repeat,
        "attempt": result.attempt,
        "valid": result.valid,
        "invalid": "; ".join(result.invalid),
        "suspect": "; ".join(result.suspect),
        "duration_s": result.duration_seconds,
        "offered_pps": result.offered_pps,
        "received_pps": result.received_pps,
        "line_percent": result.line_percent,
        "loss_percent": result.loss_percent,
        "losses": _losses(result),
        "limit": result.verdict.limit,
        "cycles_per_packet": sum(cycles.values()) or None,
        "nodes": cycles,
        **_latency(result.latency),
        "watts": result.power.watts.value if result.power and result.power.watts else None,
    }


def _losses(result: Result) -> dict[str, int]:
    unexplained = result.packets.unexplained
    return result.packets.losses | ({"unexplained": unexplained} if unexplained else {})


def _latency(streams: Iterable[LatencyFigures]) -> dict[str, float | None]:
    """Percentiles of all streams together; None where there are too few frames."""
    timed = [one for one in streams if one.count and one.histogram]
    slowest = max((one.max_us for one in timed if one.max_us is not None), default=None)
    if slowest is None:
        return {}
    found = histogram.percentiles(histogram.merged(one.histogram for one in timed))
    named = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9}
    return {
        # A bucket's upper end may be above all that is in it.
        **{f"latency_{name}_us": _us(found[which], slowest) for name, which in named.items()},
        "latency_max_us": slowest,
    }


def _us(ns: int | None, slowest_us: float) -> float | None:
    return None if ns is None else min(ns / NS_PER_US, slowest_us)


def _load(run: Run, result: Result, keys: TrialKeys, named: dict[str, str]) -> str:
    """Offered load in words that are the same from run to run."""
    if keys.load or result.trial in named:
        return keys.load or named[result.trial]
    if _AT_THROUGHPUT.search(result.test):
        return "throughput (latency)"
    # The tester's own limit may have lowered it: asked for was this.
    if not (run.searches or run.rfc2544 or run.soak):
        return "line" if result.profile is None else result.profile.rate
    line_pps = _line_pps(run, result)
    if not line_pps:
        return format_pps(result.asked_pps, ".4g")
    share = result.asked_pps / line_pps
    return "line" if share >= LINE_SHARE else f"{100 * share:.4g} %"


def _line_pps(run: Run, result: Result) -> float:
    """Rate that is all of the load: the line's, or a profile's at full scale."""
    if result.profile is not None:
        return result.profile.full_pps
    rate = line_rate(run.testbed.line_bps, result.frame_bytes)
    return rate.packets_per_second * result.directions


def _named_loads(run: Run) -> dict[str, str]:
    """By trial: the goals that a search found, the shares at which latency was measured."""
    found: dict[str, str] = {}
    for search in run.searches:
        # The stricter of two goals at one trial.
        for goal in sorted(search.goals, key=lambda goal: goal.loss_ratio):
            if search.found and goal.lower_trial:
                found.setdefault(goal.lower_trial, goal_name(goal.loss_ratio))
    for size in run.rfc2544:
        if size.throughput_trial:
            found[size.throughput_trial] = "throughput"
    for about in run.latencies:
        found |= {point.trial: _share(about, point.percent) for point in about.points}
    return found


def _share(about: LatencyLoads, percent: float) -> str:
    share_of = {"line": "", "NDR": " of NDR", "given": f" of {format_pps(about.top_pps, '.4g')}"}
    return f"{percent:g} %{share_of[about.top]}"
