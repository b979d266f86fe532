"""Addresses of ports: L2, IPv4, IPv6, VLAN."""

import ipaddress
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from linerate.trex_server.errors import FailedError
from linerate.trex_server.layers import Layers
from linerate.trex_server.methods.parameters import Owned
from linerate.trex_server.port import Port
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

VLAN_MAX = 4094


def _ip4(text: str) -> str:
    return str(ipaddress.IPv4Address(text))


def _ip6(text: str) -> str:
    if "%" in text:
        raise ValueError("expected an address without a zone")
    return str(ipaddress.IPv6Address(text)) if text else ""


Mac = Annotated[
    str, StringConstraints(pattern=r"^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$", to_lower=True)
]
Ip4 = Annotated[str, Field(max_length=15), AfterValidator(_ip4)]
Ip6 = Annotated[str, Field(max_length=45), AfterValidator(_ip6)]
Tag = Annotated[int, Field(ge=1, le=VLAN_MAX)]


class _L2(Owned):
    dst_mac: Mac


class _L3(Owned):
    src_addr: Ip4
    dst_addr: Ip4
    resolved_mac: Mac | None = None


class _Ip6(Owned):
    enabled: bool
    src_ipv6: Ip6 = ""


class _Vlan(Owned):
    vlan: Annotated[tuple[Tag, ...], Field(max_length=2)]


@method("set_l2", _L2)
def set_l2(server: Server, asked: _L2) -> dict[str, Any]:
    """Where frames go; the port has no IPv4 address any more."""
    return _change(
        server,
        asked,
        lambda layers: Layers(dst_mac=asked.dst_mac, ip6=layers.ip6, vlan=layers.vlan),
    )


@method("set_l3", _L3)
def set_l3(server: Server, asked: _L3) -> dict[str, Any]:
    """An IPv4 address, a neighbour, and its MAC address once the client has resolved it."""
    return _change(
        server,
        asked,
        lambda layers: replace(
            layers,
            dst_mac="",
            src_ip4=asked.src_addr,
            dst_ip4=asked.dst_addr,
            resolved_mac=asked.resolved_mac or "",
        ),
    )


@method("conf_ipv6", _Ip6)
def conf_ipv6(server: Server, asked: _Ip6) -> dict[str, Any]:
    """An IPv6 address, the link-local one alone, or none."""
    ip6 = asked.src_ipv6 if asked.enabled else None
    return _change(server, asked, lambda layers: replace(layers, ip6=ip6))


@method("set_vlan", _Vlan)
def set_vlan(server: Server, asked: _Vlan) -> dict[str, Any]:
    """Tags of the frames that the port answers with; those of streams are the streams' own."""
    return _change(server, asked, lambda layers: replace(layers, vlan=asked.vlan))


def _change(server: Server, asked: Owned, change: Callable[[Layers], Layers]) -> dict[str, Any]:
    port = _settled(server.owned(asked.port_id, asked.handler))
    before, after = port.layers, change(port.layers)
    mac = port.info.mac
    if (before.addresses(mac), before.vlan) != (after.addresses(mac), after.vlan):
        server.engine.set_addresses(port.info.name, after.addresses(mac), after.vlan)
    port.set_layers(after)
    return {}


def _settled(port: Port) -> Port:
    """The port, which does not send; raises FailedError."""
    if any(profile.is_active for profile in port.profiles.values()):
        raise FailedError(f"port {port.number}: is sending: stop it first")
    return port
