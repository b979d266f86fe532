"""TRex stateless profiles in YAML: a list of streams, their programs as plain instructions."""

import base64
import binascii
from typing import Any

import api
import fields
import yaml
from packets import ProfileError

ENTRY_KEYS = {"name", "stream", "stream_id", "next", "next_stream_id"}
#: `advanced_mode` is of the graphical interface.
STREAM_KEYS = {
    "enabled", "self_start", "isg", "packet", "mode", "vm", "next_stream", "next_stream_id", "next",
    "rx_stats", "flow_stats", "action_count", "random_seed", "flags", "advanced_mode",
}  # fmt: skip
NEXT_KEYS = ("next", "next_stream", "next_stream_id")
NO_NEXT = (None, -1, "NULL", "")
#: `meta` and `model` are of the graphical interface, which draws the packet by them.
PACKET_KEYS = {"binary", "pcap", "meta", "model"}
STATS_KEYS = {"enabled", "rule_type", "stream_id", "latency_enabled", "seq_enabled"}
PROGRAM_KEYS = {"instructions", "split_by_var", "cache", "cache_size"}
MODES = {
    "continuous": (api.STLTXCont, ()),
    "single_burst": (api.STLTXSingleBurst, ("total_pkts",)),
    "multi_burst": (api.STLTXMultiBurst, ("pkts_per_burst", "ibg", "count")),
}
#: The graphical interface writes those of all kinds.
OF_BURSTS = {key for _, keys in MODES.values() for key in keys}
#: Bits of `flags`: the packet's own source, its own destination (two bits), a stream that only
#: waits.
SRC_BY_PACKET, DST_MODE, DUMMY, FLAGS_MAX = 1, 3, 8, 15


def read(path: str) -> list[dict[str, Any]]:
    """Documents of the streams of a file."""
    with open(path, encoding="utf-8") as file:
        listed = yaml.safe_load(file)
    if not isinstance(listed, list):
        raise ProfileError("expected a list of streams")
    return [_entry(number, entry) for number, entry in enumerate(listed)]


def _entry(number: int, entry: Any) -> dict[str, Any]:
    words = entry.get("stream") if isinstance(entry, dict) else None
    if not isinstance(words, dict):
        raise ProfileError(f"stream {number}: expected a name and a stream")
    try:
        _check("", entry, ENTRY_KEYS)
        _check("", words, STREAM_KEYS)
        return _stream(entry, words)
    except ProfileError as error:
        raise ProfileError(f"stream {entry.get('name', number)}: {error}") from error


def _check(where: str, words: dict[Any, Any], keys: set[str]) -> None:
    """Unsupported words are refused, as they may change the frames."""
    for key in words:
        if key not in keys:
            raise ProfileError(f"{where}{key}: not supported")


def _stream(entry: dict[str, Any], words: dict[str, Any]) -> dict[str, Any]:
    flags = words.get("flags", 0)
    if not isinstance(flags, int) or not 0 <= flags <= FLAGS_MAX:
        raise ProfileError(f"flags: expected 0 to {FLAGS_MAX}, not {flags!r}")
    document: dict[str, Any] = api.STLStream(
        name=entry.get("name"),
        packet=_packet(words.get("packet"), _program(words.get("vm") or [])),
        mode=_mode(dict(words.get("mode") or {})),
        enabled=words.get("enabled", True),
        self_start=words.get("self_start", True),
        isg=words.get("isg", 0.0),
        flow_stats=_stats(words.get("flow_stats") or words.get("rx_stats")),
        next=_next(entry, words),
        action_count=words.get("action_count", 0),
        random_seed=words.get("random_seed", 0),
        mac_src_override_by_pkt=bool(flags & SRC_BY_PACKET),
        mac_dst_override_mode=flags >> 1 & DST_MODE,
        dummy_stream=bool(flags & DUMMY),
    ).document
    return document


def _next(entry: dict[str, Any], words: dict[str, Any]) -> str | None:
    """TRex's own files have it beside the stream, older ones in it."""
    given = [place.get(key) for place in (entry, words) for key in NEXT_KEYS]
    names = {str(one) for one in given if one not in NO_NEXT}
    if len(names) > 1:
        raise ProfileError(f"next: expected one stream, not {' and '.join(sorted(names))}")
    return names.pop() if names else None


def _packet(words: Any, vm: list[Any]) -> Any:
    if not isinstance(words, dict):
        raise ProfileError("packet: expected binary or pcap")
    _check("packet.", words, PACKET_KEYS)
    binary, pcap = words.get("binary"), words.get("pcap")
    if bool(binary) == bool(pcap):
        raise ProfileError("packet: expected binary or pcap, one of the two")
    if not pcap and str(binary).endswith((".pcap", ".cap")):
        pcap = binary
    if pcap:
        return api.STLPktBuilder(pkt=str(pcap), vm=vm, path_relative_to_profile=True)
    try:
        data = base64.b64decode(str(binary), validate=True)
    except binascii.Error as error:
        raise ProfileError("packet.binary: expected base64, or the name of a pcap") from error
    return api.STLPktBuilder(pkt_buffer=data, vm=vm)


def _mode(words: dict[str, Any]) -> Any:
    kind = words.pop("type", "continuous")
    if kind not in MODES:
        raise ProfileError(f"mode {kind}: not supported")
    make, own = MODES[kind]
    words = {key: value for key, value in words.items() if key in own or key not in OF_BURSTS}
    rate = words.pop("rate", None)
    if rate is not None:
        if not isinstance(rate, dict) or set(rate) != {"type", "value"}:
            raise ProfileError("mode.rate: expected a type and a value")
        words[str(rate["type"])] = rate["value"]
    return make(**words)


def _stats(words: Any) -> Any:
    if not isinstance(words, dict) or not words.get("enabled", True):
        return None
    more = {key: value for key, value in words.items() if key not in STATS_KEYS}
    latency = words.get("rule_type") == "latency" or words.get("latency_enabled")
    kind = api.STLFlowLatencyStats if latency else api.STLFlowStats
    return kind(pg_id=words.get("stream_id", 0), **more)


def _program(words: Any) -> list[Any]:
    if isinstance(words, dict):
        _check("vm.", words, PROGRAM_KEYS)
        words = words.get("instructions", [])
    return [_instruction(dict(one)) for one in words]


def _variable(words: dict[str, Any]) -> Any:
    ranged = ("min_value", "max_value", "init_value")
    if "value_list" in words:
        words = {key: value for key, value in words.items() if key not in ranged}
    return fields.STLVmFlowVar(**words)


def _write(words: dict[str, Any]) -> Any:
    big = words.get("is_big_endian", True)
    return fields.STLVmWrFlowVar(
        words["name"], words["pkt_offset"], add_val=words.get("add_value", 0), is_big=big
    )


def _write_mask(words: dict[str, Any]) -> Any:
    big = words.pop("is_big_endian", True)
    return fields.STLVmWrMaskFlowVar(
        words.pop("name"), words.pop("pkt_offset"), is_big=big, **words
    )


def _offsets(words: dict[str, Any]) -> tuple[int, int]:
    l3 = int(words.get("l2_len", 0))
    return l3, l3 + int(words.get("l3_len", 0))


INSTRUCTIONS: dict[str, Any] = {
    "flow_var": _variable,
    "flow_var_rand_limit": lambda words: fields.STLVmFlowVarRepeatableRandom(**words),
    "tuple_flow_var": lambda words: fields.STLVmTupleGen(**words),
    "write_flow_var": _write,
    "write_mask_flow_var": _write_mask,
    "fix_checksum_ipv4": lambda words: fields.STLVmFixIpv4(words["pkt_offset"]),
    "fix_checksum_hw": lambda words: fields.STLVmFixChecksumHw(*_offsets(words), words["l4_type"]),
    "fix_checksum_icmpv6": lambda words: fields.STLVmFixIcmpv6(*_offsets(words)),
    "trim_pkt_size": lambda words: fields.STLVmTrimPktSize(words["name"]),
}


def _instruction(words: dict[str, Any]) -> Any:
    kind = words.pop("type", "")
    if kind not in INSTRUCTIONS:
        raise ProfileError(f"vm instruction '{kind}': not supported")
    return INSTRUCTIONS[kind](words)
