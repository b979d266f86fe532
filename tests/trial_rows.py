"""Rows of a dataset, made up: what tests and the benchmark of questions store."""

from datetime import UTC, datetime, timedelta
from typing import Any

from linerate.results.dataset.row import TrialRow

NODES = ("port-rx-e0-0", "ethernet-input", "ip4-lookup", "ip4-rewrite", "port-tx-e1")
FIRST = datetime(2026, 1, 10, tzinfo=UTC)


def made(unit: str = "unit-1", trial: str = "U2", **changes: Any) -> TrialRow:
    """One row; what is not given is as of a small bench."""
    known: dict[str, Any] = {
        "unit_key": unit,
        "trial": trial,
        "run": f"run-of-{unit}",
        "started": FIRST,
        "command": "bench",
        "device": "router",
        "version": "1.0",
        "commit": "c0ffee",
        "scenario": "standard",
        "loadtest": trial,
        "frame_bytes": 64.0,
        "workers": 1,
        "testbed": "lab-a",
        "machine": "m1",
        "load": "line",
        "valid": True,
        "duration_s": 1.0,
        "offered_pps": 14.88e6,
        "received_pps": 9.5e6,
        "line_percent": 63.8,
        "loss_percent": 36.2,
        "losses": {"card0 port 0: rx missed (ring full)": 5_380_000},
        "limit": "worker-cpu",
        "cycles_per_packet": 250.0,
        "nodes": dict.fromkeys(NODES, 50.0),
        "watts": 20.0,
    }
    return TrialRow(**known | changes)


def unit(number: int, trials: int = 8) -> list[TrialRow]:
    """All rows of one unit of a campaign: versions, scenarios and months by its number."""
    started = FIRST + timedelta(hours=number)
    slower = 1 + (number % 40) / 1000
    return [
        made(
            f"unit-{number}",
            f"U{trial + 1}",
            started=started,
            campaign="nightly",
            scenario=f"scenario-{number % 16}",
            version=f"v{number % 40}",
            commit=f"{number % 40:012x}",
            testbed=f"lab-{'ab'[number % 2]}",
            repeat=number % 5 + 1,
            valid=number % 50 != 0,
            invalid="" if number % 50 else "the host took a CPU for 3.1 ms",
            received_pps=(9.5e6 + 1000 * trial) / slower,
            nodes=dict.fromkeys(NODES, 50.0 * slower),
            latency_p50_us=10.0 + trial,
            latency_p99_us=20.0 + trial,
            latency_max_us=90.0 + number % 7,
        )
        for trial in range(trials)
    ]
