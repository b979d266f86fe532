"""Methods of TRex that are refused, each with its reason."""

from typing import Any

from linerate.trex_server.errors import FailedError
from linerate.trex_server.methods.parameters import Nothing
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

_TPG = "tagged packet groups are not supported"
REASONS = {
    "push_remote": "captures are not read from the server's files: use push_pcap, which sends them",
    "conf_ns_batch": "namespaces are not supported",
    "start_capture_port": "capture ports are not supported",
    "stop_capture_port": "capture ports are not supported",
    "set_capture_port_bpf": "capture ports are not supported",
    "set_global_cfg": "the server's settings can't be changed by clients",
    "enable_tpg": _TPG,
    "disable_tpg": _TPG,
    "get_tpg_state": _TPG,
    "get_tpg_stats": _TPG,
    "get_tpg_tags": _TPG,
    "update_tpg_tags": _TPG,
    "get_async_results": "nothing is done in the background",
    "cancel_async_task": "nothing is done in the background",
}


@method("get_tpg_status", Nothing)
def get_tpg_status(_server: Server, _: Nothing) -> dict[str, Any]:
    """Off: asked by each forced acquire."""
    return {"enabled": False, "data": {}}


def _refused(name: str, reason: str) -> None:
    @method(name, Nothing)
    def refuse(_server: Server, _asked: Nothing) -> Any:  # noqa: ANN401 (never answers)
        raise FailedError(f"{name}: {reason}")


for _name, _reason in REASONS.items():
    _refused(_name, _reason)
