"""One run as a row: what a list of runs shows of it."""

import contextlib
import json
import re
import time
from pathlib import Path
from typing import Any

from linerate.base.frozen_model import FrozenModel
from linerate.base.line_rate import format_bps
from linerate.base.open_beneath import open_beneath, status_beneath
from linerate.base.published import published
from linerate.model.nic_presets import PRESETS, Card
from linerate.results.journal import FILE as LIVE_FILE
from linerate.results.store import Result, Run

#: Loadtests that a list names one by one.
NAMED_MAX = 4
#: The number with which names of a search's trials end.
_TRIAL = re.compile(r"\.\d+$")
#: The time with which names of run folders begin.
_TIME = re.compile(r"^\d{8}-\d{6}-")
#: The first line of a live.jsonl is far shorter.
FIRST_LINE_BYTES = 65_536
#: Time by which a new run has recorded its process.
NAMELESS_SECONDS = 60.0


class RunRow(FrozenModel):
    """One run of a list; those without a result have no figures."""

    name: str
    started: str | None
    command: str
    suite: str
    #: As KEY=VALUE, with commas between them.
    labels: str
    dut: str
    wire: str
    card: str
    workers: int
    loadtests: str
    trials: int
    #: Best valid result, of `best_test`.
    received_pps: float | None
    best_test: str
    line_percent: float | None
    #: The highest load without loss that a search found.
    ndr_pps: float | None
    verdict: str
    status: str
    problem: str
    cpu: str
    #: Machine and source tree that measured; unknown of older runs.
    host: str
    commit: str


published("runs", "JSON of `linerate runs --json`")(list[RunRow])


def row_of(name: str, run: Run) -> dict[str, Any]:
    """Sum up a run. None where there is no valid result."""
    results = run.reported()
    valid = [result for result in results if result.valid]
    testbed = run.testbed
    best = max(valid, key=lambda result: result.received_pps, default=None)
    return {
        "name": name,
        "started": run.started.isoformat(),
        "command": _command(run),
        "suite": run.suite,
        "labels": ",".join(f"{key}={value}" for key, value in run.labels.items()),
        "dut": testbed.dut.name,
        "wire": testbed.wire,
        "card": card_name(testbed.card) if testbed.wire == "card" else "",
        "workers": testbed.dut.workers,
        "loadtests": ",".join(run.tests),
        "trials": len(run.results),
        "received_pps": best.received_pps if best else None,
        "best_test": best.test if best else "",
        "line_percent": best.line_percent if best else None,
        "ndr_pps": _ndr_pps(run),
        "verdict": _verdict(results),
        "status": run.status,
        "problem": run.problem,
        "cpu": run.environment.cpu_model,
        "host": run.environment.hostname,
        "commit": run.environment.commit,
    }


def broken_row(name: str, problem: str) -> dict[str, Any]:
    """A folder that is no run that this version reads, and why."""
    words = ("command", "suite", "labels", "dut", "wire", "card", "loadtests", "best_test",
             "verdict", "cpu", "host", "commit")  # fmt: skip
    figures = ("received_pps", "line_percent", "ndr_pps", "started")
    return {
        **dict.fromkeys(words, ""),
        **dict.fromkeys(figures),
        "name": name,
        "workers": 0,
        "trials": 0,
        "status": "broken",
        "problem": problem,
    }


def short_name(name: str) -> str:
    """`router` of `20261125-182912-router`; what a user named is whole."""
    return _TIME.sub("", name) or name


def loadtests_text(loadtests: str) -> str:
    """A run's loadtests in a few words; trials of a search are those of its loadtest."""
    names = list(dict.fromkeys(_TRIAL.sub("", name) for name in loadtests.split(",") if name))
    if len(names) > NAMED_MAX:
        return f"{names[0]} … {names[-1]} ({len(names)})"
    return ", ".join(names)


def _command(run: Run) -> str:
    """The command and its words: the first is the program's path."""
    return " ".join(("linerate", *run.command[1:]))


def card_name(card: Card) -> str:
    """Name a virtual card: a preset, or what it links at."""
    known = [name for name, preset in PRESETS.items() if preset == card]
    return known[0] if known else format_bps(card.link_bps)


def _ndr_pps(run: Run) -> float | None:
    """The highest load without loss that a search found, of all its loadtests."""
    found = [
        goal.lower_pps
        for search in run.searches
        for goal in search.goals
        if goal.loss_ratio == 0 and goal.lower_pps is not None
    ]
    return max(found) if found else None


def _verdict(results: list[Result]) -> str:
    """Limits: each once, those of most tests first; `invalid` among them."""
    limits: list[str] = [one.verdict.limit if one.valid else "invalid" for one in results]
    return ", ".join(sorted(dict.fromkeys(limits), key=lambda limit: -limits.count(limit)))


def alive(folder: Path) -> bool:
    """Whether the process that measures a run still does."""
    pid = process_of(folder)
    if pid is None:
        return _young(folder)
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"linerate" in words


def _young(folder: Path) -> bool:
    """Whether its run.json has just been written; one that is not there has not."""
    status = status_beneath(folder.parent, f"{folder.name}/run.json")
    return status is not None and abs(time.time() - status.st_mtime) < NAMELESS_SECONDS


def process_of(folder: Path) -> int | None:
    """The process that measures, or measured, a run; None where that is not known."""
    with (
        contextlib.suppress(OSError, ValueError, KeyError, TypeError),
        open_beneath(folder.parent, f"{folder.name}/{LIVE_FILE}") as file,
    ):
        return int(json.loads(file.readline(FIRST_LINE_BYTES))["pid"])
    return None
