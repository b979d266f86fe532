"""Lines for OpenWrt: uci, so that they stay, and what makes them hold."""

from collections.abc import Sequence
from ipaddress import ip_interface, ip_network

from linerate.lab.box.configuration import any_of, register
from linerate.model.box_setup import Missing, Wanted


class OpenWrtConfiguration:
    """Named sections of /etc/config/network and /etc/config/firewall: none is made twice."""

    name = "openwrt"

    def lines(self, missing: Sequence[Missing]) -> tuple[str, ...]:
        """A port is an interface of netifd; the firewall forwards between those of a zone."""
        found = []
        for one in missing:
            wanted = one.wanted
            if one:
                # The others refer to it.
                found += _interface(wanted)
            if one.route:
                found += _section("route", wanted, {
                    "target": str(ip_network(wanted.network, strict=False)),
                    "gateway": wanted.neighbor,
                })  # fmt: skip
            if one.neighbor:
                found += _section("neighbor", wanted, {
                    "ipaddr": wanted.neighbor, "mac": wanted.neighbor_mac,
                })  # fmt: skip
        if found:
            found += _zone([one.wanted for one in missing])
        if any_of(missing, "forwarding"):
            found.append("sysctl -w net.ipv4.ip_forward=1")
        return tuple(found)

    def command(self, line: str, _socket: str) -> str:
        """The line itself."""
        return line


def _name(wanted: Wanted) -> str:
    """Name of the interface of a port: netifd takes letters, digits and underscores."""
    return f"linerate_{wanted.tester}"


def _interface(wanted: Wanted) -> list[str]:
    address = ip_interface(wanted.address)
    key = f"network.{_name(wanted)}"
    return [
        f"uci set {key}=interface",
        f"uci set {key}.proto='static'",
        f"uci set {key}.device='{wanted.port}'",
        f"uci set {key}.ipaddr='{address.ip}'",
        f"uci set {key}.netmask='{address.netmask}'",
    ]


def _section(kind: str, wanted: Wanted, options: dict[str, str]) -> list[str]:
    key = f"network.{_name(wanted)}_{kind}"
    of_interface = {"interface": _name(wanted)} | options
    return [
        f"uci set {key}={kind}",
        *(f"uci set {key}.{name}='{value}'" for name, value in of_interface.items()),
    ]


def _zone(sides: Sequence[Wanted]) -> list[str]:
    key = "firewall.linerate"
    networks = " ".join(_name(wanted) for wanted in sides)
    return [
        f"uci set {key}=zone",
        f"uci set {key}.name='linerate'",
        f"uci set {key}.network='{networks}'",
        *(f"uci set {key}.{way}='ACCEPT'" for way in ("input", "output", "forward")),
        "uci commit",
        "/etc/init.d/network reload",
        "/etc/init.d/firewall reload",
    ]


register(OpenWrtConfiguration())
