"""Captures, queues of received frames, addresses of ports: none of them is there yet."""

from typing import Any

from pydantic import BaseModel

from linerate.trex_server.errors import FailedError
from linerate.trex_server.methods.parameters import Name, OfPort, Owned
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

#: Need frames between the engine and its control side.
LATER = (
    "get_rx_queue_pkts",
    "set_l2",
    "set_l3",
    "set_vlan",
    "conf_ipv6",
)


class _Capture(BaseModel):
    command: Name


class _Feature(Owned):
    type: Name
    enabled: bool


@method("capture", _Capture)
def capture(_server: Server, asked: _Capture) -> list[dict[str, Any]]:
    """No capture is there to be listed or stopped; none can be started."""
    if asked.command == "status":
        return []
    raise FailedError(f"capture {asked.command[:20]}: not available yet")


@method("set_rx_feature", _Feature)
def set_rx_feature(server: Server, asked: _Feature) -> dict[str, Any]:
    """Off is what each feature is."""
    server.owned(asked.port_id, asked.handler)
    if asked.enabled:
        raise FailedError(f"set_rx_feature {asked.type[:20]}: not available yet")
    return {}


def _later(name: str) -> None:
    @method(name, OfPort)
    def refuse(_server: Server, _asked: OfPort) -> Any:  # noqa: ANN401 (never answers)
        raise FailedError(f"{name}: not available yet")


for _name in LATER:
    _later(_name)
