"""Order in which testbeds take units.

Each block has a home, where all of its units are measured: versions are compared on one machine.
Only what a testbed that is gone, or set aside, leaves is measured elsewhere.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from linerate.experiments.campaign.units import home
from linerate.model.campaign import Block, Unit


@dataclass
class Bench:
    """A testbed as the queue sees it."""

    #: Attempts in a row without a valid result.
    invalid: int = 0
    #: Why it gets no more work in this `run`.
    aside: str = ""
    #: Whether a worker owns it now; and whether it is known, too, what that can do.
    owned: bool = False
    there: bool = False
    #: Whether it had no worker for longer than a campaign waits.
    gone: bool = False

    @property
    def left(self) -> bool:
        """Whether its work may go elsewhere."""
        return self.gone or bool(self.aside)


@dataclass
class WorkQueue:
    """Units that are still to be measured, in their order."""

    blocks: Mapping[Block, Iterable[Unit]]
    #: Testbeds that can measure a block, as far as that is known.
    able: Callable[[Block], list[str]]
    benches: dict[str, Bench]
    tries: int
    invalid_in_row: int
    #: By key, attempts so far, and the reason why the last one gave nothing.
    attempts: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    #: Keys of units that are being measured.
    busy: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._open = {block: list(units) for block, units in self.blocks.items()}
        self.learn()

    def learn(self) -> None:
        """Take in new knowledge of what testbeds can do."""
        self._able = {block: self.able(block) for block in self._open}
        self._home = {block: home(block, able) for block, able in self._able.items()}

    def open_units(self) -> list[Unit]:
        """Units without a result."""
        return [unit for units in self._open.values() for unit in units]

    def next_for(self, testbed: str) -> Unit | None:
        """Take the next unit for a testbed; None: it has nothing to do now."""
        bench = self.benches[testbed]
        if not bench.there or bench.aside:
            return None
        for belongs in (self._at_home, self._left_behind):
            for block, units in self._open.items():
                if belongs(block, testbed) and (unit := self._first(units)):
                    self.busy.add(unit.key)
                    return unit
        return None

    def measured(self, testbed: str, unit: Unit) -> None:
        """A unit has its result."""
        self.busy.discard(unit.key)
        self.benches[testbed].invalid = 0
        left = [one for one in self._open[unit.block] if one.key != unit.key]
        if left:
            self._open[unit.block] = left
        else:
            del self._open[unit.block]

    def nothing(self, testbed: str, unit: Unit, reason: str) -> None:
        """An attempt gave no valid result; after several in a row the testbed is set aside."""
        self.busy.discard(unit.key)
        self.attempts[unit.key] = self.attempts.get(unit.key, 0) + 1
        self.reasons[unit.key] = reason
        # It is tried again after the others of its block.
        self._open[unit.block].sort(key=lambda one: one.key == unit.key)
        bench = self.benches[testbed]
        bench.invalid += 1
        if bench.invalid >= self.invalid_in_row:
            bench.aside = f"{bench.invalid} in a row without a result, the last one: {reason}"

    def returned(self, unit: Unit) -> None:
        """An attempt that never was: its worker is gone."""
        self.busy.discard(unit.key)

    def hopeless(self, unit: Unit, reason: str) -> None:
        """A unit that this `run` does not try again; no fault of the testbed's."""
        self.busy.discard(unit.key)
        self.attempts[unit.key] = self.tries
        self.reasons[unit.key] = reason

    def waiting(self) -> bool:
        """Whether a unit is left that some testbed may still measure."""
        return any(
            self.attempts.get(unit.key, 0) < self.tries
            and any(not self.benches[name].left for name in self._able[block])
            for block, units in self._open.items()
            for unit in units
        )

    def _at_home(self, block: Block, testbed: str) -> bool:
        return self._home[block] == testbed

    def _left_behind(self, block: Block, testbed: str) -> bool:
        """Whether its home can't measure it now, and this testbed can."""
        at = self._home[block]
        return at is not None and self.benches[at].left and testbed in self._able[block]

    def _first(self, units: list[Unit]) -> Unit | None:
        for unit in units:
            if unit.key not in self.busy and self.attempts.get(unit.key, 0) < self.tries:
                return unit
        return None
