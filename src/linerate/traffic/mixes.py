"""Profiles by name: published mixes of frame sizes, and single sizes.

Sizes count the FCS. `imix` is what everybody means by it, seven frames of 64 bytes, four of 594
and one of 1518: the IP packets of 40, 576 and 1500 bytes of old backbones in Ethernet frames. The
others are presets that several vendors' testers share, with the figures that OpenConfig's Ondatra
documents for them (its `Flow.WithFrameSizeIMIX…`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from linerate.base.line_rate import FRAME_BYTES_MAX, FRAME_BYTES_MIN
from linerate.model.suites import NETWORKS
from linerate.traffic.profile import Profile, Stream, TrafficError

#: Flows of a direction, shared by the sizes of a mix: as in the published IMIX.
FLOWS = 1194
#: The destination port of a size's flows is so much above it: no two sizes share a flow.
FIRST_PORT = 12

#: By name: frames of each size, FCS counted.
MIXES: dict[str, tuple[tuple[int, int], ...]] = {
    "imix": ((64, 7), (594, 4), (1518, 1)),
    "imix-570": ((64, 7), (570, 4), (1518, 1)),
    "imix-ipsec": ((90, 5867), (92, 200), (594, 2366), (1418, 1567)),
    "imix-tcp": ((90, 5867), (92, 200), (594, 2366), (1518, 1567)),
    "imix-tolly": ((64, 55), (78, 5), (576, 17), (1518, 23)),
    "imix-rpr": ((64, 60), (512, 20), (1518, 20)),
}
#: Sizes that a shell completes to: RFC 2544's.
SIZES = ("64", "128", "256", "512", "1024", "1280", "1518")


def udp(side: int, frame_bytes: int, flows: int, weight: int, places: Sequence[int] = ()) -> Stream:
    """UDP of one size, between the networks behind the two sides."""
    src, dst = (f"{NETWORKS[end]}.1" for end in (side, 1 - side))
    return {
        "name": f"{frame_bytes}-t{side}",
        "port": side,
        "frame_bytes": frame_bytes,
        "weight": weight,
        "layers": [
            {"ethernet": {}},
            {"ipv4": {"src": src, "dst": dst, "ttl": 64}},
            {"udp": {"src": 1025, "dst": FIRST_PORT + frame_bytes}},
        ],
        "flows": {"count": flows, "order": "uniform"},
        **({"places": list(places)} if places else {}),
    }


def check_size(text: str, frame_bytes: int) -> int:
    """Return a size that a frame may have; raises TrafficError."""
    if FRAME_BYTES_MIN <= frame_bytes <= FRAME_BYTES_MAX:
        return frame_bytes
    raise TrafficError(
        f"traffic '{text}': expected sizes of {FRAME_BYTES_MIN} to {FRAME_BYTES_MAX} bytes, "
        f"FCS counted; not {frame_bytes}"
    )


@dataclass(frozen=True, slots=True)
class Mixes:
    """`imix` and its relatives."""

    name: str = "mix"

    def recognises(self, text: str) -> bool:
        """By name."""
        return text.lower() in MIXES

    def read(self, text: str) -> Profile:
        """One stream a size, both ways."""
        mix = MIXES[text.lower()]
        sizes = "/".join(str(size) for size, _ in mix)
        ratio = ":".join(str(count) for _, count in mix)
        streams = (
            udp(side, size, FLOWS // len(mix), count) for side in (0, 1) for size, count in mix
        )
        return Profile(text.lower(), f"{ratio} of {sizes} B UDP", tuple(streams))

    def words(self, typed: str) -> list[str]:
        """Names that begin so."""
        return [name for name in MIXES if name.startswith(typed.lower())]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Frames of one size: `64`."""

    name: str = "size"

    def recognises(self, text: str) -> bool:
        """A number."""
        return text.isascii() and text.isdigit()

    def read(self, text: str) -> Profile:
        """One stream each way."""
        size = check_size(text, int(text[:9]))
        streams = tuple(udp(side, size, FLOWS, 1) for side in (0, 1))
        return Profile(f"{size}B", f"{size} B UDP", streams)

    def words(self, typed: str) -> list[str]:
        """RFC 2544's sizes that begin so."""
        return [size for size in SIZES if size.startswith(typed)]
