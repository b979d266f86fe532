"""The classes of a TRex field engine: each says what instructions it stands for."""

import socket
import struct
from typing import Any

from packets import Places, ProfileError

Instruction = dict[str, Any]
L4_TYPES = {11: "udp", 13: "tcp", 17: "ip"}


def number(value: object, what: str) -> int:
    """A whole number, or an IPv4 address as one."""
    if isinstance(value, bool) or value is None:
        raise ProfileError(f"{what}: expected a number or an address, not {value!r}")
    if isinstance(value, int):
        return value
    if isinstance(value, bytes) and len(value) == 4:
        return int.from_bytes(value, "big")
    if isinstance(value, str):
        try:
            return int(struct.unpack("!I", socket.inet_aton(value))[0])
        except OSError:
            pass
    raise ProfileError(f"{what}: expected a number or an address, not {value!r}")


class CTRexVmDescBase:
    """One instruction."""

    def instruction(self, places: Places) -> Instruction:
        """In words of ours, with offsets as numbers."""
        raise ProfileError(f"{type(self).__name__}: not supported")


class STLVmFlowVar(CTRexVmDescBase):
    """A variable that walks a range or a list."""

    def __init__(
        self,
        name: str,
        init_value: Any = None,
        min_value: Any = 0,
        max_value: Any = 255,
        size: int = 4,
        step: Any = 1,
        op: str = "inc",
        value_list: Any = None,
        split_to_cores: bool = True,
        next_var: str | None = None,
    ) -> None:
        """As TRex has it; cores are no concern of ours."""
        del split_to_cores
        self.name = name
        self._given_words = {
            "type": "variable",
            "name": name,
            "size": size,
            "op": op,
            "step": number(step, f"{name}: step"),
            "next_var": next_var,
        }
        if value_list is not None:
            self._given_words["values"] = [number(one, f"{name}: value_list") for one in value_list]
            return
        self._given_words["min"] = number(min_value, f"{name}: min_value")
        self._given_words["max"] = number(max_value, f"{name}: max_value")
        if init_value is not None:
            self._given_words["start"] = number(init_value, f"{name}: init_value")

    def instruction(self, places: Places) -> Instruction:
        """The variable."""
        del places
        return self._given_words


class STLVmFlowVarRepeatableRandom(CTRexVmDescBase):
    """Random numbers that come again after a while."""

    def __init__(
        self,
        name: str,
        size: int = 4,
        limit: int = 100,
        seed: int | None = None,
        min_value: Any = 0,
        max_value: Any = None,
        split_to_cores: bool = True,
        next_var: str | None = None,
    ) -> None:
        """As TRex has it."""
        del split_to_cores
        self._given_words = {
            "type": "variable",
            "name": name,
            "size": size,
            "op": "random",
            "limit": limit,
            "seed": seed,
            "step": 1,
            "min": 0 if min_value is None else number(min_value, f"{name}: min_value"),
            "next_var": next_var,
        }
        if max_value is not None:
            self._given_words["max"] = number(max_value, f"{name}: max_value")

    def instruction(self, places: Places) -> Instruction:
        """The variable."""
        del places
        return self._given_words


#: As it was spelled first.
STLVmFlowVarRepetableRandom = STLVmFlowVarRepeatableRandom


class STLVmTupleGen(CTRexVmDescBase):
    """Addresses and ports that go together."""

    def __init__(
        self,
        name: str,
        ip_min: Any = "0.0.0.1",
        ip_max: Any = "0.0.0.10",
        port_min: int = 1025,
        port_max: int = 65535,
        limit_flows: int = 100000,
        flags: int = 0,
    ) -> None:
        """As TRex has it; of flags 1 is: any port from 1025 on, any number of flows."""
        unlimited = bool(flags & 1)
        self._given_words = {
            "type": "tuple",
            "name": name,
            "ip_min": number(ip_min, f"{name}: ip_min"),
            "ip_max": number(ip_max, f"{name}: ip_max"),
            "port_min": 1025 if unlimited else port_min,
            "port_max": 65535 if unlimited else port_max,
            "flows": 0 if unlimited else limit_flows,
        }

    def instruction(self, places: Places) -> Instruction:
        """The generator."""
        del places
        return self._given_words


class _At(CTRexVmDescBase):
    """Field with an offset by name or number."""

    def __init__(self, pkt_offset: Any, offset_fixup: int) -> None:
        self._offset, self._fixup = pkt_offset, offset_fixup

    def _at(self, places: Places) -> int:
        at = places.of_field(self._offset) if isinstance(self._offset, str) else self._offset
        return int(at) + self._fixup


class STLVmWrFlowVar(_At):
    """A variable goes into the packet."""

    def __init__(
        self,
        fv_name: str,
        pkt_offset: Any,
        offset_fixup: int = 0,
        add_val: int = 0,
        is_big: bool = True,
    ) -> None:
        """As TRex has it."""
        super().__init__(pkt_offset, offset_fixup)
        self._given_words = {"type": "write", "variable": fv_name, "add": add_val, "big": is_big}

    def instruction(self, places: Places) -> Instruction:
        """The write."""
        return self._given_words | {"offset": self._at(places)}


class STLVmWrMaskFlowVar(_At):
    """Some bits of a variable go into the packet."""

    def __init__(
        self,
        fv_name: str,
        pkt_offset: Any,
        pkt_cast_size: int = 1,
        mask: int = 0xFF,
        shift: int = 0,
        add_value: int = 0,
        offset_fixup: int = 0,
        is_big: bool = True,
    ) -> None:
        """As TRex has it."""
        super().__init__(pkt_offset, offset_fixup)
        self._given_words = {
            "type": "write",
            "variable": fv_name,
            "size": pkt_cast_size,
            "mask": mask,
            "shift": shift,
            "add": add_value,
            "big": is_big,
        }

    def instruction(self, places: Places) -> Instruction:
        """The write."""
        return self._given_words | {"offset": self._at(places)}


def _layer(at: Any, places: Places) -> int:
    return places.of_layer(at) if isinstance(at, str) else int(at)


class STLVmFixIpv4(CTRexVmDescBase):
    """An IPv4 header's checksum."""

    def __init__(self, offset: Any = "IP") -> None:
        """As TRex has it."""
        self._offset = offset

    def instruction(self, places: Places) -> Instruction:
        """The checksum."""
        return {"type": "fix_ipv4", "offset": _layer(self._offset, places)}


class CTRexVmInsFixHwCs:
    """Names of numbers."""

    L4_TYPE_UDP = 11
    L4_TYPE_TCP = 13
    L4_TYPE_IP = 17


class STLVmFixChecksumHw(CTRexVmDescBase):
    """Checksums of IPv4 and of what it carries; by us, whatever the card can do."""

    def __init__(self, l3_offset: Any, l4_offset: Any, l4_type: int) -> None:
        """As TRex has it."""
        self._l3, self._l4, self._type = l3_offset, l4_offset, l4_type

    def instruction(self, places: Places) -> Instruction:
        """The checksums."""
        if self._type not in L4_TYPES:
            raise ProfileError(f"STLVmFixChecksumHw l4_type {self._type}: not supported")
        l3 = _layer(self._l3, places)
        l4 = _layer(self._l4, places)
        return {"type": "fix_l4", "l3": l3, "l4": l4, "protocol": L4_TYPES[self._type]}


class STLVmFixIcmpv6(CTRexVmDescBase):
    """An ICMPv6 checksum."""

    def __init__(self, l3_offset: Any, l4_offset: Any) -> None:
        """As TRex has it."""
        self._l3, self._l4 = l3_offset, l4_offset

    def instruction(self, places: Places) -> Instruction:
        """The checksum."""
        l3, l4 = _layer(self._l3, places), _layer(self._l4, places)
        return {"type": "fix_l4", "l3": l3, "l4": l4, "protocol": "icmp6"}


class STLVmTrimPktSize(CTRexVmDescBase):
    """A variable is the packet's size."""

    def __init__(self, fv_name: str) -> None:
        """As TRex has it."""
        self._name = fv_name

    def instruction(self, places: Places) -> Instruction:
        """The size."""
        del places
        return {"type": "trim", "variable": self._name}


class STLScVmRaw:
    """A program: its instructions in order."""

    def __init__(
        self,
        list_of_commands: list[CTRexVmDescBase] | None = None,
        split_by_field: str | None = None,
        cache_size: int | None = None,
    ) -> None:
        """A cache makes TRex faster by fewer different packets; ours has none, and no cores."""
        del split_by_field
        self.commands = list(list_of_commands or [])
        self.cache_size = cache_size

    def add_cmd(self, command: CTRexVmDescBase) -> None:
        """One more."""
        self.commands.append(command)


#: As they were called first.
CTRexScRaw = STLScVmRaw
CTRexVmDescFlowVar, CTRexVmDescWrFlowVar = STLVmFlowVar, STLVmWrFlowVar
CTRexVmDescTupleGen, CTRexVmDescFixIpv4 = STLVmTupleGen, STLVmFixIpv4
CTRexVmDescTrimPktSize = STLVmTrimPktSize


class STLVM(STLScVmRaw):
    """The same, written call by call."""

    def __init__(self) -> None:
        """Empty."""
        super().__init__()

    def set_cached(self, cache_size: int) -> None:
        """As STLScVmRaw's cache_size."""
        self.cache_size = cache_size

    def var(
        self, name: str, min_value: Any, max_value: Any, size: int, op: str, **more: Any
    ) -> None:
        """STLVmFlowVar."""
        more |= {"min_value": min_value, "max_value": max_value, "size": size, "op": op}
        self.add_cmd(STLVmFlowVar(name, **more))

    def repeatable_random_var(self, fv_name: str, size: int, limit: int, **more: Any) -> None:
        """STLVmFlowVarRepeatableRandom."""
        self.add_cmd(STLVmFlowVarRepeatableRandom(fv_name, size, limit, **more))

    def tuple_var(
        self,
        name: str,
        ip_min: Any,
        ip_max: Any,
        port_min: int,
        port_max: int,
        limit_flows: int = 0,
        **more: Any,
    ) -> None:
        """STLVmTupleGen, without a limit unless one is given."""
        self.add_cmd(STLVmTupleGen(name, ip_min, ip_max, port_min, port_max, limit_flows, **more))

    def write(
        self,
        fv_name: str,
        pkt_offset: Any,
        offset_fixup: int = 0,
        add_val: int = 0,
        byte_order: str = "big",
    ) -> None:
        """STLVmWrFlowVar."""
        big = byte_order == "big"
        self.add_cmd(STLVmWrFlowVar(fv_name, pkt_offset, offset_fixup, add_val, big))

    def write_mask(
        self,
        fv_name: str,
        pkt_offset: Any,
        pkt_cast_size: int,
        mask: int,
        shift: int = 0,
        offset_fixup: int = 0,
        add_val: int = 0,
        byte_order: str = "big",
    ) -> None:
        """STLVmWrMaskFlowVar."""
        self.add_cmd(
            STLVmWrMaskFlowVar(
                fv_name, pkt_offset, pkt_cast_size, mask, shift, add_val, offset_fixup,
                byte_order == "big",
            )
        )  # fmt: skip

    def fix_chksum(self, offset: Any = "IP") -> None:
        """STLVmFixIpv4."""
        self.add_cmd(STLVmFixIpv4(offset))

    def fix_chksum_hw(self, l3_offset: Any, l4_offset: Any, l4_type: int) -> None:
        """STLVmFixChecksumHw."""
        self.add_cmd(STLVmFixChecksumHw(l3_offset, l4_offset, l4_type))

    def fix_chksum_icmpv6(self, l3_offset: Any, l4_offset: Any) -> None:
        """STLVmFixIcmpv6."""
        self.add_cmd(STLVmFixIcmpv6(l3_offset, l4_offset))

    def trim(self, fv_name: str) -> None:
        """STLVmTrimPktSize."""
        self.add_cmd(STLVmTrimPktSize(fv_name))


def STLIPRange(  # noqa: N802 (TRex's name)
    src: dict[str, Any] | None = None, dst: dict[str, Any] | None = None, fix_chksum: bool = True
) -> list[CTRexVmDescBase]:
    """Instructions that walk ranges of addresses."""
    made: list[CTRexVmDescBase] = []
    for name, words in (("src", src), ("dst", dst)):
        if words:
            made.append(
                STLVmFlowVar(
                    name, min_value=words["start"], max_value=words["end"], step=words["step"]
                )
            )
            made.append(STLVmWrFlowVar(name, f"IP.{name}"))
    return [*made, STLVmFixIpv4("IP")] if fix_chksum else made
