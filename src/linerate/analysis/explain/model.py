"""A verdict: the limit, the reasons, and the evidence."""

from typing import Literal, get_args

from linerate.base.frozen_model import FrozenModel
from linerate.model.evidence import Quote

Limit = Literal[
    "line",
    "tester",
    "pcie",
    "card-pps",
    "single-rx-queue",
    "rss-mpls",
    "rss-imbalance",
    "worker-cpu",
    "cache-contention",
    "shared-direction",
    "tx-ring",
    "rx-ring",
    "handoff-ring",
    "syscall",
    "lock",
    "flow-offload",
    "link",
    "shaper",
    "descheduled",
    "configuration",
    "unexplained",
    "invalid",
    "none",
    "unknown",
]
LIMITS: tuple[Limit, ...] = get_args(Limit)

Confidence = Literal["high", "medium", "low"]


class Ceiling(FrozenModel):
    """A rate that one resource can't exceed, over all directions that carry traffic."""

    #: Resource: `link`, `tester`, `pcie`, `card-pps`, `worker forwarder-0`, …
    name: str
    #: The limit that it stands for when it is reached.
    limit: Limit
    mpps: float
    #: The arithmetic, with its figures and where its formula comes from.
    derivation: str


class Finding(FrozenModel):
    """Result of one rule."""

    limit: Limit
    confidence: Confidence
    #: One sentence, with figures, that stands by itself.
    sentence: str
    evidence: tuple[Quote, ...] = ()
    #: Next steps, the most promising first.
    try_: tuple[str, ...] = ()
    #: Share of the packets lost at exhausted resources that this accounts for, 0 to 1.
    explains: float = 1.0


class Verdict(FrozenModel):
    """The limiting resource, and the reasons."""

    limit: Limit
    #: Other limits that hold as well, or are within the error of the first.
    also: tuple[Limit, ...] = ()
    confidence: Confidence
    sentence: str
    evidence: tuple[Quote, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    try_: tuple[str, ...] = ()
    #: Outputs that would make it surer, as commands of the system that the pasted ones are of.
    send_next: tuple[str, ...] = ()
    #: Where the rule comes from: a datasheet, a manual, a measurement.
    reference: str = ""
    #: Losses that somebody configured, which are no limit: place and packets.
    configured: dict[str, int] = {}
