"""Port at which each frame of a capture enters, by its source."""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from linerate.traffic.capture.capture_file import Frame
from linerate.traffic.ethernet import ARP, IPV4, IPV6, network_of
from linerate.traffic.profile import TrafficError

PORTS = ("t0", "t1")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
#: Where an IPv4, IPv6 or ARP header has the sender's and the receiver's address, and how long.
_ENDS = {IPV4: (12, 16, 4), IPV6: (8, 24, 16), ARP: (14, 24, 4)}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Sides:
    """MAC addresses and networks on either side; none: the first frame's sender is t0's."""

    t0: tuple[str, ...] = ()
    t1: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ends:
    """Sender and receiver of a frame."""

    macs: tuple[bytes, bytes]
    addresses: tuple[bytes, bytes] | None


def check_end(text: str) -> str:
    """Return a MAC address or a network as it is compared; raises ValueError."""
    if _MAC.fullmatch(text.lower()):
        return text.lower()
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise ValueError(
            f"expected a network as 10.0.0.0/8 or a MAC address, not '{text}'"
        ) from None


def sides_of(path: Path, frames: Sequence[Frame], sides: Sides) -> list[int]:
    """0 for each frame that enters at t0, 1 for t1; raises TrafficError for one of neither."""
    ends = [_ends(frame.data) for frame in frames]
    if not sides.t0 and not sides.t1:
        return _by_first(path, ends)
    groups = [_Group(sides.t0), _Group(sides.t1)]
    return [_side(path, number, end, groups) for number, end in enumerate(ends, start=1)]


def _by_first(path: Path, ends: Sequence[_Ends]) -> list[int]:
    senders: list[bytes] = []
    found = []
    for number, end in enumerate(ends, start=1):
        sender = end.macs[0]
        if sender not in senders:
            if len(senders) == len(PORTS):
                known = " nor ".join(
                    f"{_mac(mac)} ({port})" for mac, port in zip(senders, PORTS, strict=True)
                )
                raise TrafficError(
                    f"{path}: frame {number}: from {_mac(sender)}, neither {known}; "
                    "expected sides: {t0: […]} with networks or MAC addresses"
                )
            senders.append(sender)
        found.append(senders.index(sender))
    return found


class _Group:
    """Addresses of one side."""

    def __init__(self, words: Sequence[str]) -> None:
        self.given = bool(words)
        self._macs = {
            bytes.fromhex(word.replace(":", "")) for word in words if _MAC.fullmatch(word)
        }
        networks = [ipaddress.ip_network(word) for word in words if not _MAC.fullmatch(word)]
        self._within: list[Callable[[bytes], bool]] = [_within(one) for one in networks]

    def has(self, mac: bytes, address: bytes | None) -> bool:
        """Whether a sender or receiver is one of it."""
        if mac in self._macs:
            return True
        return address is not None and any(within(address) for within in self._within)


def _within(network: Network) -> Callable[[bytes], bool]:
    size, shift = network.max_prefixlen // 8, network.max_prefixlen - network.prefixlen
    prefix = int(network.network_address) >> shift
    return lambda address: (
        len(address) == size and int.from_bytes(address, "big") >> shift == prefix
    )


def _side(path: Path, number: int, ends: _Ends, groups: Sequence[_Group]) -> int:
    """By its sender; by its receiver where one side is everything beyond the other's addresses."""
    sent, received = (
        [
            group.has(ends.macs[end], ends.addresses[end] if ends.addresses else None)
            for group in groups
        ]
        for end in (0, 1)
    )
    if all(sent):
        raise TrafficError(f"{path}: frame {number}: from {_message(ends)}: of both sides")
    if any(sent):
        return sent.index(True)
    if received.count(True) == 1 and not all(group.given for group in groups):
        return 1 - received.index(True)
    raise TrafficError(
        f"{path}: frame {number}: from {_message(ends)}: of neither side; "
        "expected its network or MAC address in sides"
    )


def _ends(frame: bytes) -> _Ends:
    macs = (frame[6:12], frame[:6])
    kind, at = network_of(frame)
    if kind not in _ENDS:
        return _Ends(macs, None)
    src, dst, size = _ENDS[kind]
    if len(frame) < at + dst + size:
        return _Ends(macs, None)
    return _Ends(macs, (frame[at + src : at + src + size], frame[at + dst : at + dst + size]))


def _message(ends: _Ends) -> str:
    mac = _mac(ends.macs[0])
    return f"{ipaddress.ip_address(ends.addresses[0])} ({mac})" if ends.addresses else mac


def _mac(mac: bytes) -> str:
    return mac.hex(":")
