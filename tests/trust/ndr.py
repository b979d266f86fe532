"""Is the NDR that a search finds the limit that the card has? Limits at random."""

import random
from collections.abc import Iterator
from pathlib import Path

from tests.trust.measure import asked

#: Below what a small machine forwards with room to spare.
LOWEST_PPS, HIGHEST_PPS = 50_000, 1_500_000
#: A search ends when a goal's two loads are this near; the limit lies between them.
WITHIN = 0.005


def ndrs(runs: Path, cases: int, seed: int) -> Iterator[tuple[int, float | None]]:
    """Limits of the card, and the NDR of each; None where the machine gave none."""
    draw = random.Random(seed)
    for _ in range(cases):
        limit = round(LOWEST_PPS * (HIGHEST_PPS / LOWEST_PPS) ** draw.random())
        document = asked(runs, "search", "--card", f"pps={limit}")
        yield limit, document["ndr_pps"]


def table(runs: Path, cases: int, seed: int) -> str:
    """The measure as text, line by line as it comes."""
    lines, errors = ["card's limit, pps    NDR, pps     error"], []
    for limit, found in ndrs(runs, cases, seed):
        if found is None:
            lines.append(f"{limit:>17,}           –         –")
            continue
        errors.append(found / limit - 1)
        lines.append(f"{limit:>17,} {found:>11,.0f} {100 * errors[-1]:>8.2f} %")
    right = sum(abs(error) <= WITHIN for error in errors)
    worst = max(map(abs, errors), default=0.0)
    missing = f", {cases - len(errors)} without a result" * (len(errors) < cases)
    lines.append(
        f"\n{right} of {cases} within {100 * WITHIN:.1f} %{missing}; the worst {100 * worst:.2f} %"
    )
    return "\n".join(lines)
