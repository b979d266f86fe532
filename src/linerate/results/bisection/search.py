"""The order of a bisection: what is to be measured next, of what was measured so far.

It decides by the rounds alone, in their order, so that the same rounds always lead to the same
place: a bisection that was killed goes on by being given what it had measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

from linerate.model.bisection import LeftOut, Round
from linerate.results.bisection.ends import Followed, followed
from linerate.results.bisection.looks import looks
from linerate.results.bisection.sides import side_of
from linerate.results.statistics import SIGNIFICANCE

#: Share of the probability of an error for what is decided of good and bad themselves.
ENDS_SHARE = 0.4
#: Tests for which there is room at the first look at good and bad; more make it a later one.
FAMILY = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """Bounds of a bisection."""

    #: Probability of a wrong answer, at most.
    significance: float = SIGNIFICANCE
    #: Smaller changes from good to bad are none, per cent.
    least_percent: float = 3.0
    #: Rounds of one commit, at most.
    rounds_max: int = 40


@dataclass(frozen=True, slots=True)
class Wanted:
    """The next round: a trial of good, of a commit between, and of bad."""

    #: The commit between; empty: the ends alone.
    commit: str
    #: Rounds of it that were measured, and at which the next look is.
    done: int
    look_at: int


class Bisection:
    """A line of commits, the first known as good, the last as bad; raises ValueError if shorter."""

    def __init__(self, commits: Sequence[str], asked: Asked) -> None:
        if len(commits) < 2:
            raise ValueError("expected two commits or more")
        self.commits = tuple(commits)
        self.asked = asked
        #: Places in the line: the last one known as good, the first one known as bad.
        self.low, self.high = 0, len(commits) - 1
        self.followed: Followed | None = None
        #: Rounds of good and bad alone.
        self.ends: list[Round] = []
        #: By place, rounds of commits between.
        self.rounds: dict[int, list[Round]] = {}
        #: By place, why a commit can't be measured.
        self.left_out: dict[int, str] = {}
        self._places = {commit: place for place, commit in enumerate(commits)}
        self._error = (1 - ENDS_SHARE) * asked.significance
        self._looks = looks(ENDS_SHARE * asked.significance, FAMILY)
        self._look = next(self._looks)
        self._place = 0
        #: Share of the error of the commit at that place.
        self._share = 0.0

    @property
    def wanted(self) -> Wanted | None:
        """The next round; None at the end."""
        if self.is_stuck or (self.followed is not None and not self._place):
            return None
        rounds = len(self._current)
        commit = self.commits[self._place] if self._place else ""
        return Wanted(commit, rounds, self._look[0])

    @property
    def is_stuck(self) -> bool:
        """Whether the rounds that are allowed can't decide."""
        return self._look[0] > self.asked.rounds_max

    @property
    def undecided(self) -> int:
        """Place of the commit that the rounds could not place; 0: none, or the ends themselves."""
        return self._place if self.is_stuck else 0

    @property
    def step(self) -> int:
        """Number of the present step; the first one is that of good and bad."""
        return 1 if self.followed is None else max(2, 1 + len(self.rounds))

    @property
    def steps_after(self) -> int:
        """Commits to be placed after the present step, about."""
        return ceil(log2(self.high - self.low)) - (self.followed is not None)

    @property
    def error(self) -> float:
        """Share of the error of the look that is next."""
        return self._look[1]

    @property
    def _current(self) -> list[Round]:
        return self.rounds.setdefault(self._place, []) if self._place else self.ends

    def take(self, event: Round | LeftOut) -> None:
        """Go on by a round that was wanted, or without a commit; others change nothing."""
        if isinstance(event, LeftOut):
            place = self._places.get(event.commit, 0)
            if self.low < place < self.high:
                self.left_out[place] = event.reason
                if place == self._place:
                    self._error += 0.0 if self._current else self._share
                    self._choose()
            return
        wanted = self.wanted
        if wanted is None or event.commit != wanted.commit:
            return
        self._current.append(event)
        if len(self._current) == self._look[0]:
            self._decide()

    def _decide(self) -> None:
        """Look at the rounds of the present commit, or of the ends."""
        share = self._look[1]
        if self.followed is None:
            self.followed = followed(self.ends, share, self.asked.least_percent)
            if self.followed is not None:
                self._choose()
                return
        elif side := side_of(self._current, self.followed, share):
            if side == "above":
                self.high = self._place
            else:
                self.low = self._place
            self._choose()
            return
        self._look = next(self._looks)

    def _choose(self) -> None:
        """The commit nearest to the middle that can be measured, with its share of the error.

        Of the error that is left, a share for each step that may come, and one that stays: however
        many steps come, as commits are left out, their shares are never more than all of it.
        """
        between = [place for place in range(self.low + 1, self.high) if place not in self.left_out]
        middle = (self.low + self.high) / 2
        self._place = min(between, key=lambda place: abs(place - middle), default=0)
        if self._place:
            self._share = self._error / (self.steps_after + 2)
            self._error -= self._share
            self._looks = looks(self._share)
            self._look = next(self._looks)
