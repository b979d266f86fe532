"""Timed streams of a profile, and whether all of their frames are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MIN
from linerate.model.suites.loadtest import TIMED_ONE_IN, Streams, partly_timed
from linerate.traffic.profile import Profile, Stream, TrafficError, has_signature
from linerate.traffic.weights import fitted

#: The engine's: latency streams, and what stands at the end of their frames.
STREAMS_MAX = 128
SIGNATURE_BYTES, STAMP_BYTES = 8, 6
HEADER_BYTES = {"vlan": 4, "mpls": 4, "ipv4": 20, "ipv6": 40, "udp": 8, "tcp": 20}
ETHERNET_BYTES = 14
#: A stream of whose frames each has its time or its place can't be parted in two.
WHOLE = frozenset(("burst", "bursts", "start_us", "places", "at"))

Part = Literal["all", "some", "none"]


@dataclass(frozen=True, slots=True)
class Timing:
    """Timing of a stream of a profile, beside the stream as it is sent."""

    part: Part
    sent: dict[str, Any]


def part_of(stream: Stream) -> Part:
    """Part of its frames that can be timed."""
    if not has_signature(stream) or not has_room(stream):
        return "none"
    return "all" if stream.get("latency") or not WHOLE.isdisjoint(stream) else "some"


def has_room(stream: Stream) -> bool:
    """Whether a time stamp and a signature hit nothing but payload."""
    if "template" in stream:
        return bool(stream.get("timeable", stream.get("latency", False)))
    end = int(stream.get("frame_bytes", FRAME_BYTES_MIN)) - FCS_BYTES
    at = (end - SIGNATURE_BYTES & ~1) - STAMP_BYTES
    kinds = [kind for layer in stream.get("layers", ()) for kind in layer]
    return at >= ETHERNET_BYTES + sum(HEADER_BYTES.get(kind, 0) for kind in kinds)


def check_timeable(profile: Profile) -> None:
    """Raise TrafficError for a profile of which no frame can be timed, or too many streams."""
    timed = sum(part_of(stream) != "none" for stream in profile.streams)
    if not timed:
        raise TrafficError(
            f"latency: '{profile.name}' has no frame with {SIGNATURE_BYTES + STAMP_BYTES} bytes of "
            "payload for a signature and a time stamp (captures have none); expected longer frames"
        )
    if timed > STREAMS_MAX:
        raise TrafficError(
            f"latency: '{profile.name}' has {timed:,} streams to time; "
            f"expected at most {STREAMS_MAX}"
        )


def timed(timings: Sequence[Timing]) -> Streams:
    """The streams of a direction; the mix stays as it is where weights alone say it."""
    if all(one.part != "some" for one in timings):
        return [_whole(one) for one in timings]
    made: Streams = []
    for one in timings:
        if one.part == "some":
            made += partly_timed(one.sent)
        else:
            made.append(_whole(one) | {"weight": one.sent["weight"] * TIMED_ONE_IN})
    weights = fitted([stream["weight"] for stream in made])
    return [stream | {"weight": weight} for stream, weight in zip(made, weights, strict=True)]


def _whole(timing: Timing) -> dict[str, Any]:
    return timing.sent | ({"latency": True} if timing.part == "all" else {})
