"""Whether a testbed's wires carry frames as long as a profile's."""

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MIN
from linerate.model.testbed import Testbed
from linerate.traffic.ethernet import TAG_BYTES, tags_of
from linerate.traffic.profile import Profile, Stream, TrafficError
from linerate.traffic.sizes import frame_bytes_of, is_cut

#: Limit of links other than the card's, FCS counted and VLAN tags not: an IP packet of 1500 bytes.
FRAME_BYTES_MAX = 1518
#: Limit of our ports, a VLAN tag counted.
PORT_BYTES_MAX = FRAME_BYTES_MAX + TAG_BYTES
_TAGS_MAX = 2
#: Part of a template that holds more tags than count.
_HEAD_BYTES = 32


def check_carried(profile: Profile, testbed: Testbed) -> None:
    """Raise TrafficError for frames that can't leave the tester, or of which none can arrive.

    What is longer than a card's `max_frame_bytes` the card drops, and counts.
    """
    _check_connections(profile, testbed)
    longest = max((_untagged(stream) for stream in profile.streams), default=0)
    if testbed.wire == "card":
        most = testbed.card.max_frame_bytes
        shortest = min((_shortest(stream) for stream in profile.streams), default=0)
        if shortest > most:
            raise TrafficError(
                f"traffic '{profile.name}': no frame under {shortest} bytes, and the card takes "
                f"{most}, FCS counted; try --card max_frame={longest}"
            )
    elif longest > FRAME_BYTES_MAX:
        raise TrafficError(
            f"traffic '{profile.name}': frames of {longest} bytes; wire {testbed.wire} carries "
            f"{FRAME_BYTES_MAX}, FCS counted; try wire: card with --card max_frame={longest}"
        )


def _check_connections(profile: Profile, testbed: Testbed) -> None:
    """Templates are sent whole or not at all: one frame that is too long is one too many."""
    most = testbed.card.max_frame_bytes if testbed.wire == "card" else PORT_BYTES_MAX
    for template in (profile.connections or {}).get("templates", ()):
        longest = max(len(one["frame"]) // 2 + FCS_BYTES for one in template["packets"])
        if longest > most:
            raise TrafficError(
                f"traffic '{profile.name}': template {template['name']} has frames of {longest} "
                f"bytes, and the port takes {most}, FCS counted; capture it without offloads"
                + f", or try --card max_frame={longest}"
                * (testbed.wire == "card")
            )


def _untagged(stream: Stream) -> int:
    """Bytes of its frames without their VLAN tags."""
    return frame_bytes_of(stream) - TAG_BYTES * min(_TAGS_MAX, _tags(stream))


def _shortest(stream: Stream) -> int:
    """The same of those that a program cuts."""
    return FRAME_BYTES_MIN if is_cut(stream) else _untagged(stream)


def _tags(stream: Stream) -> int:
    if "template" not in stream:
        return sum("vlan" in layer for layer in stream.get("layers", ()))
    return len(tags_of(bytes.fromhex(str(stream["template"])[: 2 * _HEAD_BYTES])))
