"""TRex's stateless profiles, packet by packet: a second opinion, by scapy.

It shares nothing with the shim, the converter and the engine: a profile is loaded here with names
that only record what they are given, and packets are changed byte by byte as TRex's manual says.
What is random is read out of the packet that it is compared with.
"""

import argparse
import importlib.util
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from scapy import all as scapy_all
from scapy.compat import raw
from scapy.layers.inet import IP
from scapy.packet import Packet

from linerate.model.suites import DUT_MACS, TESTER_MACS

MINIMUM = 60


class Said:
    """A call of a class of TRex's, remembered."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs

    def __getitem__(self, key: str) -> Any:
        return self.kwargs[key]

    def get(self, key: str, place: int | None = None, default: Any = None) -> Any:
        if key in self.kwargs:
            return self.kwargs[key]
        if place is not None and place < len(self.args):
            return self.args[place]
        return default


class STLVM(Said):
    def __init__(self) -> None:
        self.args = ([],)
        self.kwargs = {}

    def var(self, **text: Any) -> None:
        self.args[0].append(NAMES["STLVmFlowVar"](**text))

    def write(self, **text: Any) -> None:
        self.args[0].append(NAMES["STLVmWrFlowVar"](**text))

    def fix_chksum_hw(self, **text: Any) -> None:
        self.args[0].append(NAMES["STLVmFixChecksumHw"](**text))


NAMES: dict[str, Any] = {
    name: type(name, (Said,), {})
    for name in (
        "STLStream", "STLPktBuilder", "STLTXCont", "STLTXSingleBurst", "STLTXMultiBurst",
        "STLScVmRaw", "STLVmFlowVar", "STLVmFlowVarRepeatableRandom", "STLVmWrFlowVar",
        "STLVmWrMaskFlowVar", "STLVmFixIpv4", "STLVmFixChecksumHw", "STLVmTupleGen",
        "STLVmTrimPktSize", "STLFlowStats", "STLFlowLatencyStats",
    )
}  # fmt: skip
NAMES |= {"STLVM": STLVM, "CTRexVmInsFixHwCs": argparse.Namespace(L4_TYPE_UDP=11, L4_TYPE_TCP=13)}


def streams(path: Path, side: int, **more: Any) -> list[Said]:
    """Result of a profile's get_streams()."""
    module = types.ModuleType("trex_stl_lib.api")
    module.__dict__.update({k: v for k, v in vars(scapy_all).items() if not k.startswith("_")})
    module.__dict__.update(NAMES)
    fakes = ("trex_stl_lib", "trex_stl_lib.api", "trex", "trex.stl", "trex.stl.api")
    before = {name: sys.modules.get(name) for name in fakes}
    sys.modules.update(dict.fromkeys(fakes, module))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        profile = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(profile)
        return list(profile.register().get_streams(direction=side, **more))
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old


def number(value: Any) -> int:
    return value if isinstance(value, int) else int.from_bytes(map(int, value.split(".")), "big")


def checksum(data: bytes) -> int:
    total = int.from_bytes(data if len(data) % 2 == 0 else data + b"\0", "big") % 0xFFFF
    return 0xFFFF - total if total else 0xFFFF if not any(data) else 0


def pinned(packet: Packet) -> Packet:
    """The same with nothing that scapy fills in: a field's change changes no other."""
    layer = packet.copy()
    first = layer
    while layer:
        for field in ("len", "chksum", "plen"):
            if field in layer.default_fields and layer.getfieldval(field) is None:
                layer.setfieldval(field, 0)
        layer = layer.payload
    return first


class Model:
    """One stream's packets."""

    def __init__(self, stream: Said, side: int) -> None:
        builder = stream["packet"]
        packet = builder["pkt"].copy()
        for name, mac in (("dst", DUT_MACS[side]), ("src", TESTER_MACS[side])):
            if name not in packet.fields:
                setattr(packet, name, mac)
        if IP in packet and "src" not in packet[IP].fields:
            packet[IP].src, packet[IP].dst = "16.0.0.1", "48.0.0.1"
        self.template = raw(packet).ljust(MINIMUM, b"\0")
        self._packet = pinned(packet)
        vm = builder.get("vm", default=[])
        self._steps = vm if isinstance(vm, list) else vm.args[0]
        self._values: dict[str, int] = {}
        #: Ranges of steps; a profile may use one in several streams.
        self._places: dict[int, tuple[int, int]] = {}
        self._sizes: dict[str, int] = {}
        self._random: dict[str, tuple[int, int]] = {}
        self.seen: dict[str, list[int]] = {}
        self._movers = [one for one in map(self._mover, self._steps) if one is not None]
        for mover in self._movers:
            next(mover)
        self.sent = 0
        self._plan = [(type(step).__name__, step) for step in self._steps]
        self._trims = any(kind == "STLVmTrimPktSize" for kind, _ in self._plan)
        self._made: bytes | None = None

    def expected(self, captured: bytes) -> bytes:
        """The stream's next packet, as far as chance has a say like the captured one."""
        if not self._trims and len(captured) != len(self.template):
            return b""
        if self._made is None or self._random:
            self._made = self._make(captured)
        return self._made

    def _make(self, captured: bytes) -> bytes:
        frame, length = bytearray(self.template), len(self.template)
        for kind, step in self._plan:
            if kind == "STLVmTrimPktSize":
                length = self._value(step.get("fv_name", 0), len(captured))
            elif kind in ("STLVmWrFlowVar", "STLVmWrMaskFlowVar"):
                self._write(frame, step, captured)
            elif kind in ("STLVmFixIpv4", "STLVmFixChecksumHw"):
                self._fix(frame, step, length)
        return bytes(frame[:length])

    def advance(self) -> None:
        self.sent += 1
        self._made = None
        for name, (low, high) in self._random.items():
            value = self._values[name]
            assert low <= value <= high, (name, value)
            self.seen.setdefault(name, []).append(value)
        for mover in self._movers:
            next(mover)

    def _value(self, name: str, captured: int) -> int:
        if name in self._random:
            self._values[name] = captured
        return self._values[name]

    def _mover(self, step: Said) -> Iterator[None] | None:
        kind = type(step).__name__
        if kind == "STLVmTupleGen":
            return self._tuple(step)
        if kind not in ("STLVmFlowVar", "STLVmFlowVarRepeatableRandom"):
            return None
        name = step["name"]
        self._sizes[name] = step.get("size", default=4)
        if kind == "STLVmFlowVarRepeatableRandom" or step.get("op") == "random":
            self._random[name] = (number(step["min_value"]), number(step["max_value"]))
            return None
        before = [s for s in self._steps if s.kwargs.get("next_var") == name]
        return self._walk(step, before[0]["name"] if before else None)

    def _walk(self, step: Said, before: str | None) -> Iterator[None]:
        name, by = step["name"], step.get("step", default=1)
        if "value_list" in step.kwargs:
            listed = step["value_list"]
        else:
            listed = range(number(step["min_value"]), number(step["max_value"]) + 1, by)
            if step["op"] == "dec":
                listed = range(number(step["max_value"]), number(step["min_value"]) - 1, -by)
        while True:
            for value in listed:
                self._values[name] = value
                yield
                while before is not None and not self._just_wrapped(before):
                    yield

    def _just_wrapped(self, name: str) -> bool:
        """It stands at its first value, to which it came by going round."""
        step = next(s for s in self._steps if s.kwargs.get("name") == name)
        return bool(self._values[name] == number(step["min_value"]))

    def _tuple(self, step: Said) -> Iterator[None]:
        low, high = number(step["ip_min"]), number(step["ip_max"])
        limit, name = step["limit_flows"], step["name"]
        self._sizes |= {f"{name}.ip": 4, f"{name}.port": 2}
        while True:
            flows = 0
            for port in range(step["port_min"], step["port_max"] + 1):
                for ip in range(low, high + 1):
                    if limit and flows == limit:
                        break
                    flows += 1
                    self._values |= {f"{name}.ip": ip, f"{name}.port": port}
                    yield

    def _at(self, step: Said) -> int:
        text = step["pkt_offset"]
        at = text if isinstance(text, int) else self._probe(text)
        return int(at) + int(step.get("offset_fixup", default=0))

    def _layer(self, text: str) -> Packet:
        name, _, nth = text.replace("|", ".").partition(":")
        found, layer = [], self._packet
        while layer:
            if name in (layer.name, type(layer).__name__):
                found.append(layer)
            layer = layer.payload
        return found[int(nth or 0)]

    def _layer_at(self, text: Any) -> int:
        return text if isinstance(text, int) else len(self._packet) - len(self._layer(text))

    def _probe(self, text: str) -> int:
        """Where the packet changes with the field."""
        name, _, field = text.rpartition(".")
        layer = self._layer(name)
        value: Any = layer.getfieldval(field)
        other: Any
        if isinstance(value, int):
            other = value ^ ((1 << getattr(layer.get_field(field), "size", 16)) - 1)
        elif isinstance(value, bytes):
            other = bytes(255 - one for one in value)
        else:
            other = (
                "ff::ff" if ":" in value else ".".join(str(255 - int(b)) for b in value.split("."))
            )
        before = raw(self._packet)
        layer.setfieldval(field, other)
        after = raw(self._packet)
        layer.setfieldval(field, value)
        return next(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)

    def _write(self, frame: bytearray, step: Said, captured: bytes) -> None:
        name = step["fv_name"]
        masked = type(step).__name__ == "STLVmWrMaskFlowVar"
        size = step["pkt_cast_size"] if masked else self._sizes[name]
        order: Literal["big", "little"] = "big" if step.get("is_big", default=True) else "little"
        if id(step) not in self._places:
            self._places[id(step)] = (self._at(step), 0)
        at = self._places[id(step)][0]
        add = step.get("add_value" if masked else "add_val", default=0)
        field = int.from_bytes(captured[at : at + size], order)
        value = (self._value(name, field - add) + add) % (1 << 8 * size)
        if masked:
            shift, mask = step.get("shift", default=0), step["mask"]
            value = self._values[name] + add
            value = (value << shift if shift >= 0 else value >> -shift) % (1 << 32)
            old = int.from_bytes(frame[at : at + size], order)
            value = old & ~mask | value & mask
        frame[at : at + size] = value.to_bytes(size, order)

    def _fix(self, frame: bytearray, step: Said, length: int) -> None:
        if id(step) not in self._places:
            text = step.get("offset") or step.get("l3_offset")
            l4_offset = step.get("l4_offset", default=0)
            self._places[id(step)] = (self._layer_at(text), self._layer_at(l4_offset))
        l3, l4 = self._places[id(step)]
        four = frame[l3] >> 4 == 4
        if four:
            frame[l3 + 10 : l3 + 12] = b"\0\0"
            frame[l3 + 10 : l3 + 12] = checksum(bytes(frame[l3 : l3 + 20])).to_bytes(2, "big")
        if type(step).__name__ == "STLVmFixIpv4":
            return
        udp = step["l4_type"] == 11
        ip_length = int.from_bytes(
            frame[l3 + 2 : l3 + 4] if four else frame[l3 + 4 : l3 + 6], "big"
        )
        end = min(l3 + ip_length + (0 if four else 40), length)
        where = l4 + (6 if udp else 16)
        frame[where : where + 2] = b"\0\0"
        addresses = frame[l3 + 12 : l3 + 20] if four else frame[l3 + 8 : l3 + 40]
        pseudo = bytes(addresses) + bytes((0, 17 if udp else 6)) + (end - l4).to_bytes(2, "big")
        made = checksum(pseudo + bytes(frame[l4:end]))
        frame[where : where + 2] = (made or (0xFFFF if udp else 0)).to_bytes(2, "big")


def follow(models: list[Model], captured: list[bytes]) -> None:
    """Each captured packet is the next one of one of the streams."""
    for place, frame in enumerate(captured):
        for model in models:
            if model.expected(frame) == frame:
                model.advance()
                break
        else:
            wanted = [model.expected(frame).hex() for model in models]
            raise AssertionError(f"packet {place}: {frame.hex()} is none of {wanted}")
