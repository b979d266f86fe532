"""A router that is given frames and asked what it made of them, one case after the other.

Its ports are DPDK's pcap devices, that read from FIFOs: the router's worker waits in the read
until a whole vector has come, works on it, and waits again. So each case has vectors of its
own, filled up with frames that are plainly forwarded, and all that it caused has happened when
the vector after it was worked on too.
"""

import fcntl
import itertools
import os
import struct
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from scapy.compat import raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import mac2str

from linerate.engine.engine_process import Engine, Files

VECTOR = 256
PIPE_BYTES = 1 << 20
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
RECORD = struct.Struct("<IIII")
FILLER = b"fills the vector"

#: The hosts at the router's ports, by port.
HOSTS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71", "50:7c:6f:20:30:72")
#: The router's own addresses, the hosts', and a network behind each host.
ROUTER = ("100.64.0.1", "100.64.1.1", "100.64.2.1")
HOST = ("100.64.0.2", "100.64.1.2", "100.64.2.2")
NETWORK = ("16.0.0", "48.0.0", "80.0.0")
#: Port e2's frames are short: 1000 bytes behind the Ethernet header.
MAX_FRAME_BYTES = (1518, 1518, 1018)
SMALL_MTU = 1000

ROUTER6 = ("2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1")
HOST6 = ("2001:db8:0:1::2", "2001:db8:0:2::2", "2001:db8:0:3::2")
NETWORK6 = ("2001:db8:100:", "2001:db8:200:", "2001:db8:300:")

Frame: TypeAlias = Packet | bytes
Sent: TypeAlias = tuple[int, Frame]

_numbers = itertools.count()


def ip4_config(**more: list[Any]) -> dict[str, Any]:
    """Three ports with a subnet each, a host on it, and a network behind the host."""
    base: dict[str, list[Any]] = {
        "interfaces": [
            {"port": f"e{p}", "addresses": [f"{ROUTER[p]}/24"], "mpls": True} for p in range(3)
        ],
        "routes": [{"prefix": f"{NETWORK[p]}.0/24", "via": HOST[p]} for p in range(3)],
        "neighbors": [{"port": f"e{p}", "address": HOST[p], "mac": HOSTS[p]} for p in range(3)],
    }
    return {key: base.get(key, []) + more.get(key, []) for key in {*base, *more}}


def ip6_config() -> dict[str, Any]:
    """The same with IPv6 beside IPv4."""
    config = ip4_config(
        routes=[{"prefix": f"{NETWORK6[p]}:/48", "via": HOST6[p]} for p in range(3)],
        neighbors=[{"port": f"e{p}", "address": HOST6[p], "mac": HOSTS[p]} for p in range(3)],
    )
    for p, interface in enumerate(config["interfaces"]):
        interface["addresses"].append(f"{ROUTER6[p]}/64")
    return config


def engine_config(folder: Path, router: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"conformance-{os.getpid()}-{next(_numbers)}",
        "memory": {"megabytes": 512},
        "ports": [
            {
                "name": f"e{p}",
                "driver": "ethdev",
                "device": f"net_pcap{p}",
                "devargs": f"rx_pcap={folder}/in{p}.pcap,tx_pcap={folder}/out{p}.pcap",
                "max_frame_bytes": MAX_FRAME_BYTES[p],
            }
            for p in range(3)
        ],
        "forwarder": {"mode": "router", "ports": ["e0", "e1", "e2"], "router": router},
    }


@dataclass(frozen=True)
class Outcome:
    """The router's output for one case's frames."""

    out: tuple[list[bytes], ...]
    #: Counts of each "node: reason" during the case.
    reasons: dict[str, int] = field(default_factory=dict)

    def only(self, port: int) -> Packet:
        """The one frame that came out, which came out of that port."""
        counts = [len(frames) for frames in self.out]
        assert counts == [int(p == port) for p in range(len(counts))], self
        return Ether(self.out[port][0])

    @property
    def nothing(self) -> bool:
        return not any(self.out)

    def dropped(self, node: str, words: str) -> bool:
        """The node counted exactly one packet under a reason that has those words."""
        found = [
            count
            for reason, count in self.reasons.items()
            if reason.startswith(f"{node}: ") and words in reason
        ]
        return found == [1]

    def __repr__(self) -> str:
        shown = [
            f"e{p}: {Ether(frame).summary()}"
            for p, frames in enumerate(self.out)
            for frame in frames
        ]
        return f"Outcome(out={shown}, reasons={self.reasons})"


class _Fifo:
    """One port's way in: its device reads what is written here."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._fd = os.open(path, os.O_RDWR)
        fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.write(self._fd, PCAP_HEADER)

    def write(self, frames: list[bytes]) -> None:
        data = b"".join(RECORD.pack(0, 0, len(f), len(f)) + f for f in frames)
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        os.close(self._fd)


class _Capture:
    """One port's way out, read as it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = len(PCAP_HEADER)

    def read(self) -> list[bytes]:
        with self._path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        frames, start = [], 0
        while start + RECORD.size <= len(data):
            length = RECORD.unpack_from(data, start)[2]
            end = start + RECORD.size + length
            if end > len(data):
                break
            frames.append(data[start + RECORD.size : end])
            start = end
        self._at += start
        return frames


class Router:
    """The engine with three pcap ports; a context manager."""

    def __init__(self, folder: Path, router: dict[str, Any]) -> None:
        self._fifos = [_Fifo(folder / f"in{p}.pcap") for p in range(3)]
        self._captures = [_Capture(folder / f"out{p}.pcap") for p in range(3)]
        files = Files(folder / "engine.json", folder / "engine.log")
        self._engine = Engine(engine_config(folder, router), files)
        self._rounds = 0
        self.macs: tuple[str, ...] = ()

    def __enter__(self) -> "Router":
        self._engine.__enter__()
        self._telemetry = self._engine.connect()
        rows = self._telemetry.table("/linerate/ports")
        self.macs = tuple(row["mac"].lower() for row in rows)
        self._reasons = self._read_reasons()
        return self

    def __exit__(self, *_: object) -> None:
        self._telemetry.close()
        # The end of its input, so that the worker waits no longer.
        for fifo in self._fifos:
            fifo.close()
        self._engine.stop()

    def ask(self, command: str) -> Any:
        return self._telemetry.ask(command)

    def _read_reasons(self) -> Counter[str]:
        rows = self._telemetry.table("/linerate/errors")
        reasons: Counter[str] = Counter()
        for row in rows:
            reasons[f"{row['node']}: {row['reason']}"] += row["packets"]
        return reasons

    def _filler(self, port: int) -> bytes:
        to = (port + 1) % 3
        ip = IP(src=f"{NETWORK[port]}.99", dst=f"{NETWORK[to]}.99")
        payload = FILLER + self._rounds.to_bytes(4, "big")
        return bytes(raw(self.ether(port) / ip / UDP() / Raw(payload)))

    def ether(self, port: int, **fields: Any) -> Packet:
        """The Ethernet header of a frame from the port's host to the router."""
        return Ether(**{"src": HOSTS[port], "dst": self.macs[port], **fields})

    def _round(self, sent: list[list[bytes]]) -> list[list[bytes]]:
        """One vector a port; what came out until the fillers at the vectors' ends did."""
        self._rounds += 1
        for port in range(3):
            count = VECTOR - len(sent[port])
            self._fifos[port].write(sent[port] + [self._filler(port)] * count)
        mark = FILLER + self._rounds.to_bytes(4, "big")
        waited = [VECTOR - len(sent[(port - 1) % 3]) for port in range(3)]
        out: list[list[bytes]] = [[], [], []]
        deadline = time.monotonic() + 120
        while any(waited):
            for port, capture in enumerate(self._captures):
                for frame in capture.read():
                    if mark in frame:
                        waited[port] -= 1
                    else:
                        out[port].append(frame)
            if time.monotonic() > deadline:
                raise AssertionError(f"{waited} of the fillers are lost: {self._read_reasons()}")
            time.sleep(0.0005)
        return out

    def send(self, *frames: Sent) -> Outcome:
        """Put frames, each with the number of the port, into one vector a port."""
        sent: list[list[bytes]] = [[], [], []]
        for port, frame in frames:
            sent[port].append(frame if isinstance(frame, bytes) else raw(frame))
        return self._outcome(sent)

    def send_vector(self, port: int, frame: Frame) -> Outcome:
        """The frame in all but one place of a vector, as when nothing else is under way."""
        data = frame if isinstance(frame, bytes) else raw(frame)
        sent: list[list[bytes]] = [[], [], []]
        sent[port] = [data] * (VECTOR - 1)
        return self._outcome(sent)

    def _outcome(self, sent: list[list[bytes]]) -> Outcome:
        first = self._round(sent)
        second = self._round([[], [], []])
        reasons = self._read_reasons()
        grown = {key: reasons[key] - self._reasons[key] for key in reasons}
        self._reasons = reasons
        return Outcome(
            tuple(a + b for a, b in zip(first, second, strict=True)),
            {key: count for key, count in grown.items() if count},
        )

    def wait(self, seconds: float) -> Outcome:
        """Let time pass, in which the router acts by itself."""
        deadline = time.monotonic() + seconds
        out: list[list[bytes]] = [[], [], []]
        reasons: Counter[str] = Counter()
        while time.monotonic() < deadline:
            time.sleep(0.05)
            outcome = self.send()
            reasons.update(outcome.reasons)
            for port in range(3):
                out[port] += outcome.out[port]
        return Outcome(tuple(out), dict(reasons))


def forwarded(router: Router, frame: Packet, to: int) -> bytes:
    """Expected output of port `to`: new Ethernet addresses, TTL less one, checksum right."""
    packet = Ether(raw(frame))
    packet.src, packet.dst = router.macs[to], HOSTS[to]
    packet[IP].ttl -= 1
    del packet[IP].chksum
    return bytes(raw(packet))


def forwarded6(router: Router, frame: Packet, to: int) -> bytes:
    """The same of IPv6: the hop limit less one, and nothing else."""
    data = bytearray(raw(frame))
    data[0:12] = mac2str(HOSTS[to]) + mac2str(router.macs[to])
    data[21] -= 1
    return bytes(data)


def labels(frame: Packet | bytes) -> list[tuple[int, int, int, int]]:
    """The label stack: label, traffic class, bottom, TTL; outermost first."""
    layer = Ether(frame if isinstance(frame, bytes) else raw(frame)).payload
    stack = []
    while isinstance(layer, MPLS):
        stack.append((layer.label, layer.cos, layer.s, layer.ttl))
        layer = layer.payload
    return stack
