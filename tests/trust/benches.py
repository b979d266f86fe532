"""Share of benches with all results: the same bench with defaults, again and again."""

import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from tests.trust.measure import asked


def table(runs: Path, cases: int, _seed: int) -> str:
    """Benches of the eight loadtests, a row each, and what they come to."""
    lines = ["bench  valid  at once  attempts  U2 Mpps  B2 Mpps  round trip, ns"]
    complete, first, reasons = 0, 0, Counter[str]()
    of_b2: list[float] = []
    for number in range(1, cases + 1):
        document = asked(runs, "bench", "--duration", "1s")
        trials = {trial["test"]: trial for trial in document["trials"]}
        valid = sum(trial["valid"] for trial in trials.values())
        at_once = sum(trial["valid"] and trial["attempt"] == 1 for trial in trials.values())
        complete += valid == len(trials) == 8
        first += at_once == len(trials) == 8
        reasons.update(_kind(f"{test}: {why}") for test, why in _refusals(document))
        mpps = {name: (trials[name]["received_pps"] or 0.0) / 1e6 for name in ("U2", "B2")}
        of_b2 += [mpps["B2"]] * bool(mpps["B2"])
        attempts = sum(trial["attempt"] for trial in trials.values())
        lines.append(
            f"{number:>5}  {valid:>3}/8  {at_once:>5}/8  {attempts:>8}  {mpps['U2']:>7.2f}  "
            f"{mpps['B2']:>7.2f}  {_round_trip_ns(document):>10.0f}"
        )
    lines.append(
        f"\nall eight valid in {complete} of {cases}, each at its first attempt in {first}"
    )
    if of_b2:
        low, middle, high = min(of_b2), statistics.median(of_b2), max(of_b2)
        lines.append(f"B2: {middle:.2f} Mpps, {low:.2f} to {high:.2f}")
    lines += [f"{count:>4}  {why}" for why, count in reasons.most_common()]
    return "\n".join(lines)


def _refusals(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Test and first reason of each invalid attempt."""
    run = json.loads((Path(document["run"]) / "run.json").read_text(encoding="utf-8"))
    return [(one["test"], one["invalid"][0]) for one in run["results"] if one["invalid"]]


def _kind(why: str) -> str:
    """A reason without its figures."""
    return " ".join(word for word in why.split() if not any(map(str.isdigit, word)) or ":" in word)


def _round_trip_ns(document: dict[str, Any]) -> float:
    """Between the two CPUs, before B2's first attempt; 0 where it was not measured."""
    path = Path(document["run"]) / "evidence" / "B2.json"
    if not path.exists():
        return 0.0
    stamp = json.loads(path.read_text(encoding="utf-8"))["stamp"]
    return float(max((trip["median_ns"] for trip in stamp["roundtrips_before"]), default=0.0))
