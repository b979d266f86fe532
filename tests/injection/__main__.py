"""`python -m tests.injection`: run the injection matrix, print what was named."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from tests.injection.matrix import Strength, matrix
from tests.injection.report import Score, confusion, strengths
from tests.injection.runner import Outcome, Runner, run_all

SECONDS = 0.5


def main() -> int:
    """Print the matrix; 1 when it is not as good as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.injection", description=__doc__)
    parser.add_argument("--only", metavar="LIMIT,…", help="only these limits")
    parser.add_argument("--repeats", type=int, default=1, help="how often all is run")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a trial sends")
    chosen = parser.parse_args()
    # Changes made for the trials are undone, however they end.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="injection-") as folder:
        runner = Runner(Path(folder), chosen.seconds, lambda text: print(text, file=sys.stderr))
        wanted = _only(matrix(runner.clock()), chosen.only)
        for outcome in run_all(runner, wanted * chosen.repeats):
            outcomes.append(outcome)
            if not (outcome.right or outcome.no_result):
                print(f"  wrong: {outcome.text}", file=sys.stderr)
    score = Score(outcomes)
    print(f"{confusion(outcomes)}\n\n{strengths(outcomes)}\n\n{score.sentence}")
    return 0 if score.good and not score.too_busy else 1


def _only(all_of_them: tuple[Strength, ...], only: str | None) -> tuple[Strength, ...]:
    if only is None:
        return all_of_them
    names = only.split(",")
    chosen = tuple(one for one in all_of_them if one.injected in names)
    if not chosen:
        known = ",".join(dict.fromkeys(one.injected for one in all_of_them))
        raise SystemExit(f"no limit '{only}' is injected; expected some of {known}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
