"""Streams as clients send them, in the words of the compiler of TRex's profiles."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MAX, FRAME_BYTES_MIN
from linerate.base.validation import mistake
from linerate.traffic.trex.profile_process import TrexStream
from linerate.trex_server.errors import FailedError
from linerate.trex_server.payload import payload_of
from linerate.trex_server.rates import Rates, rates_of

#: Bits of `flags`: own source, own destination (a mode of two bits), a stream that only waits.
OWN_SRC, DST_SHIFT, DST_MODES, DST_OF_PACKET, DUMMY = 1, 1, 3, 1, 8
RATE_KINDS = {"pps": "pps", "bps_L1": "l1_bps", "bps_L2": "l2_bps", "percentage": "percent"}
L4_KINDS = {11: "udp", 13: "tcp", 17: "ip"}
#: Bit of a tuple's flags: any port, and any number of flows.
ANY_TUPLE = 1
FIRST_PORT, LAST_PORT = 1025, 65535

Text = Annotated[str, Field(max_length=200)]


class _Rate(BaseModel):
    type: Literal["pps", "bps_L1", "bps_L2", "percentage"]
    value: Annotated[float, Field(gt=0, le=1e13)]


class _Mode(BaseModel):
    type: Literal["continuous", "single_burst", "multi_burst"]
    rate: _Rate
    total_pkts: int = 1
    pkts_per_burst: int = 1
    count: int = 1
    ibg: float = 0.0


class _Packet(BaseModel):
    binary: Annotated[str, Field(max_length=1 << 15)]


class _Program(BaseModel):
    instructions: Annotated[tuple[dict[str, Any], ...], Field(max_length=256)] = ()
    cache: int | None = None


class FlowStats(BaseModel):
    """Whether frames are counted by a number, and timed."""

    enabled: bool = False
    rule_type: Literal["stats", "latency", "tpg"] = "stats"
    stream_id: Annotated[int, Field(ge=0, lt=1 << 32)] = 0
    vxlan: bool = False
    ieee_1588: bool = False


class StreamDocument(BaseModel):
    """`stream` of add_stream; what is not read here is given back as it came."""

    packet: _Packet
    vm: _Program = _Program()
    mode: _Mode
    flags: Annotated[int, Field(ge=0, le=15)] = 0
    flow_stats: FlowStats = FlowStats()
    enabled: bool = True
    self_start: bool = True
    isg: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    action_count: Annotated[int, Field(ge=0)] = 0
    random_seed: int = 0
    core_id: int = -1
    start_paused: bool = False
    next_stream_id: int = -1
    name: Text | None = None
    next: Text | None = None

    @property
    def frame_bytes(self) -> int:
        """Its frame with FCS."""
        made = len(self.packet.binary.rstrip("=")) * 3 // 4
        return max(FRAME_BYTES_MIN, made + FCS_BYTES)

    def rates(self, link_bps: int) -> Rates:
        """While it sends."""
        rate = self.mode.rate
        return rates_of(RATE_KINDS[rate.type], rate.value, self.frame_bytes, link_bps)


def parsed(given: Mapping[str, Any]) -> StreamDocument:
    """A client's stream; raises FailedError where it asks for what is not had."""
    try:
        document = StreamDocument.model_validate(given)
    except ValidationError as error:
        raise FailedError(_line(error)) from error
    stats = document.flow_stats
    refused = {
        "tagged packet groups": stats.enabled and stats.rule_type == "tpg",
        "flow_stats.vxlan": stats.vxlan,
        "flow_stats.ieee_1588": stats.ieee_1588,
        "start_paused": document.start_paused,
        "core_id": document.core_id >= 0,
    }
    for name, asked in refused.items():
        if asked:
            raise FailedError(f"stream: {name}: not supported")
    return document


def trex_stream(name: str, next_name: str | None, document: StreamDocument) -> TrexStream:
    """The stream under a name of ours; raises FailedError."""
    packet = _frame(document)
    payload = payload_of(packet)
    stats = document.flow_stats
    made: dict[str, Any] = {
        "name": name,
        "packet": document.packet.binary,
        "own_src": bool(document.flags & OWN_SRC),
        "own_dst": document.flags >> DST_SHIFT & DST_MODES == DST_OF_PACKET,
        "checksums": payload.checksums,
        "vm": [_instruction(one) for one in document.vm.instructions],
        "cache": document.vm.cache,
        "payload": payload.offset,
        "mode": _mode(document.mode),
        "enabled": document.enabled,
        "self_start": document.self_start,
        "start_us": document.isg,
        "next": next_name,
        "action_count": document.action_count,
        "seed": document.random_seed & 0xFFFFFFFF,
        "dummy": bool(document.flags & DUMMY),
        "stats": stats.rule_type if stats.enabled else None,
        "pg_id": stats.stream_id if stats.enabled else None,
    }
    try:
        return TrexStream.model_validate(made)
    except ValidationError as error:
        raise FailedError(_line(error)) from error


def _line(error: ValidationError) -> str:
    return mistake("stream", error.errors(include_url=False)[0]).splitlines()[0][:300]


def _frame(document: StreamDocument) -> bytes:
    try:
        frame = base64.b64decode(document.packet.binary, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FailedError("stream: packet.binary: expected base64") from error
    if not 14 <= len(frame) <= FRAME_BYTES_MAX - FCS_BYTES:
        raise FailedError(
            f"stream: packet of {len(frame)} bytes; expected 14 to {FRAME_BYTES_MAX - FCS_BYTES}"
        )
    return frame


def _mode(mode: _Mode) -> dict[str, Any]:
    rate = {RATE_KINDS[mode.rate.type]: mode.rate.value}
    if mode.type == "continuous":
        return {"type": "continuous", "rate": rate}
    if mode.type == "single_burst":
        return {"type": "bursts", "rate": rate, "frames": mode.total_pkts}
    return {
        "type": "bursts",
        "rate": rate,
        "frames": mode.pkts_per_burst,
        "count": mode.count,
        "gap_us": mode.ibg,
    }


Words = dict[str, Any]


def _variable(words: Words) -> Words:
    made = {key: words[key] for key in ("name", "size", "op", "step")} | {"type": "variable"}
    if "value_list" in words:
        made["values"] = words["value_list"]
    else:
        made |= {
            "min": words["min_value"],
            "max": words["max_value"],
            "start": words.get("init_value"),
        }
    return made | {"next_var": words.get("next_var")}


def _repeatable(words: Words) -> Words:
    return {
        "type": "variable",
        "name": words["name"],
        "size": words["size"],
        "op": "random",
        "step": 1,
        "min": words["min_value"],
        "max": words["max_value"],
        "limit": words["limit"],
        "seed": words["seed"],
        "next_var": words.get("next_var"),
    }


def _tuple(words: Words) -> Words:
    unlimited = bool(words.get("flags", 0) & ANY_TUPLE)
    return {
        "type": "tuple",
        "name": words["name"],
        "ip_min": words["ip_min"],
        "ip_max": words["ip_max"],
        "port_min": FIRST_PORT if unlimited else words["port_min"],
        "port_max": LAST_PORT if unlimited else words["port_max"],
        "flows": 0 if unlimited else words["limit_flows"],
    }


def _write(words: Words) -> Words:
    return {
        "type": "write",
        "variable": words["name"],
        "offset": words["pkt_offset"],
        "add": words.get("add_value", 0),
        "big": words.get("is_big_endian", True),
    }


def _write_mask(words: Words) -> Words:
    size, mask, shift = (words[key] for key in ("pkt_cast_size", "mask", "shift"))
    return _write(words) | {"size": size, "mask": mask, "shift": shift}


def _fix_l4(words: Words) -> Words:
    return _layers(words) | {"protocol": L4_KINDS[words["l4_type"]]}


def _fix_icmp6(words: Words) -> Words:
    return _layers(words) | {"protocol": "icmp6"}


def _layers(words: Words) -> Words:
    return {"type": "fix_l4", "l3": words["l2_len"], "l4": words["l2_len"] + words["l3_len"]}


_INSTRUCTIONS: dict[str, Callable[[Words], Words]] = {
    "flow_var": _variable,
    "flow_var_rand_limit": _repeatable,
    "tuple_flow_var": _tuple,
    "write_flow_var": _write,
    "write_mask_flow_var": _write_mask,
    "fix_checksum_ipv4": lambda words: {"type": "fix_ipv4", "offset": words["pkt_offset"]},
    "fix_checksum_hw": _fix_l4,
    "fix_checksum_icmpv6": _fix_icmp6,
    "trim_pkt_size": lambda words: {"type": "trim", "variable": words["name"]},
}


def _instruction(words: Words) -> Words:
    kind = str(words.get("type"))
    make = _INSTRUCTIONS.get(kind)
    if make is None:
        raise FailedError(f"stream: vm: instruction '{kind[:40]}': not supported")
    try:
        return make(words)
    except (KeyError, TypeError) as error:
        raise FailedError(f"stream: vm: {kind}: {type(error).__name__}: {error}"[:200]) from error
