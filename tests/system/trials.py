"""Trials on a running engine, for the system tests."""

import time
from dataclasses import dataclass
from typing import Any

from linerate.engine.engine_process import Engine
from linerate.engine.telemetry import Telemetry

Ledger = dict[tuple[str, str], int]


@dataclass(frozen=True)
class Outcome:
    """Result of one trial: its last status, and how the ledger grew."""

    status: dict[str, Any]
    grown: Ledger

    def of_kind(self, kind: str) -> int:
        return sum(count for (_, k), count in self.grown.items() if k == kind)

    def losses(self) -> dict[str, int]:
        return {place: n for (place, kind), n in self.grown.items() if kind == "loss" and n}

    @property
    def unexplained(self) -> int:
        ins = self.of_kind("sent") + self.of_kind("originated")
        outs = ("received", "other", "consumed", "held", "loss")
        return ins - sum(self.of_kind(kind) for kind in outs)


def read_ledger(telemetry: Telemetry) -> Ledger:
    rows = telemetry.table("/linerate/ledger")
    return {(row["place"], row["kind"]): row["packets"] for row in rows}


def run_trial(engine: Engine, seconds: float, scale_ppm: int = 1_000_000) -> Outcome:
    """Run one trial to its end."""
    with engine.connect() as telemetry:
        before = read_ledger(telemetry)
        microseconds = int(seconds * 1e6)
        telemetry.ask(f"/linerate/trial/start,duration_us={microseconds},scale_ppm={scale_ppm}")
        # It is the tester's clock that ends it: that stands still while others have its CPU.
        deadline = time.monotonic() + seconds * 10 + 120
        while (status := telemetry.ask("/linerate/trial"))["state"] != "done":
            assert time.monotonic() < deadline, f"the trial does not end: {status}"
            time.sleep(0.02)
        after = read_ledger(telemetry)
    return Outcome(status, {key: count - before.get(key, 0) for key, count in after.items()})
