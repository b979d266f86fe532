"""Addresses of a port as a client set them: where its frames go, and what it answers to."""

from dataclasses import dataclass

NO_MAC = "00:00:00:00:00:00"
#: Bit of a MAC address that says it was given by hand; EUI-64 has its opposite (RFC 4291 A).
LOCAL_BIT = 0x02


@dataclass(frozen=True, slots=True)
class Layers:
    """Addresses that were set; by default none: frames go where the testbed sends them."""

    #: Destination of frames whose stream leaves it to the port; empty: the testbed's.
    dst_mac: str = ""
    #: IPv4 address of the port, and the neighbour that it sends to; empty: L2 alone.
    src_ip4: str = ""
    dst_ip4: str = ""
    #: The neighbour's MAC address, as the client resolved it; empty: not resolved.
    resolved_mac: str = ""
    #: None: off; empty: link-local alone.
    ip6: str | None = None
    #: Tags of the port's own frames, the outer one first.
    vlan: tuple[int, ...] = ()

    @property
    def is_l3(self) -> bool:
        """Whether the port has an IPv4 address."""
        return bool(self.src_ip4)

    def next_mac(self, testbeds: str) -> str:
        """Where frames go; `testbeds` unless a client has set it."""
        if self.is_l3:
            return self.resolved_mac or NO_MAC
        return self.dst_mac or testbeds

    def addresses(self, mac: str) -> tuple[str, ...]:
        """Addresses that the port answers to, with prefix lengths."""
        found = [f"{self.src_ip4}/32"] if self.is_l3 else []
        if self.ip6 is not None:
            found.append(f"{self.ip6 or link_local(mac)}/64")
        return tuple(found)


def link_local(mac: str) -> str:
    """Link-local address made of a MAC address (RFC 4291 A)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    whole = bytes((octets[0] ^ LOCAL_BIT,)) + octets[1:3] + b"\xff\xfe" + octets[3:]
    return "fe80::" + ":".join(whole[at : at + 2].hex() for at in range(0, 8, 2))
