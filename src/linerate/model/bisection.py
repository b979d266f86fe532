"""Record of a bisection: trials as they were measured, and commits that were left out."""

from pydantic import Field

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import published


class Trial(FrozenModel):
    """Figures of one trial: more of either is dearer."""

    #: Cycles of each node for each packet that entered by a port.
    nodes: dict[str, float]
    #: Time between two packets received, nanoseconds.
    packet_ns: float


class Round(FrozenModel):
    """Trials that were measured one after the other."""

    #: Commit that was measured between the ends, all digits; none: the ends alone.
    commit: str = ""
    good: Trial
    middle: Trial | None = None
    bad: Trial


class LeftOut(FrozenModel):
    """A commit that can't be measured."""

    commit: str
    reason: str


@published("bisect-state", "`state.json` of `linerate bisect`", form="kept")
class BisectionRecord(FrozenModel):
    """All that was measured, in its order: with it a bisection goes on where it stopped."""

    #: Versions, build and traffic; those of another question are not gone on with.
    question: dict[str, str]
    #: Commits that were built, or whose build was tried.
    built: tuple[str, ...] = ()
    events: tuple[Round | LeftOut, ...] = ()
    #: Time that was spent on it, seconds.
    seconds: float = Field(default=0.0, ge=0)
