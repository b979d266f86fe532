"""Frames of clients' streams are those that TRex's own simulator recorded of the same streams.

The recordings are TRex's `scripts/exp/*.pcap` (v3.08): here is a digest of each, of all of its
bytes but those that must differ: MAC addresses, which are the port's where the stream leaves them to
it, and the signature, which takes the payload's last bytes. The UDP checksum above a signature is
left out, too: TRex leaves that of the packet where a program changes what it covers, and so makes
it wrong. Ours is looked at by itself: it is right.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.system.trex_server import serving
from tests.trex_client import CLIENT, run_client

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")
PROFILE = Path(__file__).parents[1] / "data" / "trex" / "golden_shapes.py"
MACS_BYTES, SIGNATURE_BYTES = 12, 8
IP_SOURCE, UDP_HEADER, UDP_CHECKSUM, UDP = 26, 34, 40, 17


@dataclass(frozen=True, slots=True)
class Golden:
    """A recording in short."""

    #: Its name in TRex's folder.
    name: str
    frames: int
    digest: str
    #: Bytes of the MAC addresses that the stream writes.
    of_macs: range = range(0)
    signed: bool = True


GOLDENS = {
    "plain": Golden("udp_1pkt", 50, "78cc795593bcc9b0412ba6d4fb83a520"),
    "tuples": Golden("udp_1pkt_tuple_gen", 50, "7a20dcfcb88333975bb83def68c48a5a"),
    "clients": Golden(
        "udp_1pkt_range_clients", 100, "4c05dc07c19d5566994c538881925f7d", of_macs=range(6, 12)
    ),
    "announced": Golden(
        "udp_1pkt_range_clients_split_garp",
        50,
        "512849a4362be0db8ca965966faf3ba3",
        of_macs=range(12),
        signed=False,
    ),
    "masked": Golden(
        "udp_1pkt_mac_mask1", 20, "0b82cbe6508f360dd90cc3cf5cb780a7", of_macs=range(11, 12)
    ),
    "added": Golden(
        "udp_1pkt_mac_mask5", 30, "2a9566d3ff0f319639492ca37181ae3f", of_macs=range(10, 11)
    ),
    "stepped": Golden(
        "udp_1pkt_mac_step", 20, "9b7595a5227ff3142ecf33c5c447848e", of_macs=range(10, 11)
    ),
    "labelled": Golden("udp_1pkt_mpls_vm", 20, "0220de0f46a6c1fca0c945a2eade0be2", signed=False),
    "lengths": Golden("udp_inc_len_9k", 60, "bbd03028b975a9e06b5d78f6e8ae7319"),
    "bursts": Golden("multi_burst_2st_1000pkt", 22, "68f735b3769b7648ed40145453bc4b7f"),
    "looped": Golden("burst_3st_loop_x_times", 12, "c9fe177c1675bbc3c08a067e0a6c5414"),
}


def comparable(frame: bytes, golden: Golden) -> bytes:
    """The frame with those bytes that differ anyway in a form in which they don't."""
    made = bytearray(frame)
    for at in set(range(MACS_BYTES)) - set(golden.of_macs):
        made[at] = 0
    if golden.signed:
        at = len(frame) - SIGNATURE_BYTES & ~1
        made[at : at + SIGNATURE_BYTES] = bytes(SIGNATURE_BYTES)
        made[UDP_CHECKSUM : UDP_CHECKSUM + 2] = bytes(2)
    return bytes(made)


def sums_up(frame: bytes) -> bool:
    """Whether the UDP checksum of a frame without tags and options is right (RFC 768)."""
    covered = frame[IP_SOURCE:] + bytes(len(frame) % 2)
    words = (int.from_bytes(covered[at : at + 2], "big") for at in range(0, len(covered), 2))
    return (sum(words) + UDP + len(frame) - UDP_HEADER) % 0xFFFF == 0


def digest(frames: list[bytes], golden: Golden) -> str:
    """Digest of frames in their order, each with its length."""
    made = hashlib.sha256()
    for frame in frames:
        made.update(len(frame).to_bytes(4, "big") + comparable(frame, golden))
    return made.hexdigest()[:32]


@pytest.mark.smoke
def test_frames_are_those_of_trex(tmp_path: Path) -> None:
    words = [f"{PROFILE}:{shape}:{one.frames}" for shape, one in GOLDENS.items()]
    with serving(tmp_path) as ports:
        made = run_client("golden", (*ports, *words))
    frames = {shape: [bytes.fromhex(one) for one in made[shape]] for shape in GOLDENS}
    found = {shape: digest(frames[shape], golden) for shape, golden in GOLDENS.items()}
    signed = [one for shape, golden in GOLDENS.items() if golden.signed for one in frames[shape]]
    assert len(signed) == sum(one.frames for one in GOLDENS.values() if one.signed)
    assert all(map(sums_up, signed))
    assert found == {shape: golden.digest for shape, golden in GOLDENS.items()}
