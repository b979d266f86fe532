"""Ports and their owners, and what a port is and does."""

import secrets
from typing import Any

from linerate.trex_server.errors import FailedError
from linerate.trex_server.events import Kind
from linerate.trex_server.layers import Layers
from linerate.trex_server.methods.parameters import Name, OfPort, Owned, Session
from linerate.trex_server.port import DEFAULT, Port
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server


class _Acquired(OfPort):
    user: Name
    session_id: Session
    force: bool = False


@method("acquire", _Acquired)
def acquire(server: Server, asked: _Acquired) -> str:
    """A handler, for a free port or by force."""
    port = server.port(asked.port_id)
    if port.handler is not None and not asked.force:
        raise FailedError(f"port {port.number} is already taken by '{port.owner}'")
    port.owner, port.session = asked.user, asked.session_id
    port.handler = secrets.token_urlsafe(9)
    server.event(
        Kind.PORT_ACQUIRED,
        port,
        who=asked.user,
        session_id=asked.session_id,
        force=asked.force,
    )
    return port.handler


@method("release", Owned)
def release(server: Server, asked: Owned) -> dict[str, Any]:
    """Free a port."""
    port = server.owned(asked.port_id, asked.handler)
    who, session = port.owner, port.session
    port.owner, port.session, port.handler = "", 0, None
    server.event(Kind.PORT_RELEASED, port, who=who, session_id=session)
    return {}


@method("get_owner", OfPort)
def get_owner(server: Server, asked: OfPort) -> dict[str, str]:
    """Owner of a port."""
    return {"owner": server.port(asked.port_id).owner}


@method("get_port_status", OfPort)
def get_port_status(server: Server, asked: OfPort) -> dict[str, Any]:
    """State and attributes of a port."""
    port = server.port(asked.port_id)
    states = {name: profile.state.value for name, profile in port.profiles.items()}
    return {
        "owner": port.owner,
        "state": port.state.value,
        "state_profile": states or {DEFAULT: port.state.value},
        "max_stream_id": port.last_stream_id,
        "service": port.service,
        "service_filtered": False,
        "profile_count": len(port.profiles),
        "rx_info": {
            "queue": _queue(port),
            "grat_arp": {"is_active": False, "interval_sec": 0},
        },
        "attr": attributes(port),
    }


def _queue(port: Port) -> dict[str, Any]:
    if port.queue is None:
        return {"is_active": False, "count": 0, "size": 0}
    return {"is_active": True, "count": port.queue.count, "size": port.queue.order.limit}


def attributes(port: Port) -> dict[str, Any]:
    """Attributes of the link and the layers above it."""
    info, layers = port.addressed, port.layers
    has_next = bool(int(info.next_mac.replace(":", ""), 16))
    return {
        "speed": info.link_bps / 1e9,
        "link": {"up": info.link_up},
        # Tester ports receive every frame.
        "promiscuous": {"enabled": True},
        "multicast": {"enabled": True},
        "fc": {"mode": 0},
        "vxlan_fs": [],
        "vlan": {"tags": list(layers.vlan)},
        "rx_filter_mode": "hw",
        "layer_cfg": {
            "ether": {
                "src": info.mac,
                "dst": info.next_mac,
                "state": "configured" if has_next else "unconfigured",
            },
            "ipv4": _ip4(layers),
            "ipv6": {"enabled": layers.ip6 is not None, "src": layers.ip6 or ""},
        },
    }


def _ip4(layers: Layers) -> dict[str, str]:
    if not layers.is_l3:
        return {"state": "none"}
    state = "resolved" if layers.resolved_mac else "unresolved"
    return {"state": state, "src": layers.src_ip4, "dst": layers.dst_ip4}
