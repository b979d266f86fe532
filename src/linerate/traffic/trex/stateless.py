"""TRex stateless profiles: what their Python or YAML describes, in the engine's words."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MAX, FRAME_BYTES_MIN
from linerate.traffic.profile import Profile, Stream, TrafficError
from linerate.traffic.trex.ip_identification import why_not_counted
from linerate.traffic.trex.profile_process import (
    FixIpv4,
    FixL4,
    TrexStream,
    Trim,
    Tuples,
    Variable,
    Write,
    run_profile,
)
from linerate.traffic.trex.stream_chains import timed
from linerate.traffic.yaml_kinds import is_kind

#: Limit of the engine.
VALUE_MAX = (1 << 63) - 1
FRAME_MIN, FRAME_MAX = FRAME_BYTES_MIN - FCS_BYTES, FRAME_BYTES_MAX - FCS_BYTES
SIGNATURE_BYTES = 8
#: Stamp of a latency stream, before the signature.
STAMP_BYTES = 6
OPS = {"inc": "increment", "dec": "decrement", "random": "random"}
ICMP_BYTES = 8


def read(path: Path, tunables: Mapping[str, str] | None = None) -> list[Stream]:
    """The streams of a profile; those of direction 1 when they differ. Raises TrafficError."""
    return streams_of(path.name, run_profile(path, tunables or {}))


def streams_of(name: str, sides: Sequence[Sequence[TrexStream]]) -> list[Stream]:
    """Streams of both sides in the engine's words; raises TrafficError."""
    kept = sides[:1] if sides[0] == sides[1] else sides
    made: list[Stream] = []
    for port, streams in enumerate(kept):
        for number, stream, changes in timed(name, streams):
            where = f"{name}: stream {stream.name or number}"
            label = {"name": _label(stream, number)}
            made.append({"port": port} | label | _stream(where, stream) | changes)
    if not made:
        raise TrafficError(f"{name}: no stream in it sends")
    return made


def _label(stream: TrexStream, number: int) -> str:
    if stream.name:
        return stream.name
    return f"stream-{number}" if stream.pg_id is None else f"pg-{stream.pg_id}"


def _stream(where: str, stream: TrexStream) -> dict[str, Any]:
    template = _template(where, stream)
    program = _Program(where, stream, template)
    made: dict[str, Any] = {"template": template.hex(), "rate": dict(stream.mode.rate)}
    if program.steps:
        made["program"] = program.document()
    stamped = SIGNATURE_BYTES + STAMP_BYTES
    needed = stamped if stream.stats == "latency" else SIGNATURE_BYTES
    if _has_room(stream, program, needed):
        made["signature"] = True
        made["timeable"] = _has_room(stream, program, stamped)
        made["checksums"] = [one.model_dump() for one in stream.checksums]
    elif stream.stats == "latency":
        raise TrafficError(
            f"{where}: STLFlowLatencyStats: the last {stamped} bytes of the shortest packet are "
            "no payload; expected a longer packet"
        )
    elif stream.stats == "stats":
        if why_not := why_not_counted(template, program.writes):
            raise TrafficError(
                f"{where}: STLFlowStats: the last {SIGNATURE_BYTES} bytes of the shortest packet "
                f"are no payload, and {why_not}; expected a longer packet"
            )
        made["count_by"] = "ip_id"
    if stream.stats == "latency":
        made["latency"] = True
    return made


def _template(where: str, stream: TrexStream) -> bytes:
    try:
        packet = base64.b64decode(stream.packet, validate=True)
    except ValueError as error:
        # Raised for invalid base64, and for other than ASCII.
        raise TrafficError(f"{where}: packet: {error}") from error
    if not 14 <= len(packet) <= FRAME_MAX:
        raise TrafficError(f"{where}: packet of {len(packet)} bytes; expected 14 to {FRAME_MAX}")
    dst = packet[:6] if stream.own_dst else bytes(6)
    src = packet[6:12] if stream.own_src else bytes(6)
    return (dst + src + packet[12:]).ljust(FRAME_MIN, b"\0")


def _has_room(stream: TrexStream, program: "_Program", tail_bytes: int) -> bool:
    """Whether a signature, or one with a stamp, hits nothing but payload."""
    if stream.payload is None:
        return False
    end = ((program.shortest - SIGNATURE_BYTES) & ~1) + SIGNATURE_BYTES - tail_bytes
    return end >= max(stream.payload, program.written)


class _Program:
    """Instructions as variables, tuples and steps."""

    def __init__(self, where: str, stream: TrexStream, template: bytes) -> None:
        self._where = where
        self._seed = stream.seed
        self._variables: list[dict[str, Any]] = []
        self._tuples: list[dict[str, Any]] = []
        #: For each variable: its bytes, its least and its highest value.
        self._known: dict[str, tuple[int, int, int]] = {}
        self._carries = {
            one.next_var: one.name
            for one in stream.vm
            if isinstance(one, Variable) and one.next_var is not None
        }
        self.steps: list[dict[str, Any]] = []
        self.shortest = len(template)
        self.written = 0
        #: Bytes of each value that is written.
        self.writes: list[range] = []
        self._bytes = len(template)
        self._template = template
        for one in stream.vm:
            self._add(one)

    def document(self) -> dict[str, Any]:
        """For the engine."""
        made = {"variables": self._variables, "tuples": self._tuples, "steps": self.steps}
        return {key: value for key, value in made.items() if value}

    def _refuse(self, text: str) -> TrafficError:
        return TrafficError(f"{self._where}: {text}")

    def _add(self, one: object) -> None:
        if isinstance(one, Variable):
            self._variable(one)
        elif isinstance(one, Tuples):
            self._tuple(one)
        elif isinstance(one, Write):
            self._write(one)
        elif isinstance(one, Trim):
            self._trim(one)
        elif isinstance(one, FixIpv4):
            self._fix_ipv4(one.offset)
        elif isinstance(one, FixL4):
            self._fix_l4(one)

    def _variable(self, one: Variable) -> None:
        highest = min((1 << 8 * one.size) - 1, VALUE_MAX)
        made: dict[str, Any] = {"name": one.name, "bytes": one.size, "op": OPS[one.op]}
        if one.values is not None:
            made["values"] = list(one.values)
            low, high = min(one.values), max(one.values)
        else:
            low, high = self._range(one, highest)
            made |= {"min": low, "max": high}
            if one.start is not None and one.op != "random":
                made["start"] = one.start
        if high > highest:
            raise self._refuse(f"STLVmFlowVar {one.name}: {high} is above {highest}")
        if one.op == "random":
            made["seed"] = self._seed_of(one)
            if one.limit is not None:
                made["limit"] = one.limit
        else:
            made["step"] = one.step
        if one.name in self._carries:
            made["carry_from"] = self._carries[one.name]
            if made["carry_from"] not in self._known:
                raise self._refuse(f"STLVmFlowVar {one.name}: next_var: expected a later variable")
        self._known[one.name] = (one.size, low, high)
        self._variables.append(made)

    def _range(self, one: Variable, highest: int) -> tuple[int, int]:
        """TRex pads it so that steps return to its end; ours begin anew there."""
        low, high = one.min, highest if one.max is None else one.max
        if low > high:
            raise self._refuse(f"STLVmFlowVar {one.name}: min_value is above max_value")
        if one.start is not None and one.op != "random":
            if not low <= one.start <= high:
                raise self._refuse(f"STLVmFlowVar {one.name}: init_value: not in its range")
            gone = one.start - low if one.op == "inc" else high - one.start
            if gone % one.step:
                raise self._refuse(
                    f"STLVmFlowVar {one.name}: init_value between steps: not supported"
                )
        return low, high

    def _seed_of(self, one: Variable) -> int:
        """The same in every run."""
        given = self._seed if one.seed is None else abs(one.seed)
        return (given * 1_000_003 + len(self._variables) + 1) & VALUE_MAX

    def _tuple(self, one: Tuples) -> None:
        self._tuples.append(
            {
                "name": one.name,
                "ip_min": _address(one.ip_min),
                "ip_max": _address(one.ip_max),
                "port_min": one.port_min,
                "port_max": one.port_max,
                "flows": one.flows,
            }
        )
        self._known[f"{one.name}.ip"] = (4, one.ip_min, one.ip_max)
        self._known[f"{one.name}.port"] = (2, one.port_min, one.port_max)

    def _var(self, name: str) -> tuple[int, int, int]:
        if name not in self._known:
            raise self._refuse(f"variable '{name}': used before any STLVmFlowVar of that name")
        return self._known[name]

    def _write(self, one: Write) -> None:
        size = self._var(one.variable)[0]
        if one.size is not None and size == 8:
            raise self._refuse(f"STLVmWrMaskFlowVar {one.variable}: of 8 bytes: not supported")
        made: dict[str, Any] = {"variable": one.variable, "offset": one.offset}
        if one.size is not None:
            made |= {"bytes": one.size, "mask": one.mask, "shift": one.shift}
        if one.add:
            made["add"] = one.add
        if not one.big:
            made["order"] = "little"
        end = one.offset + (one.size or size)
        self.writes.append(range(one.offset, end))
        self._step("write", made, end)

    def _trim(self, one: Trim) -> None:
        _, low, high = self._var(one.variable)
        if low < FRAME_MIN or high > self._bytes:
            raise self._refuse(
                f"STLVmTrimPktSize {one.variable}: sizes {low} to {high}; "
                f"expected {FRAME_MIN} to the packet's {self._bytes}"
            )
        self.shortest = low
        self._step("trim", {"variable": one.variable}, 0)

    def _fix_ipv4(self, offset: int) -> None:
        self._step("fix_ipv4_checksum", {"offset": offset}, offset + 12)

    def _fix_l4(self, one: FixL4) -> None:
        """A card does IPv4's own along with it."""
        if self._is_ipv4(one):
            self._fix_ipv4(one.l3)
        if one.protocol == "ip":
            return
        made = {"l3_offset": one.l3, "l3_bytes": one.l4 - one.l3, "protocol": one.protocol}
        if one.l4 - one.l3 < 20:
            raise self._refuse("STLVmFixChecksumHw: l4_offset: expected 20 or more above l3_offset")
        self._step("fix_l4_checksum", made, one.l4 + ICMP_BYTES)

    def _is_ipv4(self, one: FixL4) -> bool:
        return one.l3 < self._bytes and self._template[one.l3] >> 4 == 4

    def _step(self, kind: str, made: dict[str, Any], end: int) -> None:
        if end > self._bytes:
            raise self._refuse(
                f"{kind}: bytes up to {end} of a packet of {self._bytes} are written"
            )
        self.written = max(self.written, end)
        self.steps.append({kind: made})


def _address(value: int) -> str:
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


class TrexStateless:
    """`profile.py`, or `profile.py,size=64,vm=var1` with tunables."""

    name = "TRex stateless profile"

    def recognises(self, text: str) -> bool:
        """By its ending, or by what the YAML holds."""
        return text.partition(",")[0].endswith(".py") or is_kind(text, "stateless")

    def read(self, text: str) -> Profile:
        """Run it in its cell."""
        file, _, rest = text.partition(",")
        path = Path(file)
        streams = read(path, _tunables(rest))
        sizes = sorted({len(str(stream["template"])) // 2 + FCS_BYTES for stream in streams})
        many = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        message = f"TRex profile {path.name}: {len(streams)} streams of {many} bytes"
        return Profile(path.stem, message, tuple(streams), files=(path,))

    def words(self, typed: str) -> list[str]:
        """None: files complete as files."""
        del typed
        return []


def _tunables(text: str) -> dict[str, str]:
    made = {}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise TrafficError(f"tunable '{word}': expected name=value")
        made[name] = value
    return made
