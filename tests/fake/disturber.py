"""A device under test that spoils frames at random, and counts what it did.

`disturber.py IFACE0 IFACE1 SEED KIND=PROBABILITY …` forwards between two interfaces. A frame is
spoiled in one way at most. It prints `ready` when it forwards, and on SIGTERM one line of JSON:
how many frames it forwarded as they were, and how many it spoiled by kind:

- `drop`: is lost
- `duplicate`: goes out twice
- `reorder`: goes out after the next frame
- `delay`: goes out 20 ms later, in whatever order that makes
- `corrupt`: one bit behind the Ethernet header is flipped
- `truncate`: loses its last bytes, at least 9
- `rewrite`: TTL one less and DSCP set, as a router may
- `split`: goes out as two frames
- `inject`: is followed by a frame of random bytes

`late` counts those that went out whole after a later one.
"""

import collections
import heapq
import json
import random
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator

ETH_P_ALL = 3
PACKET_OUTGOING = 4
#: linux/socket.h: a buffer beyond what is usually allowed, so that a busy host costs no frame.
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 64 << 20
ETHERNET_BYTES = 14
IPV4_BYTES = 20
DELAY_SECONDS = 0.02
#: A frame held for the next one is sent after this time without one.
LONGEST_HOLD_SECONDS = 0.05

#: After these faults a frame is no frame of the tester's any more.
BROKEN = ("drop", "corrupt", "truncate", "split")
#: Frames to send instead.
Spoil = Callable[[bytes, random.Random], list[bytes]]
SPOILS: dict[str, Spoil] = {}


def spoil(how: Spoil) -> Spoil:
    """Make a way to spoil frames known by its name."""
    SPOILS[how.__name__] = how
    return how


@spoil
def drop(_frame: bytes, _random: random.Random) -> list[bytes]:
    return []


@spoil
def duplicate(frame: bytes, _random: random.Random) -> list[bytes]:
    return [frame, frame]


@spoil
def corrupt(frame: bytes, draw: random.Random) -> list[bytes]:
    changed = bytearray(frame)
    changed[draw.randrange(ETHERNET_BYTES, len(frame))] ^= 1 << draw.randrange(8)
    return [bytes(changed)]


@spoil
def truncate(frame: bytes, draw: random.Random) -> list[bytes]:
    return [frame[: draw.randrange(ETHERNET_BYTES + IPV4_BYTES, len(frame) - 8)]]


@spoil
def split(frame: bytes, _random: random.Random) -> list[bytes]:
    """In two that both have the headers: the second has the payload's end, but not the whole mark."""
    headers = ETHERNET_BYTES + IPV4_BYTES + 8
    half = len(frame) - 4
    return [frame[:half], frame[:headers] + frame[half:]]


@spoil
def inject(frame: bytes, draw: random.Random) -> list[bytes]:
    return [frame, frame[:ETHERNET_BYTES] + draw.randbytes(draw.randrange(46, 200))]


@spoil
def rewrite(frame: bytes, _random: random.Random) -> list[bytes]:
    header = bytearray(frame[ETHERNET_BYTES : ETHERNET_BYTES + IPV4_BYTES])
    header[1] = 46 << 2
    header[8] -= 1
    header[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    return [frame[:ETHERNET_BYTES] + bytes(header) + frame[ETHERNET_BYTES + IPV4_BYTES :]]


class Device:
    """Forwards, and spoils."""

    def __init__(self, names: list[str], seed: int, chances: dict[str, float]) -> None:
        self.links = tuple(opened(name) for name in names)
        self.counts: collections.Counter[str] = collections.Counter()
        self._draw = random.Random(seed)
        self._kinds = [*chances, "forwarded"]
        self._weights = [*chances.values(), 1 - sum(chances.values())]
        #: When it is due, its number, where it goes.
        self._delayed: list[tuple[float, int, socket.socket, bytes]] = []
        #: For each link out, a frame that waits for the next, its number, and since when.
        self._held: dict[socket.socket, tuple[bytes, int, float]] = {}
        self._number = 0
        self._highest: collections.Counter[socket.socket] = collections.Counter()

    def run(self) -> None:
        """Forward until it is ended."""
        while True:
            self._send_due(time.monotonic())
            for link in select.select(self.links, (), (), 0.005)[0]:
                frame, (_, _, kind, *_) = link.recvfrom(9000)
                if kind != PACKET_OUTGOING:
                    self._take(frame, self.links[link is self.links[0]])

    def _take(self, frame: bytes, out: socket.socket) -> None:
        (kind,) = self._draw.choices(self._kinds, self._weights)
        self.counts[kind] += 1
        self._number += 1
        if kind == "reorder" and out not in self._held:
            self._held[out] = frame, self._number, time.monotonic()
            return
        if kind == "delay":
            due = time.monotonic() + DELAY_SECONDS
            heapq.heappush(self._delayed, (due, self._number, out, frame))
        else:
            if kind not in BROKEN:
                self._note_order(out, self._number)
            for made in SPOILS[kind](frame, self._draw) if kind in SPOILS else [frame]:
                out.send(made)
        self._release(out, time.monotonic())

    def _send_due(self, now: float) -> None:
        while self._delayed and self._delayed[0][0] <= now:
            _, number, out, frame = heapq.heappop(self._delayed)
            self._note_order(out, number)
            out.send(frame)
        for out in self.links:
            self._release(out, now - LONGEST_HOLD_SECONDS)

    def _release(self, out: socket.socket, since: float) -> None:
        """Send what waits since then or longer."""
        if out in self._held and self._held[out][2] <= since:
            frame, number, _ = self._held.pop(out)
            self._note_order(out, number)
            out.send(frame)

    def _note_order(self, out: socket.socket, number: int) -> None:
        self.counts["late"] += number < self._highest[out]
        self._highest[out] = max(self._highest[out], number)


def opened(interface: str) -> socket.socket:
    """Open an interface for all frames."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    link.bind((interface, 0))
    return link


def chances(words: list[str]) -> Iterator[tuple[str, float]]:
    """Read KIND=PROBABILITY."""
    for word in words:
        kind, _, probability = word.partition("=")
        if kind not in SPOILS and kind not in ("reorder", "delay"):
            sys.exit(f"disturber: no such kind: {kind}")
        yield kind, float(probability)


class EndedError(Exception):
    """SIGTERM came."""


def main() -> None:
    """Forward until SIGTERM; then say what was done."""

    def end(_number: int, _frame: object) -> None:
        raise EndedError

    signal.signal(signal.SIGTERM, end)
    device = Device(sys.argv[1:3], int(sys.argv[3]), dict(chances(sys.argv[4:])))
    print("ready", flush=True)
    try:
        device.run()
    except EndedError:
        print(json.dumps(device.counts), flush=True)


main()
