"""Versions of a device side by side, test by test: each against the first, by rank tests.

The more versions and tests are compared, the surer a difference must be (Holm).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from linerate.results.dataset.row import TrialRow
from linerate.results.statistics import SIGNIFICANCE, least_p, rank_test
from linerate.results.trend.inside import Part, compared_nodes
from linerate.results.trend.series import CYCLES, RATE, FigureName, Key, key_of, sound_rows

Judgement = Literal["faster", "slower", "same", "unknown"]
#: Both are compared: at the line, cycles alone tell versions from each other.
FIGURES: tuple[FigureName, ...] = (RATE, CYCLES)
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One version in one test."""

    version: str
    #: Sound trials.
    trials: tuple[TrialRow, ...]
    left_out: int

    def values(self, figure: FigureName) -> tuple[float, ...]:
        """The figure of each trial that has it."""
        found = (getattr(one, figure) for one in self.trials)
        return tuple(one for one in found if one is not None)

    def middle(self, figure: FigureName) -> float | None:
        """Median; None without any."""
        values = self.values(figure)
        return median(values) if values else None


@dataclass(frozen=True, slots=True)
class Against:
    """A figure of one version against that of the first."""

    percent: float
    p: float
    judgement: Judgement
    #: Trials of each from which on it could be distinguished from noise; 0 where there are enough.
    trials_needed: int = 0


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a scenario, on all versions."""

    key: Key
    #: By version.
    cells: Mapping[str, Cell]
    #: By version and figure.
    against: Mapping[tuple[str, FigureName], Against]
    #: By version: nodes whose cycles are not those of the first, the largest change first.
    changed_nodes: Mapping[str, tuple[Part, ...]]


@dataclass(frozen=True, slots=True)
class Versions:
    """All tests, on all versions."""

    #: The first is what the others are compared with.
    versions: tuple[str, ...]
    tests: tuple[Test, ...]

    @property
    def scenarios(self) -> dict[str, list[Test]]:
        """Tests by their scenario."""
        found: dict[str, list[Test]] = {}
        for one in self.tests:
            found.setdefault(one.key.scenario, []).append(one)
        return found


def _changed_nodes(
    cells: Mapping[Key, Mapping[str, Cell]], first: str
) -> dict[tuple[Key, str], tuple[Part, ...]]:
    """By test and version; a node is judged by itself, as it stands out where the sum does not."""
    pairs = [
        (key, name)
        for key, by_version in cells.items()
        for name in by_version
        if name != first and first in by_version
    ]
    return {
        (key, name): compared_nodes(cells[key][first].trials, cells[key][name].trials, len(pairs))
        for key, name in pairs
    }


def versions_of(rows: Sequence[TrialRow], first: str = "") -> Versions:
    """Tests and versions of some rows; `first`, or else the least by name, is the base."""
    found: dict[Key, dict[str, list[TrialRow]]] = {}
    names: dict[str, None] = {}
    settings = len({one.setting for one in rows}) > 1
    for row in rows:
        name = _version(row, settings=settings)
        names[name] = None
        # The name of a version has the setting in it.
        key = key_of(row.model_copy(update={"setting": ""}))
        found.setdefault(key, {}).setdefault(name, []).append(row)
    ordered = sorted(names, key=lambda name: (name != first, _natural(name)))
    cells = {
        key: {name: _cell(name, found[key][name]) for name in ordered if name in found[key]}
        for key in sorted(found, key=_place)
    }
    if not ordered:
        return Versions((), ())
    judged, nodes = dict(_judged(cells, ordered[0])), _changed_nodes(cells, ordered[0])
    tests = tuple(
        Test(
            key,
            mine,
            {place[1:]: one for place, one in judged.items() if place[0] == key},
            {name: parts for (of, name), parts in nodes.items() if of == key},
        )
        for key, mine in cells.items()
    )
    return Versions(tuple(ordered), tests)


def _place(key: Key) -> tuple[object, ...]:
    """Tests of one scenario together; more of a value behind less."""
    return (key.scenario, _natural(key.values), key.loadtest, _natural(key.frame_bytes), key)


def _version(row: TrialRow, *, settings: bool) -> str:
    """Version and commit; the setting too where there are several."""
    name = row.version or row.commit[:12] or row.device or "device"
    if row.version and row.commit and row.commit[:7] not in row.version:
        name = f"{row.version} {row.commit[:10]}"
    return f"{name}, {row.setting or 'as it is'}" if settings else name


def _natural(name: str) -> list[tuple[int, int | str]]:
    """In the order of its numbers: v2.10 behind v2.9."""
    parts = (part for part in _DIGITS.split(name) if part)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts]


def _cell(version: str, rows: list[TrialRow]) -> Cell:
    kept = sound_rows(rows)
    return Cell(version, kept, len(rows) - len(kept))


_Place = tuple[Key, str, FigureName]


def _judged(
    cells: Mapping[Key, Mapping[str, Cell]], first: str
) -> Iterator[tuple[_Place, Against]]:
    """Holm's method over all tests, versions and figures."""
    found = sorted(_pairs(cells, first), key=lambda one: one[1])
    significant = True
    for rank, (place, p, base, other) in enumerate(found):
        bound = SIGNIFICANCE / (len(found) - rank)
        significant = significant and p <= bound
        able = least_p(len(base), len(other)) <= SIGNIFICANCE / len(found)
        percent = 100 * (median(other) / median(base) - 1)
        judgement: Judgement = "same" if able else "unknown"
        if significant and percent:
            judgement = "faster" if (percent > 0) == (place[2] == RATE) else "slower"
        needed = 0 if able or judgement != "unknown" else _needed(len(found))
        yield place, Against(percent, p, judgement, needed)


def _pairs(
    cells: Mapping[Key, Mapping[str, Cell]], first: str
) -> Iterator[tuple[_Place, float, tuple[float, ...], tuple[float, ...]]]:
    for key, by_version in cells.items():
        if first not in by_version:
            continue
        for name, cell in by_version.items():
            for figure in FIGURES if name != first else ():
                base, other = by_version[first].values(figure), cell.values(figure)
                if base and other and median(base):
                    yield (key, name, figure), rank_test(base, other).p, base, other


def _needed(family: int) -> int:
    return next(n for n in range(1, 100) if least_p(n, n) <= SIGNIFICANCE / family)


def campaigns(rows: Iterable[TrialRow]) -> list[str]:
    """Names of all campaigns in some rows."""
    return sorted({one.campaign for one in rows if one.campaign})
