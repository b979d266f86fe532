"""Published outputs and their truth, and how a verdict compares with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_files
from linerate.parsers.text import TextError

FOLDER = Path(__file__).parents[1] / "data" / "published"
#: Words of an expert's for which the tool has another.
SAME = {"ring-full": ("rx-ring", "unknown")}


@dataclass(frozen=True, slots=True)
class Case:
    """One published output."""

    name: str
    limit: str
    acceptable: tuple[str, ...]
    false: tuple[str, ...]
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and what it is worth: right, acceptable, wrong, false, refused."""

    limit: str
    confidence: str
    grade: str


def cases(half: str) -> Iterator[Case]:
    """Cases of one half."""
    for name in yaml.safe_load((FOLDER / "split.yaml").read_text())[half]:
        truth = yaml.safe_load((FOLDER / name / "truth.yaml").read_text())
        yield Case(
            name=name,
            limit=truth["limit"],
            acceptable=tuple(truth.get("acceptable") or ()),
            false=tuple(truth.get("false") or ()),
            files=tuple(sorted((FOLDER / name).glob("*.txt"))),
        )


def judged(case: Case) -> Judged:
    """Judge one, and grade the verdict."""
    try:
        found = explain(evidence_of_files(case.files))
    except TextError:
        return Judged("refused", "", "refused")
    return Judged(found.limit, found.confidence, _grade(case, found.limit))


def _grade(case: Case, limit: str) -> str:
    if limit == case.limit:
        return "right"
    words = {*case.acceptable, *SAME.get(case.limit, ())}
    for word in case.acceptable:
        words |= {*SAME.get(word, ())}
    if limit in words:
        return "acceptable"
    return "false" if limit in case.false or limit != "unknown" else "wrong"
