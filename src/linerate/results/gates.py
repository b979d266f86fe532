"""Gates: changes for which a comparison fails, each larger than its limit and than noise.

A change counts where the medians differ by more than the limit, and a one-sided rank test says that
the trials do: by Holm's method, so that many nodes and tests together invent none. Where runs of
the two were measured in turn, they are compared in pairs (Method).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, log
from statistics import median
from typing import Literal

from linerate.base.errors import UserError
from linerate.model.ledger import cycles_by_node, forwarder_ledgers, node_times
from linerate.results import repeats_to_tell
from linerate.results.statistics import SIGNIFICANCE, one_sided_p, signed_rank_p
from linerate.results.store import Result

Outcome = Literal["holds", "fails", "unknown"]
#: Sound trials whose median is one value of a figure.
Sample = Sequence[Result]
#: A test's samples, of the base and of the other.
Samples = tuple[Sequence[Sample], Sequence[Sample]]
#: The part that stands for all: `cycles@all`.
WHOLE = "all"
_GATE = re.compile(
    r"\s*(?P<figure>\w+)(@(?P<part>[^<>]+?))?\s*(?P<sign>[<>])\s*(?P<limit>[+-]?\d+(\.\d+)?)\s*"
    r"(?P<percent>%?)\s*"
)
EXPECTED = "expected a change as 'cycles>3%', 'cycles@ip4-lookup>5%', 'rate<-2%', 'loss>0.1'"


class GateError(UserError):
    """A gate that can't be read."""


def _cycles(result: Result) -> dict[str, float]:
    """Cycles of all nodes by packets that entered, and of each node by packets of its own."""
    sums = node_times(forwarder_ledgers(result.time_at_load))
    found = {
        name: node.clocks_per_packet
        for name, node in sums.items()
        if node.clocks_per_packet is not None
    }
    if all_nodes := sum(cycles_by_node(result.time_at_load).values()):
        found[WHOLE] = all_nodes
    return found


def _latency(result: Result) -> dict[str, float]:
    tops = {one.stream: one.p99_us for one in result.latency if one.p99_us is not None}
    return tops | ({WHOLE: max(tops.values())} if tops else {})


#: Figures that can change, by name; each of a trial, by part.
FIGURES: dict[str, Callable[[Result], Mapping[str, float]]] = {
    "cycles": _cycles,
    "rate": lambda result: {WHOLE: result.received_pps},
    "loss": lambda result: {WHOLE: result.loss_percent},
    "p99": _latency,
}
#: The same by their names in outputs.
ALIASES = {
    "cycles_per_packet": "cycles",
    "received_pps": "rate",
    "loss_percent": "loss",
    "p99_us": "p99",
}
#: Per cent by itself: its change is in points, with `%` and without.
POINTS = ("loss",)


@dataclass(frozen=True, slots=True)
class Gate:
    """One `--fail-if`."""

    text: str
    figure: str
    #: A node or a stream alone, or `all`; nothing: `all` and each part.
    part: str
    grows: bool
    limit: float
    #: Whether the limit is in per cent of the base.
    relative: bool


@dataclass(frozen=True, slots=True)
class GateResult:
    """A figure's change in one test, judged by a gate."""

    gate: str
    test: str
    #: `all`, a node or a stream.
    part: str
    base: float
    other: float
    change: float
    #: Unit of the change: per cent of the base, or the figure's own.
    percent: bool
    #: Probability that chance alone changes it this way; one-sided.
    p: float
    outcome: Outcome
    #: Repeats of each that could tell.
    repeats_needed: int
    #: Repeats of each that were measured.
    repeats: int = 0
    #: Repeats with which a change as large as the limit is found nine times in ten, by the spread
    #: of those measured; None: more than are worth measuring, or the limit is 0.
    repeats_to_tell: int | None = None

    @property
    def has_spread(self) -> bool:
        """Whether there are repeats enough for a spread, and a limit that has a size."""
        return self.repeats >= repeats_to_tell.KNOWN_FROM and parse_gate(self.gate).limit != 0

    @property
    def is_precise(self) -> bool:
        """Whether a change as large as the limit would have been found."""
        return self.repeats_to_tell is not None and self.repeats_to_tell <= self.repeats


def parse_gate(text: str) -> Gate:
    """Read `cycles>3%`. Raises GateError."""
    match = _GATE.fullmatch(text)
    if match is None:
        raise GateError(f"--fail-if '{text}': {EXPECTED}")
    figure = ALIASES.get(match["figure"], match["figure"])
    if figure not in FIGURES:
        known = ", ".join((*FIGURES, *ALIASES))
        raise GateError(f"--fail-if '{text}': no such figure; expected one of {known}")
    limit, grows = float(match["limit"]), match["sign"] == ">"
    if limit < 0 if grows else limit > 0:
        raise GateError(f"--fail-if '{text}': expected > with a growth, < with a fall, as rate<-2%")
    relative = bool(match["percent"]) and figure not in POINTS
    return Gate(text.strip(), figure, (match["part"] or "").strip(), grows, limit, relative)


@dataclass(frozen=True, slots=True)
class Method:
    """A comparison of two devices' samples."""

    #: One-sided: of the smaller ones and of the larger ones.
    p: Callable[[Sequence[float], Sequence[float]], float]
    #: The smallest that it can be with this number of samples of each.
    least_p: Callable[[int, int], float]
    #: The change, of the base and the other.
    difference: Callable[[Sequence[float], Sequence[float]], float]
    #: The same, as a factor; None where it has none.
    factor: Callable[[Sequence[float], Sequence[float]], float | None]
    #: Repeats with which a change of some size, the third, is found at a significance, the last.
    to_tell: Callable[[Sequence[float], Sequence[float], float, float], int | None]


#: Two sets of samples: Mann-Whitney, and the difference of medians.
SETS = Method(
    p=one_sided_p,
    least_p=lambda base, other: 1 / comb(base + other, base),
    difference=lambda base, other: median(other) - median(base),
    factor=lambda base, other: median(other) / median(base) if median(base) else None,
    to_tell=repeats_to_tell.of_sets,
)


def _factor_of_pairs(base: Sequence[float], other: Sequence[float]) -> float | None:
    return median(b / a for a, b in zip(base, other, strict=True)) if all(base) else None


#: Samples measured in turn, the k-th of the one beside the k-th of the other: Wilcoxon's signed
#: ranks, and the median of the changes. What the machine does for longer than a pair (where a
#: hypervisor has the CPUs, who runs beside) is in both of a pair, and changes neither.
PAIRS = Method(
    p=signed_rank_p,
    least_p=lambda base, other: 2.0 ** -min(base, other),
    difference=lambda base, other: median(b - a for a, b in zip(base, other, strict=True)),
    factor=_factor_of_pairs,
    to_tell=repeats_to_tell.of_pairs,
)


#: A figure of one sample, by part.
Figures = Mapping[str, float]


def judge(
    gate: Gate, tests: Mapping[str, Samples], methods: Mapping[str, Method] | None = None
) -> list[GateResult]:
    """Each part's change in each test, by its method, or as SETS; the whole's first."""
    chosen = methods or {}
    found = [
        one
        for test, (base, other) in tests.items()
        for one in _changes(
            gate,
            test,
            [figures(gate.figure, one) for one in base],
            [figures(gate.figure, one) for one in other],
            chosen.get(test, SETS),
        )
    ]
    return sorted(_judged(gate, found, SIGNIFICANCE), key=lambda one: one.part != WHOLE)


def judge_pairs(
    gate: Gate, test: str, pairs: Sequence[tuple[Figures, Figures]], significance: float
) -> list[GateResult]:
    """The same of figures that were measured in turn, of one test; the whole's first."""
    base, other = [one for one, _ in pairs], [one for _, one in pairs]
    found = list(_changes(gate, test, base, other, PAIRS))
    return sorted(_judged(gate, found, significance), key=lambda one: one.part != WHOLE)


@dataclass(frozen=True, slots=True)
class _Change:
    test: str
    part: str
    base: tuple[float, ...]
    other: tuple[float, ...]
    p: float
    method: Method

    @property
    def least_p(self) -> float:
        """Smallest p of this number of samples."""
        return self.method.least_p(len(self.base), len(self.other))

    def by(self, gate: Gate) -> float | None:
        """Change of the median; None where it has no size."""
        if not gate.relative:
            return self.method.difference(self.base, self.other)
        factor = self.method.factor(self.base, self.other)
        return None if factor is None else 100 * (factor - 1)


def figures(figure: str, sample: Sample) -> dict[str, float]:
    """Each part's median over the sample's trials; parts that all of them have."""
    found = [FIGURES[figure](one) for one in sample]
    names = [name for name in found[0] if all(name in one for one in found)]
    return {name: median(one[name] for one in found) for name in names}


def _changes(
    gate: Gate, test: str, base: Sequence[Figures], other: Sequence[Figures], method: Method
) -> Iterable[_Change]:
    """Parts that every sample of both has."""
    names = [name for name in base[0] if all(name in one for one in (*base, *other))]
    for name in names:
        if gate.part not in ("", name):
            continue
        before = tuple(one[name] for one in base)
        after = tuple(one[name] for one in other)
        lower, upper = (before, after) if gate.grows else (after, before)
        yield _Change(test, name, before, after, method.p(lower, upper), method)


def _judged(gate: Gate, family: list[_Change], significance: float) -> Iterable[GateResult]:
    """Holm's method: the k-th smallest of m probabilities is held against α / (m - k)."""
    significant = True
    for rank, one in enumerate(sorted(family, key=lambda one: one.p)):
        bound = significance / (len(family) - rank)
        significant = significant and one.p <= bound
        by = one.by(gate)
        if by is None:
            continue
        beyond = by > gate.limit if gate.grows else by < gate.limit
        yield GateResult(
            gate=gate.text,
            test=one.test,
            part=one.part,
            base=median(one.base),
            other=median(one.other),
            change=by,
            percent=gate.relative,
            p=one.p,
            outcome=_outcome(beyond, significant, one.least_p <= significance / len(family)),
            repeats_needed=_repeats_needed(significance / len(family), one.method),
            repeats=min(len(one.base), len(one.other)),
            repeats_to_tell=_repeats_to_tell(gate, one, significance / len(family)),
        )


def _outcome(beyond: bool, significant: bool, can_tell: bool) -> Outcome:
    if not beyond:
        return "holds"
    if significant:
        return "fails"
    return "holds" if can_tell else "unknown"


def _repeats_to_tell(gate: Gate, one: _Change, bound: float) -> int | None:
    """By the spread of what was measured: in logarithms where the limit is a share."""
    if not gate.relative:
        return one.method.to_tell(one.base, one.other, abs(gate.limit), bound)
    if gate.limit <= -100 or min(*one.base, *one.other) <= 0:
        return None
    size = abs(log(1 + gate.limit / 100))
    return one.method.to_tell(list(map(log, one.base)), list(map(log, one.other)), size, bound)


def _repeats_needed(bound: float, method: Method) -> int:
    """Samples of each with which a change can be significant at a bound."""
    return next(n for n in range(1, 100) if method.least_p(n, n) <= bound)
