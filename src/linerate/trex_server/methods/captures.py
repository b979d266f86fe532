"""Captures of frames, and queues of received ones, which are captures of one port."""

import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from linerate.trex_server.captures import FRAMES_MAX, Capture, Order
from linerate.trex_server.errors import FailedError
from linerate.trex_server.methods.parameters import Owned, PortNumber
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

SNAP_MIN, SNAP_MAX = 14, 9728
#: A command of the engine has room for so much of a filter.
Filter = Annotated[str, StringConstraints(max_length=800, pattern=r"^[ -~]*$")]
Ports = Annotated[frozenset[PortNumber], Field(max_length=256)]
Limit = Annotated[int, Field(ge=1, le=FRAMES_MAX)]


class _Command(BaseModel):
    command: Literal["start", "stop", "fetch", "status", "remove"]
    capture_id: Annotated[int, Field(ge=0)] = 0
    pkt_limit: Annotated[int, Field(ge=1)] = 1000
    rx: Ports = frozenset()
    tx: Ports = frozenset()
    limit: Annotated[int, Field(ge=0)] = 1000
    mode: Literal["fixed", "cyclic"] = "fixed"
    filter: Filter = ""
    snaplen: Annotated[int, Field(ge=0)] | None = None
    endpoint: str | None = None


@method("capture", _Command)
def capture(server: Server, asked: _Command) -> Any:  # noqa: ANN401 (by command)
    """Start, stop, fetch, list or remove captures."""
    if asked.command == "status":
        server.captures.take()
        return [one.status() for one in server.captures.all()]
    if asked.command == "start":
        made = server.captures.started(_order(server, asked), time.time())
        return {"capture_id": made.number, "start_ts": made.started_at}
    found = server.captures.capture(asked.capture_id)
    if asked.command == "stop":
        found.stop()
        return {"pkt_count": found.count}
    if asked.command == "remove":
        server.captures.remove(asked.capture_id)
        return {}
    found.take()
    return {
        "pkts": found.fetched(asked.pkt_limit, asked.snaplen or None),
        "pending": found.count,
        "start_ts": found.started_at,
    }


def _order(server: Server, asked: _Command) -> Order:
    if asked.endpoint:
        raise FailedError("capture: endpoint: the server connects to none: fetch the frames")
    if not 1 <= asked.limit <= FRAMES_MAX:
        raise FailedError(f"capture: limit: {asked.limit}: expected 1 to {FRAMES_MAX} frames")
    if not asked.rx | asked.tx:
        raise FailedError("capture: rx, tx: expected ports")
    for number in asked.rx | asked.tx:
        if not server.port(number).service:
            raise FailedError(f"capture: port {number}: is not in service mode")
    snap = max(SNAP_MIN, min(asked.snaplen, SNAP_MAX)) if asked.snaplen else None
    return Order(asked.rx, asked.tx, asked.limit, asked.mode == "cyclic", asked.filter, snap)


class _Feature(Owned):
    type: Literal["queue", "server"]
    enabled: bool
    size: Limit = 1000


@method("set_rx_feature", _Feature)
def set_rx_feature(server: Server, asked: _Feature) -> dict[str, Any]:
    """A queue of the frames that a port received last, or none."""
    port = server.owned(asked.port_id, asked.handler)
    if asked.type != "queue":
        raise FailedError(f"set_rx_feature {asked.type}: not supported")
    if port.queue is not None:
        port.queue.remove()
        port.queue = None
    if asked.enabled:
        order = Order(frozenset((port.number,)), frozenset(), asked.size, is_cyclic=True)
        source = server.start_capture(port.number, order)
        port.queue = Capture(0, order, {port.number: source}, time.time())
    return {}


@method("get_rx_queue_pkts", Owned)
def get_rx_queue_pkts(server: Server, asked: Owned) -> dict[str, Any]:
    """Frames of the queue, which is emptied."""
    port = server.owned(asked.port_id, asked.handler)
    if port.queue is None:
        raise FailedError(f"port {port.number}: has no queue: set_rx_feature makes one")
    port.queue.take()
    return {"pkts": port.queue.fetched(FRAMES_MAX)}
