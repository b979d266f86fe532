"""Rows of trials as series: one figure of one scenario on one testbed, commit after commit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Literal

from linerate.results.dataset.row import TrialRow

#: Figures that are judged: the first is less noisy, and known where the forwarder's cycles are.
FigureName = Literal["cycles_per_packet", "received_pps"]
CYCLES: FigureName = "cycles_per_packet"
RATE: FigureName = "received_pps"
#: Stamps of a machine; where one changes, figures before and after are of two machines.
MACHINE = ("cpu", "kernel", "microcode", "bios", "nic", "nic_firmware")
#: Commands whose trials look for a load: none of two is at the same.
SEARCHING = ("search", "rfc2544", "latency", "soak")
#: Share of a series' points that know their cycles, for cycles to be judged.
CYCLES_KNOWN = 0.8


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Properties that are the same in all points of a series."""

    testbed: str
    device: str
    scenario: str
    loadtest: str
    frame_bytes: str
    #: `routes=1000, rules=10`.
    values: str
    workers: str
    setting: str
    load: str

    @property
    def text(self) -> str:
        """In a line, what is unknown left out."""
        size = f"{self.frame_bytes} B" if self.frame_bytes else ""
        workers = f"{self.workers} workers" if self.workers not in ("", "1") else ""
        test = " ".join(filter(None, (self.scenario, self.loadtest)))
        parts = (test, size, self.values, self.device, workers, self.setting, self.load)
        where = f"on {self.testbed}" if self.testbed else ""
        return " ".join(filter(None, (", ".join(filter(None, parts)), where)))


@dataclass(frozen=True, slots=True)
class Point:
    """One commit on one machine: its sound trials."""

    commit: str
    version: str
    #: When the first trial began.
    started: datetime
    #: Stamps of the machine, by name.
    machine: Mapping[str, str]
    trials: tuple[TrialRow, ...]
    #: Trials that are not counted, as they are invalid or suspect.
    left_out: int = 0

    @property
    def name(self) -> str:
        """The commit, or else the version, or else the day."""
        return self.commit or self.version or f"{self.started:%Y-%m-%d %H:%M}"

    @property
    def called(self) -> str:
        """The same, short."""
        return self.commit[:10] or self.version or f"{self.started:%m-%d %H:%M}"

    def values(self, figure: FigureName) -> tuple[float, ...]:
        """The figure of each trial that has it."""
        found = (getattr(one, figure) for one in self.trials)
        return tuple(one for one in found if one is not None)


@dataclass(frozen=True, slots=True)
class Series:
    """Points in the order of their commits; those of one machine stand together."""

    key: Key
    figure: FigureName
    points: tuple[Point, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """Median of each point."""
        return tuple(median(one.values(self.figure)) for one in self.points)

    @property
    def machines(self) -> tuple[range, ...]:
        """Points of each machine, by their numbers."""
        starts = [
            at
            for at, one in enumerate(self.points)
            if not at or one.machine != self.points[at - 1].machine
        ]
        return tuple(
            range(start, end)
            for start, end in zip(starts, [*starts[1:], len(self.points)], strict=True)
        )


def series_of(rows: Iterable[TrialRow], order: Mapping[str, int] | None = None) -> list[Series]:
    """All series of some rows; commits by `order` where each of a series has a place there."""
    found: dict[Key, list[TrialRow]] = {}
    for row in rows:
        if row.command not in SEARCHING:
            found.setdefault(key_of(row), []).append(row)
    made = (_series(key, found[key], order or {}) for key in sorted(found))
    return [one for one in made if one is not None]


def unplaced(rows: Iterable[TrialRow], order: Mapping[str, int]) -> list[str]:
    """Commits that have no place in an order."""
    return list(dict.fromkeys(row.commit for row in rows if row.commit not in order))


def key_of(row: TrialRow) -> Key:
    """The series of a trial."""
    values = ", ".join(f"{name}={value}" for name, value in sorted(row.values.items()))
    return Key(
        testbed=row.testbed,
        device=row.device,
        scenario=row.scenario,
        loadtest=row.loadtest,
        frame_bytes="" if row.frame_bytes is None else f"{row.frame_bytes:g}",
        values=values,
        workers="" if row.workers is None else str(row.workers),
        setting=row.setting,
        load=row.load,
    )


def _series(key: Key, rows: Sequence[TrialRow], order: Mapping[str, int]) -> Series | None:
    """None where no point has a figure."""
    by_point: dict[tuple[tuple[str, ...], str], list[TrialRow]] = {}
    for row in rows:
        stamps = tuple(getattr(row, name) or "" for name in MACHINE)
        name = row.commit or row.version or f"{row.started:%Y-%m-%d %H:%M}"
        by_point.setdefault((stamps, name), []).append(row)
    all_points = [_point(stamps, mine) for (stamps, _), mine in by_point.items()]
    figure = _figure(all_points)
    points = [one for one in all_points if one.values(figure)]
    if not points:
        return None
    return Series(key, figure, tuple(_ordered(points, order)))


def _point(stamps: Sequence[str], rows: list[TrialRow]) -> Point:
    sound = sound_rows(rows)
    first = min(rows, key=lambda one: one.started)
    return Point(
        commit=first.commit,
        version=first.version,
        started=first.started,
        machine=dict(zip(MACHINE, stamps, strict=True)),
        trials=sound,
        left_out=len(rows) - len(sound),
    )


def sound_rows(rows: Iterable[TrialRow]) -> tuple[TrialRow, ...]:
    """Valid trials in the order of time; suspect ones only where there are no others."""
    valid = [one for one in rows if one.valid]
    sound = [one for one in valid if not one.suspect] or valid
    return tuple(sorted(sound, key=lambda one: one.started))


def _figure(points: Sequence[Point]) -> FigureName:
    measured = [one for one in points if one.trials]
    known = sum(bool(one.values(CYCLES)) for one in measured)
    return CYCLES if measured and known >= CYCLES_KNOWN * len(measured) else RATE


def _ordered(points: Sequence[Point], order: Mapping[str, int]) -> list[Point]:
    """By machine, the one that measured first first; then by commit."""
    began: dict[tuple[tuple[str, str], ...], datetime] = {}
    for one in points:
        machine = tuple(one.machine.items())
        began[machine] = min(began.get(machine, one.started), one.started)
    known = all(one.commit in order for one in points)

    def place(one: Point) -> tuple[datetime, float, datetime]:
        at = order[one.commit] if known else 0
        return began[tuple(one.machine.items())], at, one.started

    return sorted(points, key=place)
