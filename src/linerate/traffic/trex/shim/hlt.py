"""`STLHltStream`: a stream by keywords, as HLTAPI has them; a word that it lacks is refused."""

import re
from ipaddress import IPv6Address
from typing import Any

from api import (
    STLFlowStats,
    STLPktBuilder,
    STLStream,
    STLTXCont,
    STLTXMultiBurst,
    STLTXSingleBurst,
)
from fields import (
    STLVmFixIpv4,
    STLVmFlowVar,
    STLVmTrimPktSize,
    STLVmWrFlowVar,
    STLVmWrMaskFlowVar,
    number,
)
from packets import ProfileError
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

#: Bytes of frames beyond those counted here, and L1 bytes beyond those.
FCS, GAPS = 4, 20
#: Words for the server, ports, and files that it would write: irrelevant to a stream.
IGNORED = (
    "mode port_handle port_handle2 bidirectional stream_id split_by_cores save_to_yaml save_to_pcap"
)
DEFAULTS: dict[str, Any] = {
    "transmit_mode": "continuous", "pkts_per_burst": 1, "burst_loop_count": 1,
    "inter_burst_gap": 12, "direction": 0, "length_mode": "fixed", "l2_encap": "ethernet_ii",
    "frame_size": 64, "frame_size_min": 64, "frame_size_max": 64, "frame_size_step": 1,
    "l3_length_min": 110, "l3_length_max": 238, "l3_length_step": 1,
    "l3_imix1_size": 64, "l3_imix1_ratio": 7, "l3_imix2_size": 570, "l3_imix2_ratio": 4,
    "l3_imix3_size": 1518, "l3_imix3_ratio": 1, "l3_imix4_size": 9230, "l3_imix4_ratio": 0,
    "mac_src": "00:00:01:00:00:01", "mac_dst": "00:00:00:00:00:00",
    "vlan_user_priority": 1, "vlan_cfi": 1, "vlan_id": 0,
    "ip_src_addr": "0.0.0.0", "ip_dst_addr": "192.0.0.1", "ip_ttl": 64,
    "ipv6_src_addr": "fe80::12", "ipv6_dst_addr": "fe80::22", "ipv6_hop_limit": 64,
    "tcp_src_port": 1024, "tcp_dst_port": 80, "tcp_seq_num": 1, "tcp_ack_num": 1,
    "tcp_data_offset": 5, "tcp_window": 4069, "udp_src_port": 1024, "udp_dst_port": 80,
}  # fmt: skip
#: By default None or 0.
OTHERS = (
    "rate_pps rate_bps rate_percent name l3_protocol l3_length l4_protocol mac_src2 mac_dst2 "
    "vlan_protocol_tag_id ip_id ip_fragment_offset ip_checksum ipv6_traffic_class ipv6_flow_label "
    "ipv6_length ipv6_next_header tcp_checksum tcp_urgent_ptr udp_length ignore_macs pg_id "
    "consistent_random disable_flow_stats flow_stats_id"
)
#: Bits of the byte that follows IPv4's first, given in one of three ways.
TOS = (
    {"ip_tos_field": 1, "ip_mbz": 0},
    {"ip_delay": 4, "ip_throughput": 3, "ip_reliability": 2, "ip_cost": 1, "ip_reserved": 0},
    {"ip_dscp": 2, "ip_cu": 0},
)
FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg")
#: Walking fields: the place of their last bytes, their number, the form of the first value.
WALKS = {
    "mac_src": ("Ethernet.src", 2, 4), "mac_dst": ("Ethernet.dst", 2, 4),
    "ip_src": ("IP.src", 0, 4), "ip_dst": ("IP.dst", 0, 4),
    "ipv6_src": ("IPv6.src", 12, 4), "ipv6_dst": ("IPv6.dst", 12, 4),
    "tcp_src_port": ("TCP.sport", 0, 2), "tcp_dst_port": ("TCP.dport", 0, 2),
    "udp_src_port": ("UDP.sport", 0, 2), "udp_dst_port": ("UDP.dport", 0, 2),
}  # fmt: skip
OPS = {"increment": "inc", "decrement": "dec", "random": "random"}
RATES = {"rate_pps": "pps", "rate_bps": "bps_L2", "rate_percent": "percentage"}
WORDS = {
    *DEFAULTS, *OTHERS.split(), "ip_precedence", *(word for way in TOS for word in way),
    *(f"tcp_{flag}_flag" for flag in FLAGS),
    *(f"{name}_{what}" for name in (*WALKS, "mac_src2", "mac_dst2", "vlan_id", "vlan_priority")
      for what in ("mode", "step", "count")),
}  # fmt: skip


def STLHltStream(**given: Any) -> STLStream | list[Any]:  # noqa: N802 (TRex's name)
    """One stream, or of `length_mode="imix"` one for each size."""
    given = {word: value for word, value in given.items() if word not in IGNORED.split()}
    if unknown := sorted(set(given) - WORDS):
        raise ProfileError(f"STLHltStream {unknown[0]}: not supported")
    rates = [word for word in RATES if given.get(word) is not None]
    if len(rates) > 1:
        raise ProfileError(f"STLHltStream: expected one rate, not {', '.join(rates)}")
    rate = rates[0] if rates else "rate_percent"
    if given.get("length_mode") == "imix":
        return _imix(given, rate)
    spec = _spec(given)
    pps = {RATES[rate]: float(given.get(rate) or 10)}
    frames = int(spec["pkts_per_burst"])
    if spec["transmit_mode"] == "continuous":
        mode = STLTXCont(**pps)
    elif spec["transmit_mode"] == "single_burst":
        mode = STLTXSingleBurst(frames, **pps)
    elif spec["transmit_mode"] == "multi_burst":
        gap, count = float(spec["inter_burst_gap"]), int(spec["burst_loop_count"])
        mode = STLTXMultiBurst(frames, gap, count, **pps)
    else:
        raise _refused(spec, "transmit_mode")
    counted = spec["l3_protocol"] and not spec["disable_flow_stats"]
    group = int(spec["pg_id"] or spec["flow_stats_id"] or 0) if counted else 0
    return STLStream(
        name=spec["name"],
        packet=_Packet(spec).builder(),
        mode=mode,
        flow_stats=STLFlowStats(group) if group else None,
        random_seed=int(bool(spec["consistent_random"])),
    )


def _refused(spec: dict[str, Any], word: str) -> ProfileError:
    return ProfileError(f"STLHltStream {word} '{spec[word]}': not supported")


def _imix(given: dict[str, Any], rate: str) -> list[Any]:
    """A share of the rate for each size: of frames, of their bits, or of their time on the wire."""
    spec: dict[str, Any] = DEFAULTS | given
    streams = []
    beside = {"rate_bps": 0, "rate_percent": GAPS}
    parts = [(int(spec[f"l3_imix{i}_size"]), int(spec[f"l3_imix{i}_ratio"])) for i in range(1, 5)]
    weights = [
        ratio * (size + beside[rate] if rate in beside else 1) for size, ratio in parts if ratio
    ]
    for (size, _), weight in zip([one for one in parts if one[1]], weights, strict=True):
        share = float(spec.get(rate) or 10) * weight / sum(weights)
        name = f"{given['name']}-{size}" if given.get("name") else None
        one = {"length_mode": "fixed", "frame_size": size, rate: share, "name": name}
        streams.append(STLHltStream(**(given | one)))
    return streams


def _spec(given: dict[str, Any]) -> dict[str, Any]:
    """Everything, with what direction 1 exchanges exchanged."""
    spec: dict[str, Any] = dict.fromkeys(WORDS) | DEFAULTS | given | {"given": set(given)}
    own = [side for side in ("src", "dst") if f"mac_{side}" not in given]
    if int(spec["direction"]):
        own = [side for side in ("src", "dst") if f"mac_{side}2" not in given]
        for side in ("src", "dst"):
            spec[f"mac_{side}"] = spec[f"mac_{side}2"] or DEFAULTS[f"mac_{side}"]
        for word in [word for word in spec if re.match("ip(v6)?_src_", word)]:
            other = word.replace("src", "dst")
            spec[word], spec[other] = spec[other], spec[word]
    spec["own"] = ["src", "dst"] if spec["ignore_macs"] else own
    return spec


class _Packet:
    """A packet and the instructions that vary it."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._vm: list[Any] = []
        below = self._ethernet()
        link = len(below)
        packet = below if spec["l3_protocol"] is None else below / self._network()
        network = len(packet)
        if spec["l4_protocol"] is not None:
            packet = packet / self._transport()
        payload = self._size(link, network, packet) - len(packet)
        if payload < 0:
            raise ProfileError(f"STLHltStream: the headers alone have {len(packet)} bytes")
        self._packet = packet / ("!" * payload)
        if self._vm and spec["l3_protocol"] == "ipv4" and spec["ip_checksum"] is None:
            self._vm.append(STLVmFixIpv4("IP"))

    def builder(self) -> STLPktBuilder:
        """As other streams have it."""
        return STLPktBuilder(pkt=self._packet, vm=self._vm)

    def _ethernet(self) -> Any:
        spec = self._spec
        if spec["l2_encap"] not in ("ethernet_ii", "ethernet_ii_vlan"):
            raise _refused(spec, "l2_encap")
        layer = Ether()
        for side in ("src", "dst"):
            name = f"mac_{side}"
            walks = spec[f"{name}_mode"] not in (None, "fixed") and not spec["ignore_macs"]
            if walks or side not in spec["own"]:
                setattr(layer, side, _mac(spec[name]))
            if walks:
                self._walk(name, _mac_number(spec[name]), _mac_number)
        tagged = any(word.startswith("vlan_") for word in spec["given"])
        return self._tagged(layer) if tagged or spec["l2_encap"] == "ethernet_ii_vlan" else layer

    def _tagged(self, layer: Any) -> Any:
        """Several values of a word are those of several tags, outermost first."""
        words = [word for word in self._spec if word.startswith("vlan_")]
        lists = {word: _listed(self._spec[word]) for word in words}
        for place in range(max(len(values) for values in lists.values())):
            tag = {word: values[place] for word, values in lists.items() if place < len(values)}
            tag = {word: value for word, value in tag.items() if value is not None}
            if "vlan_protocol_tag_id" in tag:
                kind = tag["vlan_protocol_tag_id"]
                layer.lastlayer().type = kind if isinstance(kind, int) else int(kind, 16)
            first = int(tag.get("vlan_id", 0))
            prio = int(tag.get("vlan_user_priority", DEFAULTS["vlan_user_priority"]))
            cfi = int(tag.get("vlan_cfi", DEFAULTS["vlan_cfi"]))
            layer = layer / Dot1Q(prio=prio, vlan=first, id=cfi)
            if tag.get("vlan_priority_mode", "fixed") != "fixed":
                raise ProfileError("STLHltStream vlan_priority_mode: not supported")
            self._spec |= {f"vlan_id_{what}": tag.get(f"vlan_id_{what}") for what in
                           ("mode", "step", "count")}  # fmt: skip
            self._walk("vlan_id", first, int, place)
        return layer

    def _network(self) -> Any:
        spec = self._spec
        if spec["l3_protocol"] == "ipv4":
            layer = IP(
                tos=_tos(spec), id=spec["ip_id"] or 0, frag=spec["ip_fragment_offset"] or 0,
                ttl=spec["ip_ttl"], chksum=spec["ip_checksum"],
                src=spec["ip_src_addr"], dst=spec["ip_dst_addr"],
            )  # fmt: skip
            for side in ("ip_src", "ip_dst"):
                self._walk(side, number(spec[f"{side}_addr"], side), lambda one: number(one, "ip"))
            return layer
        if spec["l3_protocol"] != "ipv6":
            raise _refused(spec, "l3_protocol")
        layer = IPv6(
            tc=spec["ipv6_traffic_class"] or 0, fl=spec["ipv6_flow_label"] or 0,
            plen=spec["ipv6_length"], hlim=spec["ipv6_hop_limit"],
            src=spec["ipv6_src_addr"], dst=spec["ipv6_dst_addr"],
        )  # fmt: skip
        if spec["ipv6_next_header"] is not None:
            layer.nh = spec["ipv6_next_header"]
        for side in ("ipv6_src", "ipv6_dst"):
            self._walk(side, _ipv6_number(spec[f"{side}_addr"]), _ipv6_number)
        return layer

    def _transport(self) -> Any:
        spec, kind = self._spec, self._spec["l4_protocol"]
        if kind not in ("tcp", "udp"):
            raise _refused(spec, "l4_protocol")
        if spec["l3_protocol"] is None:
            raise ProfileError(f"STLHltStream l4_protocol '{kind}': expected an l3_protocol too")
        ports = {f"{side[0]}port": int(spec[f"{kind}_{side}_port"]) for side in ("src", "dst")}
        for side in ("src", "dst"):
            self._walk(f"{kind}_{side}_port", ports[f"{side[0]}port"], int)
        if kind == "udp":
            return UDP(**ports, len=spec["udp_length"])
        return TCP(
            **ports, seq=spec["tcp_seq_num"], ack=spec["tcp_ack_num"],
            dataofs=spec["tcp_data_offset"], window=spec["tcp_window"],
            flags="".join(flag[0].upper() for flag in FLAGS if int(spec[f"tcp_{flag}_flag"] or 0)),
            chksum=spec["tcp_checksum"], urgptr=spec["tcp_urgent_ptr"] or 0,
        )  # fmt: skip

    def _walk(self, name: str, first: int, as_number: Any, tag: int = 0) -> None:
        """From its first value on, a number of steps up or down; or any value at all."""
        spec = self._spec
        mode = spec[f"{name}_mode"] or "fixed"
        count, step = (
            int(spec[f"{name}_count"] or 1),
            as_number(spec[f"{name}_step"] or 1),
        )
        if mode == "fixed" or (mode != "random" and count == 1):
            return
        if mode not in OPS:
            raise _refused(spec, f"{name}_mode")
        place, further, size = WALKS.get(name, (f"802|1Q:{tag}.vlan", 0, 2))
        step, first = (one & (1 << 8 * size) - 1 for one in (step, first))
        if count < 1 or step < 1:
            raise ProfileError(f"STLHltStream {name}: expected a step and a count of 1 or more")
        last = (1 << 8 * size) - 1 if mode == "random" else (count - 1) * step
        add = {"increment": first, "decrement": first - last}.get(mode, 0)
        variable = f"{name}{tag or ''}"
        self._vm.append(
            STLVmFlowVar(variable, min_value=0, max_value=last, size=size, op=OPS[mode], step=step)
        )
        if name == "vlan_id":
            self._vm.append(
                STLVmWrMaskFlowVar(variable, place, pkt_cast_size=2, mask=0xFFF, add_value=add)
            )
        else:
            self._vm.append(STLVmWrFlowVar(variable, place, offset_fixup=further, add_val=add))

    def _size(self, link: int, network: int, packet: Any) -> int:
        """Length of the packet, or of the longest of them."""
        spec, mode = self._spec, self._spec["length_mode"]
        if mode == "auto":
            return len(packet)
        if mode == "fixed":
            by_l3 = "l3_length" in spec["given"] and "frame_size" not in spec["given"]
            return link + int(spec["l3_length"]) if by_l3 else int(spec["frame_size"]) - FCS
        if mode not in OPS:
            raise _refused(spec, "length_mode")
        by_l2 = not {"frame_size_min", "frame_size_max"}.isdisjoint(spec["given"])
        of, beside = ("frame_size", -FCS) if by_l2 else ("l3_length", link)
        low, high, step = (int(spec[f"{of}_{what}"]) for what in ("min", "max", "step"))
        if low > high:
            raise ProfileError(f"STLHltStream {of}_min: expected no more than {of}_max")
        if low == high:
            return high + beside
        self._vm.append(
            STLVmFlowVar(
                "pkt_len", min_value=low + beside, max_value=high + beside, size=2, step=step,
                op=OPS[mode],
            )
        )  # fmt: skip
        self._vm.append(STLVmTrimPktSize("pkt_len"))
        lengths = {"IP.len": link, "IPv6.plen": network, "UDP.len": network}
        for place, less in lengths.items():
            if packet.haslayer({"IP": IP, "IPv6": IPv6, "UDP": UDP}[place.partition(".")[0]]):
                self._vm.append(STLVmWrFlowVar("pkt_len", place, add_val=-less))
        return high + beside


def _tos(spec: dict[str, Any]) -> int:
    ways = [way for way in TOS if any(spec[word] for word in way)]
    if len(ways) > 1:
        words = [next(word for word in way if spec[word]) for way in ways]
        raise ProfileError(f"STLHltStream: {words[0]} and {words[1]}: expected one of the two")
    low = sum(int(spec[word] or 0) << shift for way in ways for word, shift in way.items())
    return int(spec["ip_precedence"] or 0) << 5 | low


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.strip("{} ").split()
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _mac(text: Any) -> str:
    """From 01:23:45:67:89:10, 01-23-…, 0123.4567.8910 or {01 23 45 67 89 10}."""
    parts = re.findall("[0-9a-fA-F]+", str(text))
    digits = "".join(part.zfill(2) for part in parts)
    if len(digits) != 12:
        raise ProfileError(f"STLHltStream: '{text}' is no MAC address")
    return ":".join(digits[i : i + 2].lower() for i in range(0, 12, 2))


def _mac_number(value: Any) -> int:
    return value if isinstance(value, int) else int(_mac(value).replace(":", ""), 16)


def _ipv6_number(value: Any) -> int:
    return (value if isinstance(value, int) else int(IPv6Address(value))) & 0xFFFFFFFF
