"""Judged changes of a comparison: a table, and cases for continuous integration."""

from collections.abc import Iterator, Sequence

from linerate.report.case import Case
from linerate.report.document import Note, Section, Table, figures, sentences, text
from linerate.results.compare import Pair
from linerate.results.gates import GateResult
from linerate.results.repeats_to_tell import REPEATS_MAX
from linerate.results.statistics import p_text

WORDS = {"holds": "holds", "fails": "FAILS", "unknown": "too few repeats"}
COLUMNS = (
    *text("gate", "test"),
    *sentences("part"),
    *figures("base", "other", "change", "p"),
    *text("outcome"),
)


def sections(pair: Pair) -> list[Section]:
    """A line on all gates, and those that do not hold."""
    if not pair.gates:
        return []
    bad = [one for one in pair.gates if one.outcome != "holds"]
    failed = sum(one.outcome == "fails" for one in bad)
    line = f"gates: {failed} of {len(pair.gates)} changes fail"
    if unknown := len(bad) - failed:
        most = max(one.repeats_needed for one in bad)
        line += f"; {unknown} can't be distinguished from noise: needs {most} repeats of each"
    table = Table("Gates that do not hold", COLUMNS, tuple(map(row, bad)))
    return [
        Note(line, "warning" if bad else "passed"),
        *([table] if bad else []),
        *_noise(pair.gates),
    ]


#: Parts for which the repeats that would do are listed.
NOISY_MAX = 6
NOISE_COLUMNS = (*text("gate", "test"), *sentences("part"), *figures("repeats", "would do"))


def _noise(judged: Sequence[GateResult]) -> list[Section]:
    """Whether the noise lets a change as large as a limit be found, and the repeats that would."""
    known = [one for one in judged if one.has_spread]
    noisy = [one for one in known if not one.is_precise and one.outcome != "fails"]
    if not known:
        return []
    found = f"{len(known) - len(noisy)} of {len(known)}"
    if not noisy:
        line = f"noise: a change as large as its limit is found in {found}, nine times in ten"
        return [Note(line, "passed")]
    most = max(noisy, key=_would_do)
    line = (
        f"too noisy: a change as large as its limit is found in {found} only, nine times in ten; "
        f"all need {would_do(most)} repeats of each"
    )
    rows = tuple(
        (one.gate, one.test, one.part, f"{one.repeats}", would_do(one))
        for one in sorted(noisy, key=_would_do, reverse=True)[:NOISY_MAX]
    )
    return [Note(line, "doubt"), Table("Repeats of each that would do", NOISE_COLUMNS, rows)]


def _would_do(one: GateResult) -> int:
    return one.repeats_to_tell or REPEATS_MAX + 1


def would_do(one: GateResult) -> str:
    """Repeats with which a change as large as the limit is found."""
    return f"more than {REPEATS_MAX}" if one.repeats_to_tell is None else f"{one.repeats_to_tell}"


def row(one: GateResult) -> tuple[str, ...]:
    """One judged change, in text."""
    change = f"{one.change:+.2f}{' %' * one.percent}"
    values = f"{one.base:.6g}", f"{one.other:.6g}", change, p_text(one.p)
    return (one.gate, one.test, one.part, *values, WORDS[one.outcome])


def cases(pairs: list[Pair]) -> Iterator[Case]:
    """A case for each gate and test; without gates, for each test."""
    for pair in pairs:
        group = f"{pair.other.name} against {pair.base.name}"
        found: dict[tuple[str, str], list[GateResult]] = {}
        for one in pair.gates:
            found.setdefault((one.gate, one.test), []).append(one)
        for (gate, test), judged in found.items():
            yield _case(group, f"{test}: {gate}", judged)
        if not found:
            yield from (Case(group, one.test, text=one.judgement) for one in pair.rates)


def _case(group: str, name: str, judged: list[GateResult]) -> Case:
    lines = [" ".join(row(one)[2:]) for one in judged]
    failed = [line for line, one in zip(lines, judged, strict=True) if one.outcome == "fails"]
    unknown = [one for one in judged if one.outcome == "unknown"]
    whole = "\n".join(lines)
    if failed:
        return Case(group, name, "failure", failed[0], whole)
    if unknown:
        needed = unknown[0].repeats_needed
        return Case(group, name, "error", f"needs {needed} repeats of each to tell", whole)
    return Case(group, name, text=whole)
