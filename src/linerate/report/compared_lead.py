"""The outcome of a comparison at the top of its page: a factor, or per cent, and how sure it is."""

from math import log

from linerate.report.document import Lead, Tone
from linerate.report.terminal import mpps
from linerate.results.compare import LARGE, Difference, Pair
from linerate.results.statistics import p_text, repeats_needed

#: Rates that reach the same line, or tester, are nearer to each other than this.
SAME_PERCENT = 5.0
#: Tests beside the one that is named.
FACTS_MAX = 7


def outcome(pair: Pair) -> Lead:
    """The largest difference of rates; where the line or the tester hides it, that of cycles."""
    open_ = [one for one in pair.rates if one.ratio is not None and not _is_hidden(pair, one)]
    if not open_:
        return _of_costs(pair) if pair.costs else _hidden(pair)
    most = max(open_, key=lambda one: abs(log(one.ratio or 1.0)))
    value, _, unit = most.change.partition(" ")
    if most.is_large:
        value, unit = most.change.rsplit(" ", 1)
    return Lead(
        value=value,
        unit=unit,
        subject=f"{pair.other.called} against {pair.base.called}, {most.test}",
        verdict=f"{mpps(most.other.middle)} Mpps against {mpps(most.base.middle)} Mpps"
        f"{_rest(pair)}.",
        sure=_sure(most),
        tone=_tone(most),
        facts=tuple((one.test, one.change) for one in open_ if one is not most)[:FACTS_MAX],
    )


def _is_hidden(pair: Pair, one: Difference) -> bool:
    """Whether line or tester keep both from showing a difference."""
    judged = one.judgement in ("faster", "slower")
    return one.test in pair.held_back and not judged and abs(one.percent or 0.0) < SAME_PERCENT


def _rest(pair: Pair) -> str:
    hidden = [one.test for one in pair.rates if _is_hidden(pair, one)]
    return f"; line or tester limit both in {', '.join(hidden)}" if hidden else ""


def _tone(one: Difference) -> Tone:
    return "limited" if (one.ratio or 1.0) < 1 else "good"


def _sure(one: Difference) -> str:
    if one.rank_test.can_tell:
        p = p_text(one.rank_test.p)
        return f"p {p}, rank test" if p.startswith("<") else f"p = {p}, rank test"
    each = f"{len(one.base.trials)} and {len(one.other.trials)} trials"
    if one.is_large:
        return f"{each}: a factor of {LARGE:g} or more is seen without repeats"
    return f"{each}: less than a factor of {LARGE:g} takes {repeats_needed()} of each to tell"


def times(ratio: float) -> str:
    """A ratio of costs: per cent, or a factor where it is large."""
    if ratio >= LARGE:
        return f"{ratio:.3g} × more"
    return f"{100 * (ratio - 1):+.1f} %" if ratio > 1 / LARGE else f"{1 / ratio:.3g} × fewer"


def _of_costs(pair: Pair) -> Lead:
    """Both reach the line, or all that the tester sends: cycles are the result."""
    most = max(pair.costs, key=lambda one: abs(log(one.other / one.base)))
    ratio = most.other / most.base
    value, _, word = times(ratio).rpartition(" ")
    return Lead(
        value=value if word != "%" else times(ratio),
        unit=f"{word} cycles a packet" if word != "%" else "cycles a packet",
        subject=f"{pair.other.called} against {pair.base.called}, {most.test}",
        verdict=f"Both are as fast as line or tester let them: cycles are the result. "
        f"{most.other:,.0f} cycles for each packet that entered, against {most.base:,.0f}.",
        sure="",
        tone="good" if ratio <= 1 else "limited",
        facts=tuple(
            (one.test, times(one.other / one.base)) for one in pair.costs if one is not most
        )[:FACTS_MAX],
    )


def _hidden(pair: Pair) -> Lead:
    return Lead(
        value="No difference",
        unit="",
        subject=f"{pair.other.called} against {pair.base.called}",
        verdict="Line or tester limit both in all tests, and no cycles are known to compare.",
    )
