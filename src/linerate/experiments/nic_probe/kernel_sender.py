"""Two interfaces of this host: frames go out of one, and are counted as they come to the other."""

import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from linerate.model.flow_rule_frames import ProbeFrame

EACH = 8
#: linux/if_ether.h.
_ALL = 0x0003
#: Nothing came for that time: all has come.
QUIET_SECONDS = 0.05
#: A host without CPU time takes long.
ROUND_SECONDS = 2.0
_BYTES = 2048
_VLAN_AT = 12
#: linux/if_packet.h, struct tpacket_auxdata.
_PACKET_AUXDATA = 8
_SOL_PACKET = 263
_VLAN_VALID = 0x10


class KernelSender:
    """Rounds of frames between two interfaces."""

    each = EACH

    def __init__(self, out: socket.socket, into: socket.socket) -> None:
        """Both are packet sockets, bound to their interface."""
        self._out = out
        self._into = into

    def round(self, frames: Sequence[ProbeFrame]) -> dict[str, int]:
        """Send each frame; how many of each came to the interface, before its tc filters."""
        names = {frame.encode(): frame.name for frame in frames}
        self._fetch({}, Counter(), 0.0)
        came: Counter[str] = Counter()
        for data in names:
            for _ in range(EACH):
                self._out.send(data)
            # A socket's buffer holds few frames.
            self._fetch(names, came, 0.0)
        if came.total() < EACH * len(names):
            self._fetch(names, came, QUIET_SECONDS)
        return dict(came)

    def _fetch(self, names: Mapping[bytes, str], came: Counter[str], seconds: float) -> None:
        """Count what has come, until nothing more does for that time."""
        deadline = time.monotonic() + ROUND_SECONDS
        while time.monotonic() < deadline:
            data = self._receive(seconds)
            if data is None:
                return
            if data in names:
                came[names[data]] += 1

    def _receive(self, seconds: float) -> bytes | None:
        self._into.settimeout(seconds)
        try:
            data, ancillary, _, _ = self._into.recvmsg(_BYTES, 64)
        except (TimeoutError, BlockingIOError):
            return None
        return _with_tag(data, ancillary)


def _with_tag(data: bytes, ancillary: list[tuple[int, int, bytes]]) -> bytes:
    """Put back the VLAN tag that the kernel took off."""
    for level, kind, value in ancillary:
        if (level, kind) == (_SOL_PACKET, _PACKET_AUXDATA) and len(value) >= 20:
            status = int.from_bytes(value[0:4], "little")
            tag = int.from_bytes(value[16:18], "little")
            if status & _VLAN_VALID:
                return data[:_VLAN_AT] + b"\x81\0" + tag.to_bytes(2, "big") + data[_VLAN_AT:]
    return data


@contextmanager
def between(peer: str, interface: str) -> Iterator[KernelSender]:
    """Open both; raises OSError."""
    kind = (socket.AF_PACKET, socket.SOCK_RAW)
    with socket.socket(*kind) as out, socket.socket(*kind, socket.htons(_ALL)) as into:
        out.bind((peer, 0))
        into.bind((interface, _ALL))
        into.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        yield KernelSender(out, into)
