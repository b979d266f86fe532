"""A box: a device under test that somebody else set up, and that is asked by commands.

Its answers are kept as they came, with times: they are judged again whenever a run is.
"""

import re
from collections.abc import Sequence
from ipaddress import ip_interface
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from linerate.base.frozen_model import FrozenModel, StrictModel

#: When a box was asked: once a run, before the first packet, twice within the load, after the
#: last; what was sampled within the load is read once that is over.
Moment = Literal["facts", "before", "load", "profile", "after"]

#: Login and host are names or addresses: an option of ssh's can't be smuggled in.
_SSH = re.compile(
    r"ssh://(?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
)
_NAMED = re.compile(r"(?:netns|container):[A-Za-z0-9][\w.-]*")


def _place(value: str) -> str:
    if value == "local" or _SSH.fullmatch(value) or _NAMED.fullmatch(value):
        return value
    raise ValueError(
        f"expected local, netns:NAME, container:NAME or ssh://LOGIN@HOST, not '{value}'"
    )


#: Where a box's commands run.
At = Annotated[str, AfterValidator(_place)]


def _address(value: str) -> str:
    try:
        return str(ip_interface(value))
    except ValueError as error:
        raise ValueError(f"expected an address as 100.64.1.1/30, not '{value}'") from error


#: An address and the length of its prefix: `100.64.1.1/30`, `fd00::1/64`.
InterfaceAddress = Annotated[str, AfterValidator(_address)]


class BoxPort(StrictModel):
    """A port of a box, as it is named there."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_./:@-]{0,63}$")
    address: InterfaceAddress | None = None


#: Names of counters in a command's answer; what is lost or consumed is named by what follows.
COUNTER = re.compile(
    r"(?:(?P<port>e[0-9]{1,2})_)?(?:(?P<kind>lost|consumed)_(?P<place>\w+)|(?P<counter>[a-z]\w*))"
)


def _counters(value: str) -> str:
    """A pattern whose groups are counters' names."""
    try:
        names = tuple(re.compile(value).groupindex)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"no regular expression: {error}") from error
    if not names:
        raise ValueError("expected a named group, as (?P<e0_rx_packets>[0-9]+)")
    for name in names:
        match = COUNTER.fullmatch(name)
        if match is None or not (match["port"] or match["kind"]):
            raise ValueError(
                "expected groups named e0_COUNTER, e1_COUNTER, lost_NAME, e0_lost_NAME or "
                f"consumed_NAME, not '{name}'"
            )
    return value


class Command(StrictModel):
    """A command of the user's for a box, and how counters are read from its answer."""

    run: str = Field(min_length=1, max_length=4096)
    #: A regular expression whose named groups are counters: `e0_rx_packets`, `e0_lost_NAME`,
    #: `lost_NAME`, `consumed_NAME`. All its matches count, a counter's numbers are added up.
    counters: Annotated[str, AfterValidator(_counters)] | None = None
    #: A parser of ours that reads it instead, by the name of its file: `vpp_errors`.
    parser: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]{0,40}$")


class Answer(FrozenModel):
    """Answer of a box to one command."""

    moment: Moment
    #: Short name of what was asked: `show errors`.
    question: str
    command: str
    #: Microseconds since 1970, by the lab's clock; and until the batch that it was in was answered.
    asked_us: int
    took_us: int
    text: str = ""
    #: Why there is no text, in one line.
    problem: str = ""


class BoxAnswers(FrozenModel):
    """All that a box answered in one trial."""

    #: Kind of box, and where its commands ran.
    kind: str
    at: str
    #: Its ports, by the names that ledgers use: `e0`, `e1`.
    ports: dict[str, str]
    #: MAC addresses that the testbed file has frames sent to, by port.
    macs: dict[str, str] = {}
    #: CPUs of the tester's, where both are on one host: what they do is no forwarding.
    tester_cpus: tuple[int, ...] = ()
    answers: tuple[Answer, ...] = ()
    #: Why counters of this trial are incomplete, in one line each.
    problems: tuple[str, ...] = ()
    #: Why it was not asked within the load.
    doubts: tuple[str, ...] = ()

    def batches(self, moment: Moment) -> list[tuple[Answer, ...]]:
        """Answers of a moment, a tuple for each batch, in the order of time."""
        found: dict[int, list[Answer]] = {}
        for answer in self.answers:
            if answer.moment == moment:
                found.setdefault(answer.asked_us, []).append(answer)
        return [tuple(found[asked_us]) for asked_us in sorted(found)]

    def followed_by(self, later: "BoxAnswers") -> "BoxAnswers":
        """The same with what it answered later in the trial."""
        return self.model_copy(
            update={
                "answers": (*self.answers, *later.answers),
                "problems": (*self.problems, *later.problems),
                "doubts": (*self.doubts, *later.doubts),
            }
        )


def texts(answers: Sequence[Answer]) -> dict[str, str]:
    """By question, the answers of a batch; those that failed left out."""
    return {answer.question: answer.text for answer in answers if not answer.problem}
