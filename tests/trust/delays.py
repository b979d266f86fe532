"""Is the latency that is measured the delay that the device has? Delays at random."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.trust.measure import asked

LOWEST_US, HIGHEST_US = 10, 5_000
#: Few enough frames wait in the device at a time.
NDR_PPS = "100000"


def latency_us(runs: Path, delay_us: int) -> dict[str, float] | None:
    """Percentiles of a device with that delay; None where the machine gave none."""
    bed = runs.with_suffix(".yaml")
    device: dict[str, Any] = {"mode": "io"}
    if delay_us:
        device["delay"] = {"us": delay_us}
    bed.write_text(json.dumps({"card": {"link": "10G"}, "dut": device}), encoding="utf-8")
    words = ("--ndr", NDR_PPS, "--loads", "50", "--duration", "1s")
    document = asked(runs, "latency", str(bed), *words)
    for point in document["points"]:
        for stream in point["latency"] if point["valid"] else []:
            return {key: float(stream[key]) for key in ("p50_us", "p99_us")}
    return None


def delays(runs: Path, cases: int, seed: int) -> Iterator[tuple[int, dict[str, float] | None]]:
    """Delays of the device, and what was measured of each."""
    draw = random.Random(seed)
    for _ in range(cases):
        delay = round(LOWEST_US * (HIGHEST_US / LOWEST_US) ** draw.random())
        yield delay, latency_us(runs, delay)


def table(runs: Path, cases: int, seed: int) -> str:
    """The measure as text."""
    lines, over = ["delay, µs   p50, µs   p99, µs   p50 over it"], []
    for delay, found in delays(runs, cases, seed):
        if found is None:
            lines.append(f"{delay:>9,}         –         –             –")
            continue
        over.append(found["p50_us"] - delay)
        lines.append(
            f"{delay:>9,} {found['p50_us']:>9,.1f} {found['p99_us']:>9,.1f} {over[-1]:>13.1f}"
        )
    missing = f", {cases - len(over)} without a result" * (len(over) < cases)
    spread = f"{min(over):.1f} to {max(over):.1f} µs" if over else "not known"
    lines.append(f"\np50 over the delay in {len(over)} of {cases}: {spread}{missing}")
    return "\n".join(lines)
