"""Changes of captured frames by a TRex stateful YAML: IPv6 for IPv4, a port's VLAN tag."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from linerate.traffic.ethernet import IPV4, IPV6, MACS_BYTES, TYPE_BYTES, VLAN, network_of
from linerate.traffic.profile import TrafficError
from linerate.traffic.trex.stateful_document import Json, StatefulDocument

SIDES = ("client", "server")
#: Client's and server's: the stateful mode's names, and those of the advanced stateful mode.
WORDS = ("src_ipv6", "dst_ipv6")
MSBS = ("src_msb", "dst_msb")
NONE = ipaddress.IPv6Address("::")
_IP6_BYTES = 40
#: Their checksums do not cover addresses in IPv4, or they have none in IPv6.
_OF_IPV4 = {1: "ICMP", 2: "IGMP"}


@dataclass(frozen=True, slots=True)
class Frames:
    """Changes of frames beside addresses and ports."""

    #: IPv4 becomes IPv6.
    as_ipv6: bool
    #: The first 96 bits of clients' and of servers' IPv6 addresses.
    prefixes: tuple[ipaddress.IPv6Address, ipaddress.IPv6Address]
    #: Tags by side; a side may have none.
    vlans: Mapping[str, int]

    def made(self, path: Path, number: int, side: str, data: bytes) -> bytes:
        """The frame to be sent for one of a capture; raises TrafficError."""
        if self.as_ipv6:
            data = _as_ipv6(path, number, data)
        if side in self.vlans:
            tag = VLAN.to_bytes(2) + self.vlans[side].to_bytes(2)
            data = data[:MACS_BYTES] + tag + data[MACS_BYTES:]
        return data

    def words(self) -> dict[str, dict[str, str]]:
        """The engine's `ip6_prefixes`, unless they are all zeros."""
        if self.prefixes == (NONE, NONE):
            return {}
        named = zip(SIDES, self.prefixes, strict=True)
        return {"ip6_prefixes": {f"{side}s": str(prefix) for side, prefix in named}}


def read_frames(document: StatefulDocument, top: Json) -> Frames:
    """Read the whole YAML; raises TrafficError."""
    section = document.mapping("ipv6", top.get("ipv6", {}), {"enable", *MSBS})
    as_ipv6 = "ipv6" in top and bool(section.get("enable", True))
    client, server = (
        _prefix(document, top, section, words, msb) for words, msb in zip(WORDS, MSBS, strict=True)
    )
    return Frames(as_ipv6, (client, server), _vlans(document, top))


def _prefix(
    document: StatefulDocument, top: Json, section: Json, words: str, msb: str
) -> ipaddress.IPv6Address:
    if words in top and msb in section:
        raise document.refusal(words, f"expected it or ipv6.{msb}, not both")
    if words in top:
        return _of_words(document, words, top[words])
    try:
        prefix = ipaddress.IPv6Address(str(section.get(msb, NONE)))
    except ValueError as error:
        raise document.refusal(f"ipv6.{msb}", "expected an address such as 2001:db8::") from error
    if int(prefix) & 0xFFFFFFFF:
        raise document.refusal(f"ipv6.{msb}", "expected its last 32 bits to be zero")
    return prefix


def _of_words(document: StatefulDocument, key: str, value: object) -> ipaddress.IPv6Address:
    """Six words of 16 bits, as TRex has it."""
    if not isinstance(value, list) or len(value) != 6 or not all(_is_word(one) for one in value):
        raise document.refusal(key, "expected six numbers of 16 bits")
    return ipaddress.IPv6Address(b"".join(one.to_bytes(2) for one in value) + bytes(4))


def _is_word(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0xFFFF


def _vlans(document: StatefulDocument, top: Json) -> dict[str, int]:
    """`port_info` as in TRex's own configuration file: the tags of port 0 and port 1."""
    ports = top.get("port_info", [])
    if not isinstance(ports, list) or len(ports) > len(SIDES):
        raise document.refusal("port_info", "expected a list of two: port 0's and port 1's")
    found = {}
    for number, (side, port) in enumerate(zip(SIDES, ports, strict=False)):
        where = f"port_info[{number}]"
        tag = document.mapping(where, port, {"vlan"}).get("vlan", 0)
        if not _is_word(tag) or tag > 4094:
            raise document.refusal(f"{where}.vlan", "expected 1 to 4094, or 0 for no tag")
        if tag:
            found[side] = tag
    return found


def _as_ipv6(path: Path, number: int, data: bytes) -> bytes:
    """The same packet over IPv6, options left out; addresses are written when it is sent."""
    kind, at = network_of(data)
    if kind != IPV4:
        return data
    ip = data[at:]
    protocol, header, total = ip[9], (ip[0] & 15) * 4, int.from_bytes(ip[2:4])
    if protocol in _OF_IPV4:
        raise TrafficError(f"{path}: frame {number} is {_OF_IPV4[protocol]}, not had over IPv6")
    payload = ip[header:total]
    words = 6 << 28 | ip[1] << 20
    fixed = words.to_bytes(4) + len(payload).to_bytes(2) + bytes([protocol, ip[8]])
    return (
        data[: at - TYPE_BYTES]
        + IPV6.to_bytes(2)
        + fixed
        + bytes(_IP6_BYTES - len(fixed))
        + payload
    )
