"""TRex stateless profiles in YAML: a list of streams, their programs as plain instructions."""

import base64
from typing import Any

import api
import fields
import yaml
from packets import ProfileError

STREAM_KEYS = {
    "enabled", "self_start", "isg", "packet", "mode", "vm", "next_stream", "next", "rx_stats",
    "flow_stats", "action_count", "random_seed", "flags",
}  # fmt: skip
MODES = {
    "continuous": api.STLTXCont,
    "single_burst": api.STLTXSingleBurst,
    "multi_burst": api.STLTXMultiBurst,
}


def read(path: str) -> list[dict[str, Any]]:
    """Documents of the streams of a file."""
    with open(path, encoding="utf-8") as file:
        listed = yaml.safe_load(file)
    if not isinstance(listed, list):
        raise ProfileError("expected a list of streams")
    return [_stream(number, entry) for number, entry in enumerate(listed)]


def _stream(number: int, entry: Any) -> dict[str, Any]:
    said = entry.get("stream") if isinstance(entry, dict) else None
    if not isinstance(said, dict):
        raise ProfileError(f"stream {number}: expected a name and a stream")
    unknown = [key for key in said if key not in STREAM_KEYS]
    if unknown:
        raise ProfileError(f"stream {entry.get('name', number)}: {unknown[0]}: not supported")
    builder = _packet(said.get("packet") or {}, _program(said.get("vm") or []))
    after = said.get("next", said.get("next_stream"))
    return api.STLStream(
        name=entry.get("name"),
        packet=builder,
        mode=_mode(dict(said.get("mode") or {})),
        enabled=said.get("enabled", True),
        self_start=said.get("self_start", True),
        isg=said.get("isg", 0.0),
        flow_stats=_stats(said.get("flow_stats") or said.get("rx_stats")),
        next=None if after in (None, -1, "NULL") else after,
        action_count=said.get("action_count", 0),
        random_seed=said.get("random_seed", 0),
    ).document


def _packet(said: dict[str, Any], vm: list[Any]) -> Any:
    binary = str(said.get("binary", ""))
    if binary.endswith((".pcap", ".cap")):
        return api.STLPktBuilder(pkt=binary, vm=vm)
    return api.STLPktBuilder(pkt_buffer=base64.b64decode(binary, validate=True), vm=vm)


def _mode(said: dict[str, Any]) -> Any:
    kind = said.pop("type", "continuous")
    if kind not in MODES:
        raise ProfileError(f"mode {kind}: not supported")
    rate = said.pop("rate", None)
    if isinstance(rate, dict):
        said[str(rate["type"])] = rate["value"]
    return MODES[kind](**said)


def _stats(said: Any) -> Any:
    if not isinstance(said, dict) or not said.get("enabled", True):
        return None
    latency = said.get("rule_type") == "latency" or said.get("latency_enabled")
    kind = api.STLFlowLatencyStats if latency else api.STLFlowStats
    return kind(pg_id=said.get("stream_id", 0))


def _program(said: Any) -> list[Any]:
    if isinstance(said, dict):
        said = said.get("instructions", [])
    return [_instruction(dict(one)) for one in said]


def _variable(said: dict[str, Any]) -> Any:
    ranged = ("min_value", "max_value", "init_value")
    if "value_list" in said:
        said = {key: value for key, value in said.items() if key not in ranged}
    return fields.STLVmFlowVar(**said)


def _write(said: dict[str, Any]) -> Any:
    big = said.get("is_big_endian", True)
    return fields.STLVmWrFlowVar(
        said["name"], said["pkt_offset"], add_val=said.get("add_value", 0), is_big=big
    )


def _write_mask(said: dict[str, Any]) -> Any:
    big = said.pop("is_big_endian", True)
    return fields.STLVmWrMaskFlowVar(said.pop("name"), said.pop("pkt_offset"), is_big=big, **said)


def _offsets(said: dict[str, Any]) -> tuple[int, int]:
    l3 = int(said.get("l2_len", 0))
    return l3, l3 + int(said.get("l3_len", 0))


INSTRUCTIONS: dict[str, Any] = {
    "flow_var": _variable,
    "flow_var_rand_limit": lambda said: fields.STLVmFlowVarRepeatableRandom(**said),
    "tuple_flow_var": lambda said: fields.STLVmTupleGen(**said),
    "write_flow_var": _write,
    "write_mask_flow_var": _write_mask,
    "fix_checksum_ipv4": lambda said: fields.STLVmFixIpv4(said["pkt_offset"]),
    "fix_checksum_hw": lambda said: fields.STLVmFixChecksumHw(*_offsets(said), said["l4_type"]),
    "fix_checksum_icmpv6": lambda said: fields.STLVmFixIcmpv6(*_offsets(said)),
    "trim_pkt_size": lambda said: fields.STLVmTrimPktSize(said["name"]),
}


def _instruction(said: dict[str, Any]) -> Any:
    kind = said.pop("type", "")
    if kind not in INSTRUCTIONS:
        raise ProfileError(f"vm instruction '{kind}': not supported")
    return INSTRUCTIONS[kind](said)
