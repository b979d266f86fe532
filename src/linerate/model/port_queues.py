"""Queues, descriptor rings and RSS of ports: the same words for a virtual card and for a real one.

What a real device takes, it says itself: the engine refuses the rest in one line.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from linerate.base.frozen_model import StrictModel

#: Queues of a port, in each direction.
QueueCount = Annotated[int, Field(ge=1, le=16)]
#: Input of an RSS hash: addresses of a packet of that kind, and ports where it has some.
RssField = Literal[
    "ipv4",
    "ipv4-frag",
    "ipv4-tcp",
    "ipv4-udp",
    "ipv4-sctp",
    "ipv4-other",
    "ipv6",
    "ipv6-frag",
    "ipv6-tcp",
    "ipv6-udp",
    "ipv6-sctp",
    "ipv6-other",
]


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError("expected a power of two from 32 to 32768")
    return value


#: Descriptors of one of the virtual card's rings.
CardRing = Annotated[int, Field(ge=32, le=32768), AfterValidator(_power_of_two)]


class PortQueues(StrictModel):
    """Queues of a DPDK device; None is the engine's choice (docs/engine-configuration.md)."""

    rx_queues: QueueCount | None = None
    #: None: one a worker.
    tx_queues: QueueCount | None = None
    #: Descriptors a queue.
    rx_ring: int | None = Field(default=None, ge=1, le=32768)
    tx_ring: int | None = Field(default=None, ge=1, le=32768)
    rss: tuple[RssField, ...] | None = None

    @field_validator("rss")
    @classmethod
    def _some_field(cls, value: tuple[RssField, ...] | None) -> tuple[RssField, ...] | None:
        if value is not None and not value:
            raise ValueError("expected one field or more, as [ipv4, ipv4-udp]")
        return value

    def queue_keys(self) -> dict[str, Any]:
        """The same in the engine's configuration."""
        names = set(PortQueues.model_fields)
        return self.model_dump(mode="json", include=names, exclude_none=True)
