"""`trex_stl_lib.api`, as far as profiles describe streams with it."""

# ruff: noqa: F401
import base64
import binascii
import os
import sys
from typing import Any

from fields import *
from fields import STLScVmRaw, number
from packets import Places, ProfileError, settled
from replayed import Replayed, path_of
from scapy.all import *
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import RawPcapReader

RATES = {"pps": "pps", "bps_L1": "l1_bps", "bps_L2": "l2_bps", "percentage": "percent"}
ETHERNET_BYTES = 14
STLStreamDstMAC_CFG_FILE, STLStreamDstMAC_PKT, STLStreamDstMAC_ARP = range(3)


class STLError(Exception):
    """As TRex has it."""


TRexError = STLError


def ip2int(text: str) -> int:
    """An IPv4 address as a number."""
    return number(text, "ip")


def int2ip(value: int) -> str:
    """A number as an IPv4 address."""
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def int2mac(value: int) -> str:
    """A number as a MAC address."""
    return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))


def increase_ip(text: str, val: int = 1) -> str:
    """The address plus `value`."""
    return int2ip((ip2int(text) + val) % (1 << 32))


def increase_mac(text: str, val: int = 1) -> str:
    """The address plus `value`."""
    return int2mac((int(text.replace(":", ""), 16) + val) % (1 << 48))


def is_valid_ipv4_ret(text: Any) -> bytes:
    """An address as four bytes."""
    return number(text, "ip").to_bytes(4, "big")


def ipv4_str_to_num(packed: bytes) -> int:
    """Four bytes as a number."""
    return int.from_bytes(packed, "big")


mac_str_to_num = ipv4_str_to_num


class STLPktBuilder:
    """A packet and its program."""

    def __init__(
        self,
        pkt: Any = None,
        pkt_buffer: bytes | None = None,
        vm: Any = None,
        path_relative_to_profile: bool = False,
        build_raw: bool = False,
        remove_fcs: bool = True,
    ) -> None:
        """A scapy packet, a pcap file's first packet, or bytes."""
        del build_raw, remove_fcs
        self._own_macs = pkt_buffer is None
        if isinstance(pkt, str):
            pkt, self._own_macs = _first_packet(pkt, path_relative_to_profile), False
        if pkt_buffer is not None:
            pkt = _ethernet("STLPktBuilder pkt_buffer", pkt_buffer)
        if not isinstance(pkt, Packet):
            raise ProfileError(f"STLPktBuilder pkt: expected a scapy packet, not {pkt!r}")
        commands = vm.commands if isinstance(vm, STLScVmRaw) else list(vm or [])
        self._vm = commands
        self._cache = getattr(vm, "cache_size", None)
        self._pkt = pkt

    def document(self, src_by_packet: bool | None, dst_by_packet: bool | None) -> dict[str, Any]:
        """Its bytes, what they mean, and its instructions."""
        packet, src, dst = settled(self._pkt)
        made = bytes(packet)
        src, dst = src and self._own_macs, dst and self._own_macs
        src = src if src_by_packet is None else src_by_packet
        dst = dst if dst_by_packet is None else dst_by_packet
        places = Places(packet)
        return {
            "packet": base64.b64encode(made).decode(),
            "own_src": bool(src),
            "own_dst": bool(dst),
            "checksums": places.checksums(made),
            "vm": [one.instruction(places) for one in self._vm],
            "cache": self._cache,
            "payload": places.payload(),
        }


def _first_packet(name: str, relative: bool) -> Packet:
    for data, *_ in RawPcapReader(path_of(name, relative)):
        return _ethernet(name, data)
    raise ProfileError(f"{name}: no packet in it")


def _ethernet(what: str, data: bytes) -> Packet:
    """For empty bytes scapy would make a header of its own."""
    if len(data) < ETHERNET_BYTES:
        raise ProfileError(f"{what}: expected {ETHERNET_BYTES} bytes or more, not {len(data)}")
    return Ether(data)


class STLTXMode:
    """A rate."""

    def __init__(self, **rates: Any) -> None:
        """One of pps, bps_L1, bps_L2 and percentage; none is one packet a second."""
        given = {name: value for name, value in rates.items() if value is not None}
        unknown = [name for name in given if name not in RATES]
        if unknown:
            raise ProfileError(f"{type(self).__name__} {unknown[0]}: not supported")
        if len(given) > 1:
            raise ProfileError(f"{type(self).__name__}: expected one rate, not {', '.join(given)}")
        name, value = next(iter(given.items()), ("pps", 1.0))
        self.words: dict[str, Any] = {"rate": {RATES[name]: value}, "type": "continuous"}


class STLTXCont(STLTXMode):
    """It goes on."""


class STLTXSingleBurst(STLTXMode):
    """It ends."""

    def __init__(self, total_pkts: int = 1, **rates: Any) -> None:
        """Number of packets."""
        super().__init__(**rates)
        self.words |= {"type": "bursts", "frames": total_pkts, "count": 1, "gap_us": 0}


class STLTXMultiBurst(STLTXMode):
    """It pauses."""

    def __init__(
        self, pkts_per_burst: int = 1, ibg: float = 0.0, count: int = 1, **rates: Any
    ) -> None:
        """Gap after each burst, in microseconds."""
        super().__init__(**rates)
        self.words |= {"type": "bursts", "frames": pkts_per_burst, "count": count, "gap_us": ibg}


class STLFlowStats:
    """The stream has counters."""

    kind = "stats"

    def __init__(self, pg_id: int, **more: Any) -> None:
        """Number of the group; nothing more is needed."""
        if asked := [name for name, value in more.items() if value]:
            raise ProfileError(f"{type(self).__name__} {asked[0]}: not supported")
        self.pg_id = pg_id


class STLFlowLatencyStats(STLFlowStats):
    """The stream's latency is measured."""

    kind = "latency"


def STLRxStats(user_id: int) -> STLFlowStats:  # noqa: N802 (TRex's name)
    """The same as it was called in 2016, when `flow_stats` was `rx_stats`."""
    return STLFlowStats(user_id)


class STLStream:
    """A stream."""

    def __init__(
        self,
        name: Any = None,
        packet: STLPktBuilder | None = None,
        mode: STLTXMode | None = None,
        enabled: bool = True,
        self_start: bool = True,
        isg: float = 0.0,
        flow_stats: STLFlowStats | None = None,
        next: Any = None,  # noqa: A002 (TRex's name)
        stream_id: int | None = None,
        action_count: int = 0,
        random_seed: int = 0,
        mac_src_override_by_pkt: Any = None,
        mac_dst_override_mode: Any = None,
        dummy_stream: bool = False,
        start_paused: bool = False,
        core_id: int = -1,
        rx_stats: STLFlowStats | None = None,
    ) -> None:
        """As TRex has it; cores are no concern of ours."""
        del stream_id, core_id
        if start_paused:
            raise ProfileError("STLStream start_paused: not supported")
        self.name = name
        flow_stats = flow_stats or rx_stats
        builder = packet or STLPktBuilder(pkt=Ether() / IP())
        self.document = builder.document(
            None if mac_src_override_by_pkt is None else bool(mac_src_override_by_pkt),
            None if mac_dst_override_mode is None else mac_dst_override_mode == STLStreamDstMAC_PKT,
        ) | {
            "name": None if name is None else str(name),
            "mode": (mode or STLTXCont(pps=1)).words,
            "enabled": enabled,
            "self_start": self_start,
            "start_us": isg,
            "next": None if next is None else str(next),
            "action_count": action_count,
            "seed": random_seed,
            "dummy": dummy_stream,
            "stats": None if flow_stats is None else flow_stats.kind,
            "pg_id": None if flow_stats is None else flow_stats.pg_id,
        }

    def get_flow_stats_type(self) -> str | None:
        """Either "stats" or "latency"."""
        kind: str | None = self.document["stats"]
        return kind

    def to_code(self) -> str:
        """TRex's text to make it again; profiles only print it."""
        return f"STLStream(name={self.name!r})"


class STLProfile:
    """Streams together."""

    def __init__(self, streams: Any = None) -> None:
        """One stream or a list."""
        self._streams = streams if isinstance(streams, list) else [streams] if streams else []

    def get_streams(self, **_: Any) -> list[STLStream]:
        """The list."""
        return self._streams

    @staticmethod
    def load_pcap(
        pcap_file: str,
        ipg_usec: float | None = None,
        speedup: float = 1.0,
        loop_count: int = 1,
        vm: Any = None,
        packet_hook: Any = None,
        split_mode: Any = None,
        min_ipg_usec: float | None = None,
    ) -> "STLProfile":
        """A chain of streams of one packet each; `loop_count` 0 goes on."""
        read = Replayed(pcap_file, ipg_usec, min_ipg_usec, speedup, loop_count)
        if split_mode is not None:
            raise read.refused("split_mode: not supported; give the pcap itself, with sides")
        last = len(read.packets)
        return STLProfile(
            [
                STLStream(
                    name=number,
                    packet=STLPktBuilder(
                        pkt_buffer=data if packet_hook is None else bytes(packet_hook(data)), vm=vm
                    ),
                    mode=STLTXSingleBurst(total_pkts=1, pps=read.pps),
                    self_start=number == 1,
                    isg=gap_us,
                    next=1 if number == last else number + 1,
                    action_count=loop_count if number == last else 0,
                )
                for number, (data, gap_us) in enumerate(
                    zip(read.packets, read.gaps_us, strict=True), start=1
                )
            ]
        )


class _Absent:
    """A class of TRex's that is not had, but may be imported."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ProfileError(f"{type(self).__name__}: not supported")


STLClient = type("STLClient", (_Absent,), {})
STLSim = type("STLSim", (_Absent,), {})
STLTaggedPktGroup = type("STLTaggedPktGroup", (_Absent,), {})
