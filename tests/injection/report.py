"""The confusion matrix: what was injected, and what was named."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tests.injection.runner import Outcome

from linerate.analysis.explain import LIMITS

#: Nothing is injected but what every link has.
CLEAN = ("line", "none")

#: Share of the injected limits that must be named rightly.
RIGHT_MIN = 0.95
#: A machine that has no time for more of the trials shows nothing.
WITHOUT_RESULT_MAX = 40


@dataclass(frozen=True, slots=True)
class Score:
    """Number of cases that were named rightly."""

    outcomes: Sequence[Outcome]

    @property
    def without_result(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.no_result]

    @property
    def counted(self) -> list[Outcome]:
        return [one for one in self.outcomes if not one.no_result]

    @property
    def injected(self) -> list[Outcome]:
        return [one for one in self.counted if one.strength.injected not in CLEAN]

    @property
    def clean(self) -> list[Outcome]:
        return [one for one in self.counted if one.strength.injected in CLEAN]

    @property
    def wrong(self) -> list[Outcome]:
        return [one for one in self.counted if not one.right]

    @property
    def share_right(self) -> float:
        """Share of the injected cases."""
        return sum(one.right for one in self.injected) / max(1, len(self.injected))

    @property
    def clean_wrong(self) -> list[Outcome]:
        return [one for one in self.clean if not one.right]

    @property
    def too_busy(self) -> bool:
        """Whether too many cases had no result to say anything of the whole."""
        return len(self.without_result) > WITHOUT_RESULT_MAX

    @property
    def good(self) -> bool:
        """Good enough: nearly all injected limits are named, and none is invented."""
        return self.share_right >= RIGHT_MIN and not self.clean_wrong

    @property
    def sentence(self) -> str:
        injected, clean, missing = self.injected, self.clean, len(self.without_result)
        return (
            f"{sum(one.right for one in injected)} of {len(injected)} injected limits named "
            f"rightly ({100 * self.share_right:.1f} %), {len(self.clean_wrong)} of {len(clean)} "
            "clean trials wrongly"
            + (f";\n{missing} had no result on this busy machine" if missing else "")
        )


def confusion(outcomes: Sequence[Outcome]) -> str:
    """Print a row for each expected limit: how often it was named, and what else was."""
    score = Score(outcomes)
    counts = Counter((one.expected, str(one.verdict.limit)) for one in score.counted)
    missing = Counter(one.expected for one in score.without_result)
    names = [name for name in LIMITS if any(one.expected == name for one in outcomes)]
    width = max(len("expected"), *(len(name) for name in names))
    lines = [f"{'expected':<{width}}  cases  right  no result  named instead"]
    for name in names:
        cases = sum(count for (expected, _), count in counts.items() if expected == name)
        others = ", ".join(
            f"{count} {named}"
            for (expected, named), count in counts.most_common()
            if expected == name and named != name
        )
        lines.append(
            f"{name:<{width}}  {cases:>5}  {counts[name, name]:>5}  {missing[name]:>9}  {others}".rstrip()
        )
    return "\n".join(lines)


def strengths(outcomes: Sequence[Outcome]) -> str:
    """Print a row for each strength: its rates, and each loadtest that was named wrongly."""
    rows: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        rows.setdefault((one.strength.injected, one.strength.text), []).append(one)
    texts = [(injected, text) for injected, text in rows]
    width = max(len(injected) for injected, _ in texts)
    size = max(len(text) for _, text in texts)
    lines = [f"{'injected':<{width}}  {'strength':<{size}}  right    Mpps"]
    for (injected, text), cases in rows.items():
        counted = Score(cases).counted
        rates = sorted(one.received_pps / 1e6 for one in counted) or [0.0]
        right = sum(one.right for one in counted)
        lines.append(
            f"{injected:<{width}}  {text:<{size}}  {right:>2}/{len(counted):<2}  "
            f"{rates[0]:.3f} to {rates[-1]:.3f}"
        )
    return "\n".join(lines)
