"""Places of loss, each put into a running box, and where linerate must find the packets."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from linerate.analysis.explain import Verdict
from linerate.model.measurement import Measurement
from linerate.model.testbed import Testbed

#: Share of the lost packets that must be at the place, and how many may be elsewhere.
LOCATED_SHARE = 0.99
#: Cause of what the box loses by itself under this load: nothing.
NOTHING = "nothing"
#: The link takes no more than the box: nothing is lost, and the verdict says why it is slow.
PUSHED_BACK = "pushed back"
#: A port that has sent this number is under load; it is waited for no longer than that.
LOADED_PACKETS = 100
LOADED_SECONDS = 20
#: Bursts at full rings, of all that was sent.
BURSTS_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class Place:
    """One way to lose packets in a box."""

    name: str
    #: Commands on the box that begin it, and those that end it.
    begin: tuple[str, ...]
    end: tuple[str, ...]
    #: Names of the place in the ledger, as a pattern; `unexplained` where the box counts nothing.
    at: str
    #: Limit of the verdict.
    limit: str = "configuration"
    #: Words of the verdict's sentence, where the ledger has no place.
    says: str = ""
    #: Share of the line.
    load: float = 0.3
    frame_bytes: int = 64
    #: Whether frames are labelled.
    labels: bool = False
    #: Shortest trial in which it shows, in seconds.
    seconds_min: float = 0.0
    ttl: int = 64
    dont_fragment: bool = False
    #: Words of the reason for which the trial has no result, as it must not have one.
    invalid: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A box that is set up for trials."""

    kind: str
    testbed: Testbed
    #: Runs a command where the box is.
    run: Callable[[str], None]
    places: tuple[Place, ...]
    #: Places that this host can't make, and why.
    left_out: dict[str, str] = field(default_factory=dict)


#: Makes a box and its testbed; both are gone on exit.
MakeBox = Callable[[], AbstractContextManager[Box]]


@dataclass(frozen=True, slots=True)
class Located:
    """Where linerate found the packets of one trial."""

    kind: str
    place: Place
    lost: int
    unexplained: int
    #: Packets at the place that was put in, and at others.
    here: int
    elsewhere: dict[str, int]
    verdict: Verdict
    invalid: tuple[str, ...]
    sent: int = 0

    @property
    def right(self) -> bool:
        """Whether the packets are where they were lost, and the verdict names it."""
        if self.place.invalid not in "; ".join(self.invalid):
            return False
        if self.place.at == NOTHING:
            return self.lost == 0 and self.unexplained == 0 and not self.elsewhere
        says = self.place.says in self.verdict.sentence
        named = self.verdict.limit == self.place.limit and says
        if self.place.at == PUSHED_BACK:
            return self.lost <= BURSTS_SHARE * self.sent and named
        return self.lost > 0 and self.here >= LOCATED_SHARE * self.lost and named

    @property
    def invented(self) -> bool:
        """Whether packets are booked at a place that lost none."""
        if self.place.at == PUSHED_BACK:
            return sum(self.elsewhere.values()) > max(self.lost, BURSTS_SHARE * self.sent)
        return sum(self.elsewhere.values()) > (1 - LOCATED_SHARE) * max(1, self.lost)


def located(kind: str, place: Place, measurement: Measurement, verdict: Verdict,
            invalid: tuple[str, ...]) -> Located:  # fmt: skip
    """Compare a trial with what was put in."""
    ledger = measurement.packets
    losses = dict(ledger.losses)
    lost = max(0, ledger.sent - ledger.received)
    unexplained = max(0, ledger.unexplained)
    places = losses | ({"unexplained": unexplained} if unexplained else {})
    elsewhere = {name: n for name, n in places.items() if not re.search(place.at, name)}
    here = sum(places.values()) - sum(elsewhere.values())
    return Located(kind, place, lost, unexplained, here, elsewhere, verdict, invalid, ledger.sent)


def once_loaded(port: str, command: str) -> str:
    """A shell's command line that runs a command once the port of the box sends packets."""
    sent = f"$(cat /sys/class/net/{port}/statistics/tx_packets)"
    waits = f"n={sent}; until [ {sent} -gt $((n + {LOADED_PACKETS})) ]; do sleep 0.02; done"
    return f"timeout {LOADED_SECONDS} sh -c '{waits}; {command}' >/dev/null 2>&1 &"


@contextmanager
def begun(box: Box, place: Place) -> Iterator[None]:
    """The loss is put in, and taken out again."""
    try:
        for command in place.begin:
            box.run(command)
        yield
    finally:
        for command in place.end:
            box.run(command)
