"""Repeated trials: median, spread, and whether a difference between two is more than noise.

An exact Mann–Whitney rank test asks how often chance alone would order the trials of two
devices as they came: it supposes nothing of how noise is distributed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, log
from statistics import median

from linerate.results.rank_sums import greater_p
from linerate.results.store import Result, Run, sound

#: A difference that chance makes no more often than this is one.
SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of repeated trials of one test, packets a second."""

    trials: tuple[float, ...]

    @property
    def middle(self) -> float:
        """Median."""
        return median(self.trials)

    @property
    def spread(self) -> float | None:
        """From the slowest trial to the fastest; None of a single one."""
        return max(self.trials) - min(self.trials) if len(self.trials) > 1 else None

    @property
    def spread_percent(self) -> float | None:
        """The same, of the median."""
        return None if self.spread is None or not self.middle else 100 * self.spread / self.middle


@dataclass(frozen=True, slots=True)
class RankTest:
    """Probability that chance alone separates two sets of trials this way; two-sided."""

    p: float
    #: Smallest p that this number of trials can have.
    least_p: float
    name: str = "Mann–Whitney, two-sided"

    @property
    def can_tell(self) -> bool:
        """Whether so few trials could show any difference at all."""
        return self.least_p <= SIGNIFICANCE

    @property
    def tells(self) -> bool:
        """Whether there is a difference that is more than noise."""
        return self.can_tell and self.p <= SIGNIFICANCE

    @property
    def text(self) -> str:
        """In words."""
        if not self.can_tell:
            return f"needs at least {repeats_needed()} repeats of each to tell"
        return f"p = {p_text(self.p)}"


def p_text(p: float) -> str:
    """Write a probability so that it never reads as none."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def least_p(base: int, other: int) -> float:
    """Smallest p of this number of trials of each: all of one above all of the other."""
    return min(1.0, 2 / comb(base + other, base))


def repeats_needed() -> int:
    """Trials of each from which on a difference can be significant."""
    return next(n for n in range(1, 100) if least_p(n, n) <= SIGNIFICANCE)


def rank_test(base: Sequence[float], other: Sequence[float]) -> RankTest:
    """Mann–Whitney's test of two sets of trials, neither empty."""
    return RankTest(_p(base, other), least_p(len(base), len(other)))


def pair_test(base: Sequence[float], other: Sequence[float]) -> RankTest:
    """Wilcoxon's signed ranks of pairs that were measured beside each other, one at least."""
    p = min(1.0, 2 * min(signed_rank_p(base, other), signed_rank_p(other, base)))
    return RankTest(p, 2.0 ** (1 - len(base)), "Wilcoxon's signed ranks, two-sided")


def one_sided_p(lower: Sequence[float], upper: Sequence[float]) -> float:
    """Probability that chance alone puts the second set above the first this way."""
    return greater_p(upper, lower)


def signed_rank_p(lower: Sequence[float], upper: Sequence[float]) -> float:
    """Probability that chance alone puts the second of each pair above its first this way.

    Wilcoxon's signed-rank test of the logarithms of their factors, where all are positive; else of
    their differences.
    """
    positive = all(value > 0 for value in (*lower, *upper))
    changes = [
        log(after / before) if positive else after - before
        for before, after in zip(lower, upper, strict=True)
    ]
    if not any(changes):
        return 1.0
    from scipy import stats  # noqa: PLC0415 (slow to load)

    method = "exact" if len(set(map(abs, changes))) == len(changes) else "auto"
    return float(stats.wilcoxon(changes, alternative="greater", method=method).pvalue)


def _p(base: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided: twice the smaller of both sides."""
    return min(1.0, 2 * min(greater_p(base, other), greater_p(other, base)))


@dataclass(frozen=True, slots=True)
class Repeated:
    """One test, several times."""

    test: str
    #: Rates of the valid trials.
    rates: Rates
    #: Trials that have no valid attempt.
    invalid: int
    #: None of the rates is of a trial that was valid by itself.
    provisional: bool = False


def repeated(run: Run) -> list[Repeated]:
    """Tests of a run that were measured several times, in order."""
    return [
        Repeated(
            test,
            Rates(tuple(rates_of(results))),
            sum(not one.valid for one in results),
            all(one.provisional for one in sound(results)),
        )
        for test, results in run.repeats().items()
        if len(results) > 1 and any(one.valid for one in results)
    ]


def rates_of(results: Iterable[Result]) -> list[float]:
    """Rates of the valid trials, packets a second."""
    return [result.received_pps for result in sound(results)]
