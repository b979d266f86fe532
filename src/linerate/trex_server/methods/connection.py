"""Connecting: versions, what the server is and can do, events, the server's end."""

import time
from typing import Annotated, Any

from pydantic import BaseModel, Field

from linerate.trex_server.errors import FailedError
from linerate.trex_server.events import Kind
from linerate.trex_server.methods.parameters import Name, Nothing, Session
from linerate.trex_server.port import Port
from linerate.trex_server.rpc import method, method_names
from linerate.trex_server.server import Server

#: Version of the stateless API: the client's minor may be lower.
API_NAME, API_MAJOR, API_MINOR = "STL", 5, 1
#: The TRex release whose protocol this is.
TREX_VERSION = "v3.08"
#: A driver's name in TRex, which its clients look up; what they don't know is net_virtio.
DRIVERS = {
    "mlx5": "net_mlx5",
    "i40e": "net_i40e",
    "ixgbe": "net_ixgbe",
    "ice": "net_ice",
    "iavf": "net_iavf",
    "e1000": "net_e1000_igb",
    "vmxnet3": "net_vmxnet3",
}
OTHER_DRIVER = "net_virtio"
#: The virtual card's ports, as the engine names their drivers.
VIRTUAL = ("card", "wire")


class _Api(BaseModel):
    name: Name
    major: int
    minor: int


class _Asked(BaseModel):
    session_id: Session


class _Barrier(BaseModel):
    key: Annotated[int, Field(ge=0, lt=1 << 64)]
    baseline: bool = False


class _Shutdown(BaseModel):
    user: Name
    force: bool = False


@method("api_sync_v2", _Api, free=True)
def api_sync(server: Server, asked: _Api) -> dict[str, str]:
    """A handle, if client and server speak the same version."""
    if asked.name != API_NAME:
        raise FailedError(f"api: '{asked.name[:20]}': expected {API_NAME}: stateless mode only")
    if asked.major != API_MAJOR or asked.minor > API_MINOR:
        raise FailedError(
            f"api: client's is {asked.major}.{asked.minor}; "
            f"expected {API_MAJOR}.0 to {API_MAJOR}.{API_MINOR}"
        )
    return {"api_h": server.api_handle}


@method("get_version", Nothing, free=True)
def get_version(server: Server, _: Nothing) -> dict[str, str]:
    """Version and mode of the server."""
    return {
        "version": TREX_VERSION,
        "mode": API_NAME,
        "build_date": "",
        "build_time": "",
        "built_by": f"linerate {server.options.version}",
    }


@method("get_supported_cmds", Nothing, free=True)
def get_supported(_server: Server, _: Nothing) -> list[str]:
    """Names of all methods."""
    return method_names()


@method("ping", Nothing, free=True)
def ping(_server: Server, _: Nothing) -> dict[str, float]:
    """The server's clock, for starts at a time."""
    return {"ts": time.time()}


@method("get_system_info", Nothing)
def get_system_info(server: Server, _: Nothing) -> dict[str, Any]:
    """The host, and its tester ports."""
    return {
        "dp_core_count": 1,
        "dp_core_count_per_port": 1,
        "core_type": "linerate",
        "hostname": server.host,
        "uptime": f"{server.clock() - server.started_at:.0f} s",
        "is_multiqueue_mode": False,
        "advanced_per_stream_stats": True,
        "port_count": len(server.ports),
        "ports": [_port(port) for port in server.ports],
    }


def _port(port: Port) -> dict[str, Any]:
    info = port.info
    known = (name for word, name in DRIVERS.items() if word in info.driver)
    return {
        "index": port.number,
        "driver": next(known, OTHER_DRIVER),
        "description": f"{info.name} ({info.driver})",
        "pci_addr": info.pci_address,
        "numa": info.numa_node,
        "hw_mac": info.mac,
        "speed": info.link_bps / 1e9,
        "supp_speeds": [round(info.link_bps / 1e6)],
        "cores": [0],
        "rx": {"counters": 1024, "caps": ["flow_stats", "latency", "rx_bytes"]},
        "is_fc_supported": False,
        "is_led_supported": False,
        "is_link_supported": False,
        "is_prom_supported": False,
        "is_vxlan_supported": False,
        "is_ieee1588_supported": False,
        "is_virtual": info.driver in VIRTUAL,
    }


@method("get_async_events", _Asked)
def get_async_events(server: Server, asked: _Asked) -> dict[str, Any]:
    """Events since the last call of a session."""
    return {"data": server.events.taken(asked.session_id, server.clock())}


@method("publish_now", _Barrier)
def publish_now(server: Server, asked: _Barrier) -> dict[str, Any]:
    """A barrier behind all events so far."""
    server.events.add_barrier(asked.key, asked.baseline)
    return {}


@method("get_global_cfg", Nothing)
def get_global_cfg(_server: Server, _: Nothing) -> dict[str, Any]:
    """Settings that TRex's scheduler has; ours has none of them."""
    return {"sched_max_stretch": 0}


@method("shutdown", _Shutdown)
def shutdown(server: Server, asked: _Shutdown) -> dict[str, Any]:
    """End the server, unless a port sends for somebody else."""
    others = [port for port in server.ports if port.owner not in ("", asked.user)]
    if others and not asked.force:
        raise FailedError(f"port {others[0].number}: '{others[0].owner}' has it: use force")
    cause = {"cause": f"shutdown by '{asked.user[:80]}'"}
    server.events.add(Kind.SERVER_STOPPED, cause)
    server.is_ended = True
    return {}
