"""Print how published outputs are judged: `python -m tests.published develop|held_out`."""

import sys
from collections import Counter

from tests.published.cases import Case, cases, judged


def main(half: str) -> None:
    """A line a case, and the sums of all."""
    sums: Counter[str] = Counter()
    for case in cases(half):
        result = judged(case)
        sums[result.grade] += 1
        print(f"{result.grade:10} {case.name:45} {case.limit:14} {result.limit}")
    whole = sum(sums.values())
    print(
        ", ".join(f"{name} {count} ({100 * count / whole:.0f} %)" for name, count in sums.items())
    )


if __name__ == "__main__":
    main(*sys.argv[1:] or ["develop"])


__all__ = ["Case"]
