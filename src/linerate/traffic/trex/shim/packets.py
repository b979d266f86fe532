"""Where scapy's layers and fields lie in a packet, and what it needs to be made anywhere."""

from typing import Any

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import NoPayload, Packet, Padding, Raw

#: Defaults of TRex's scapy where a profile gives nothing; ours would ask the host's routes.
DEFAULTS: tuple[tuple[type[Packet], dict[str, str]], ...] = (
    (Ether, {"dst": "00:00:00:01:00:00", "src": "00:00:00:02:00:00"}),
    (IP, {"src": "16.0.0.1", "dst": "48.0.0.1"}),
    (IPv6, {"src": "::", "dst": "::1"}),
)
UNSET_MAC = "00:00:00:00:00:00"
#: Transport layers whose checksums count the payload, and what they are called.
TRANSPORTS: tuple[tuple[type[Packet], str, int], ...] = (
    (UDP, "udp", 6),
    (TCP, "tcp", 16),
)


class ProfileError(Exception):
    """An unsupported request of a profile, in one line."""


def layers_of(packet: Packet) -> list[Packet]:
    """Outermost first."""
    layers = []
    while packet is not None and not isinstance(packet, NoPayload):
        layers.append(packet)
        packet = packet.payload
    return layers


def settled(packet: Packet) -> tuple[Packet, bool, bool]:
    """A copy that depends on no host, and whether it says its own source and destination MAC."""
    packet = packet.copy()
    outer = packet if isinstance(packet, Ether) else None
    src = outer is not None and "src" in outer.fields
    dst = outer is not None and "dst" in outer.fields
    if outer is not None:
        outer.src = outer.src if src else UNSET_MAC
        outer.dst = outer.dst if dst else UNSET_MAC
    for layer in layers_of(packet):
        for kind, values in DEFAULTS:
            if type(layer) is kind:
                for name, value in values.items():
                    if name not in layer.fields:
                        setattr(layer, name, value)
    return packet, src, dst


class Places:
    """Offsets by name, as "IP.src", "IP:1.src", "802|1Q.vlan", "UDP"."""

    def __init__(self, packet: Packet) -> None:
        """For a complete packet."""
        self._layers: list[tuple[Packet, int]] = []
        whole = len(bytes(packet))
        for layer in layers_of(packet):
            self._layers.append((layer, whole - len(bytes(layer))))

    def of_layer(self, text: str) -> int:
        """From "IP" or "IP:1"."""
        return self._find(text)[1]

    def of_field(self, text: str) -> int:
        """From "IP.src" or "IP:1.src": the byte in which it begins."""
        layer_text, dot, field = text.partition(".")
        if not dot:
            raise ProfileError(f"pkt_offset '{text}': expected a layer and a field, as IP.src")
        layer, start = self._find(layer_text.replace("|", "."))
        made: Any = b""
        for described in layer.fields_desc:
            if described.name == field:
                return start + len(made[0] if isinstance(made, tuple) else made)
            made = described.addfield(layer, made, layer.getfieldval(described.name))
        raise ProfileError(f"pkt_offset '{text}': {layer.name} has no field '{field}'")

    def _find(self, text: str) -> tuple[Packet, int]:
        name, colon, number = text.replace("|", ".").partition(":")
        found = [
            (layer, at) for layer, at in self._layers if name in (layer.name, type(layer).__name__)
        ]
        nth = int(number) if colon and number.isdigit() else 0
        if nth >= len(found):
            raise ProfileError(f"offset '{text}': the packet has no such layer")
        return found[nth]

    def payload(self) -> int | None:
        """Where bytes begin that no protocol gives a meaning to; None: there are none."""
        if not self._layers:
            return None
        last, at = self._layers[-1]
        if isinstance(last, (Raw, Padding)):
            while len(self._layers) > 1 and isinstance(last, (Raw, Padding)):
                at = self._layers[-1][1]
                self._layers, last = self._layers[:-1], self._layers[-2][0]
            return at if isinstance(last, (UDP, TCP, IP, IPv6, Ether)) else self._opaque(last, at)
        return at + len(bytes(last)) if isinstance(last, (UDP, TCP, IP, IPv6, Ether)) else None

    def _opaque(self, last: Packet, at: int) -> int | None:
        """A checksum that we don't keep right may count what is behind these."""
        return None if isinstance(last, ICMP) or hasattr(last, "chksum") else at

    def checksums(self, made: bytes) -> list[dict[str, Any]]:
        """Transport checksums that are there, the innermost first."""
        found = []
        for (below, l3), (layer, at) in zip(self._layers, self._layers[1:], strict=False):
            for kind, name, where in TRANSPORTS:
                if not isinstance(layer, kind) or not isinstance(below, (IP, IPv6)):
                    continue
                if made[at + where : at + where + 2] != b"\0\0":
                    found.append({"l3_offset": l3, "l3_bytes": at - l3, "protocol": name})
        return found[::-1]
