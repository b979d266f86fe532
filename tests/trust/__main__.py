"""`python -m tests.trust MEASURE [CASES]`: how far linerate's own figures can be trusted.

Measures: ndr (30 limits of the card), delays (20 of the device), benches (25 of the defaults), trials
(2,000 of any kind), faults (300 at random moments of runs), pages (60 minutes of ten clients), stops
(10 of a bench that keeps every CPU).
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.trust import benches, delays, faults, ndr, pages, stops, trials
from tests.trust.measure import BrokenError

MEASURES: dict[str, tuple[Callable[[Path, int, int], str], int]] = {
    "ndr": (ndr.table, 30),
    "delays": (delays.table, 20),
    "benches": (benches.table, 25),
    "trials": (trials.table, 2_000),
    "faults": (faults.table, 300),
    "pages": (pages.table, 60),
    "stops": (stops.table, 10),
}


def main() -> None:
    """Print the measure's table; exit code 1 when something was not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    parser.add_argument("measure", choices=MEASURES)
    parser.add_argument("cases", type=int, nargs="?", help="how many")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    measure, usual = MEASURES[chosen.measure]
    with tempfile.TemporaryDirectory(prefix="trust-") as folder:
        try:
            print(measure(Path(folder) / "runs", chosen.cases or usual, chosen.seed))
        except BrokenError as broken:
            print(broken)
            sys.exit(1)


if __name__ == "__main__":
    main()
