"""Frames that a client sends one by one."""

import base64
import binascii
import time
from typing import Annotated

from pydantic import BaseModel, Field

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MAX
from linerate.trex_server.errors import FailedError
from linerate.trex_server.methods.parameters import OfPort
from linerate.trex_server.port import Port
from linerate.trex_server.pushes import WAITING_MAX
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

MAC_BYTES, HEADER_BYTES = 6, 14
FRAMES_MAX = WAITING_MAX
US_PER_S = 1_000_000
#: Longest time from the first frame of a call to its last.
BATCH_US_MAX = US_PER_S


class _Frame(BaseModel):
    binary: Annotated[str, Field(max_length=1 << 15)]
    use_port_dst_mac: bool = False
    use_port_src_mac: bool = False


class _Pushed(OfPort):
    pkts: Annotated[tuple[_Frame, ...], Field(min_length=1, max_length=FRAMES_MAX)]
    ipg_usec: Annotated[float, Field(ge=0, le=BATCH_US_MAX)] = 0


@method("push_pkts", _Pushed)
def push_pkts(server: Server, asked: _Pushed) -> dict[str, float]:
    """Send frames out of a port that somebody owns: clients give no handler here."""
    port = server.port(asked.port_id)
    if port.handler is None:
        raise FailedError(f"port {port.number}: not acquired")
    if len(asked.pkts) * asked.ipg_usec > BATCH_US_MAX:
        raise FailedError(f"push_pkts: {len(asked.pkts)} frames: expected all in a second")
    frames = [_sent(frame, port) for frame in asked.pkts]
    now = time.time()
    server.pushes.add(port.info.name, frames, asked.ipg_usec / US_PER_S, server.clock())
    return {"ts": now, "sent": len(frames)}


def _sent(frame: _Frame, port: Port) -> bytes:
    try:
        data = base64.b64decode(frame.binary, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FailedError("push_pkts: binary: expected base64") from error
    if not HEADER_BYTES <= len(data) <= FRAME_BYTES_MAX - FCS_BYTES:
        raise FailedError(f"push_pkts: frame of {len(data)} bytes")
    dst, src = data[:MAC_BYTES], data[MAC_BYTES : 2 * MAC_BYTES]
    if frame.use_port_dst_mac:
        dst = bytes.fromhex(port.addressed.next_mac.replace(":", ""))
    if frame.use_port_src_mac:
        src = bytes.fromhex(port.info.mac.replace(":", ""))
    return dst + src + data[2 * MAC_BYTES :]
