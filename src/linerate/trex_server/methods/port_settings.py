"""Settings of a port."""

from typing import Any

from linerate.trex_server.errors import FailedError
from linerate.trex_server.methods.parameters import Owned
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

#: Attributes as they are on a tester port, whatever is asked.
FIXED: dict[str, dict[str, Any]] = {
    "promiscuous": {"enabled": True},
    "multicast": {"enabled": True},
    "link_status": {"up": True},
    "flow_ctrl_mode": {"mode": 0},
    "rx_filter_mode": {"mode": "hw"},
}


class _Attributes(Owned):
    attr: dict[str, Any]


class _Service(Owned):
    enabled: bool
    filtered: bool = False


@method("set_port_attr", _Attributes)
def set_port_attr(server: Server, asked: _Attributes) -> dict[str, Any]:
    """Accept what the port is anyway; refuse what it can't be."""
    port = server.owned(asked.port_id, asked.handler)
    for name, value in asked.attr.items():
        # A port that receives every frame does what a filter for its own would let through.
        if name in ("promiscuous", "multicast") or FIXED.get(name) == value:
            continue
        raise FailedError(f"port {port.number}: {name[:40]}: can't be changed here")
    return {}


@method("service", _Service)
def service(server: Server, asked: _Service) -> dict[str, Any]:
    """Service mode, in which clients may capture frames; those that come are counted anyway."""
    port = server.owned(asked.port_id, asked.handler)
    if asked.filtered:
        raise FailedError(f"port {port.number}: filtered service mode: not supported")
    if asked.enabled and any(profile.is_active for profile in port.profiles.values()):
        raise FailedError(f"port {port.number}: is sending: stop it before service mode")
    if not asked.enabled:
        for capture in server.captures.of_port(port.number):
            capture.stop()
    port.service = asked.enabled
    return {}
