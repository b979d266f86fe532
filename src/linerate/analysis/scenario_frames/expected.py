"""The frame that is expected of one that was sent, by the case of a scenario that it falls into."""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from linerate.model.frame_layers import (
    CARRY_ETHERNET,
    ETHERNET_BRIDGING,
    Layer,
    Packet,
    Value,
)
from linerate.model.scenario.back import Back, Case, Change, Label, Tag

Layers = tuple[Layer, ...]


class ChangeError(ValueError):
    """A change that a frame can't have: a tag taken off a frame without one."""


@dataclass(frozen=True, slots=True)
class Path:
    """MAC addresses of a frame on its way out of the box."""

    #: Addresses of the box's port that sends it, and of the tester's that receives it.
    src: str
    dst: str


@dataclass(frozen=True, slots=True)
class Expected:
    """A frame as it must be; fields that it does not have may be any."""

    packet: Packet
    #: Fields that have one of several values.
    one_of: Mapping[str, tuple[Value, ...]]


def case_of(packet: Packet, back: Back) -> int | None:
    """Number of the first case that a frame as sent falls into."""
    for number, case in enumerate(back):
        if all(matches(packet.value(name), wanted) for name, wanted in case.where.items()):
            return number
    return None


def expected(packet: Packet, case: Case, path: Path) -> Expected:
    """The frame that is expected of one that was sent. Raises ChangeError."""
    layers = packet.layers
    one_of: dict[str, tuple[Value, ...]] = {}
    for change in case.change:
        if change.split is not None:
            one_of |= {name: tuple(map(normal, values)) for name, values in change.split.items()}
        else:
            layers = _changed(layers, change, path)
    left_open = {*case.any, *one_of}
    named = Packet(layers, packet.payload).named()
    opened = tuple(
        replace(
            layer,
            fields={
                key: value
                for key, value in layer.fields.items()
                if f"{name}.{key}" not in left_open
            },
        )
        for name, layer in named
    )
    return Expected(Packet(opened, packet.payload), one_of)


def matches(value: Value | None, wanted: Value) -> bool:
    """Whether a field has a value, is in a range (`1000-1999`) or under a prefix."""
    if value is None:
        return False
    if isinstance(wanted, str) and "/" in wanted and isinstance(value, str):
        return _is_under(value, wanted)
    low, dash, high = str(wanted).partition("-")
    if dash and isinstance(value, int) and low.isdecimal() and high.isdecimal():
        return int(low) <= value <= int(high)
    return value == normal(wanted)


def _is_under(value: str, prefix: str) -> bool:
    try:
        return ipaddress.ip_address(value) in ipaddress.ip_network(prefix, strict=False)
    except ValueError:
        return False


def normal(value: Value) -> Value:
    """A value as frames have it: addresses in their short form, numbers as numbers."""
    if isinstance(value, int):
        return value
    try:
        return int(value, 0)
    except ValueError:
        pass
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        return value.lower()


def _changed(layers: Layers, change: Change, path: Path) -> Layers:
    (key,) = change.model_fields_set
    return _CHANGES[key](layers, getattr(change, key), path)


def _do(layers: Layers, word: str, path: Path) -> Layers:
    return _WORDS[word](layers, path)


def _macs(layers: Layers, path: Path) -> Layers:
    return _with(layers, _at(layers, "ethernet"), {"src": path.src, "dst": path.dst})


def _macswap(layers: Layers, _path: Path) -> Layers:
    at = _at(layers, "ethernet")
    fields = layers[at].fields
    return _with(layers, at, {"src": fields["dst"], "dst": fields["src"]})


def _ttl(layers: Layers, _path: Path) -> Layers:
    at = next((n for n, one in enumerate(layers) if one.name in ("mpls", "ipv4", "ipv6")), None)
    if at is None:
        raise ChangeError(f"ttl: expected an IP packet, not {_text(layers)}")
    key = "hop_limit" if layers[at].name == "ipv6" else "ttl"
    return _one_less(layers, at, key)


def _one_less(layers: Layers, at: int, key: str) -> Layers:
    value = layers[at].fields.get(key)
    return layers if value is None else _with(layers, at, {key: int(value) - 1})


def _forward(layers: Layers, path: Path) -> Layers:
    return _macs(_ttl(layers, path), path)


_WORDS: dict[str, Callable[[Layers, Path], Layers]] = {
    "forward": _forward,
    "macs": _macs,
    "ttl": _ttl,
    "macswap": _macswap,
}


def _push_vlan(layers: Layers, tag: Tag, _path: Path) -> Layers:
    given = {"id": tag.id, "priority": tag.priority, "tpid": tag.tpid}
    fields = {name: normal(value) for name, value in given.items() if value is not None}
    at = _at(layers, "ethernet") + 1
    return (*layers[:at], Layer("vlan", fields), *layers[at:])


def _pop(name: str) -> Callable[[Layers, Any, Path], Layers]:
    def pop(layers: Layers, count: Any, _path: Path) -> Layers:  # noqa: ANN401 (of a change)
        for _ in range(int(count)):
            at = _at(layers, name)
            layers = (*layers[:at], *layers[at + 1 :])
        return layers

    return pop


def _set_vlan(layers: Layers, vlan: Value, _path: Path) -> Layers:
    return _with(layers, _at(layers, "vlan"), {"id": normal(vlan)})


def _push_mpls(layers: Layers, label: Label, _path: Path) -> Layers:
    # Behind Ethernet and tags, before other labels.
    before = ("ethernet", "vlan")
    at = next((n for n, one in enumerate(layers) if one.name not in before), len(layers))
    fields: dict[str, Value] = {"label": normal(label.label)}
    if label.ttl is not None:
        fields["ttl"] = normal(label.ttl)
    return (*layers[:at], Layer("mpls", fields), *layers[at:])


def _swap_mpls(layers: Layers, label: Label, _path: Path) -> Layers:
    at = _at(layers, "mpls")
    layers = _one_less(layers, at, "ttl") if label.ttl is None else layers
    fields: dict[str, Value] = {"label": normal(label.label)}
    if label.ttl is not None:
        fields["ttl"] = normal(label.ttl)
    return _with(layers, at, fields)


def _set(layers: Layers, fields: Mapping[str, Value], _path: Path) -> Layers:
    for name, value in fields.items():
        where, _, key = name.partition(".")
        known = [one for one, _ in Packet(layers, b"").named()]
        if where not in known:
            raise ChangeError(f"set: {name}: expected one of {', '.join(known)}")
        layers = _with(layers, known.index(where), {key: normal(value)})
    return layers


def _encapsulate(
    layers: Layers, given: tuple[dict[str, dict[str, Value]], ...], path: Path
) -> Layers:
    outer = tuple(
        Layer(name, {key: normal(value) for key, value in (fields or {}).items()})
        for one in given
        for name, fields in one.items()
    )
    if not outer or outer[0].name != "ethernet":
        outer = (Layer("ethernet", {"src": path.src, "dst": path.dst}), *outer)
    last = outer[-1]
    whole = last.name in CARRY_ETHERNET or last.fields.get("type") == ETHERNET_BRIDGING
    return outer + (layers if whole else _packet(layers))


def _packet(layers: Layers) -> Layers:
    """A frame without its Ethernet header and tags."""
    before = ("ethernet", "vlan")
    at = next((n for n, one in enumerate(layers) if one.name not in before), len(layers))
    return layers[at:]


def _decapsulate(layers: Layers, names: tuple[str, ...], path: Path) -> Layers:
    for name in names:
        layers = _pop(name)(layers, 1, path)
    if not layers or layers[0].name != "ethernet":
        raise ChangeError(f"decapsulate: expected a frame inside, not {_text(layers) or 'nothing'}")
    return layers


_CHANGES: dict[str, Callable[[Layers, Any, Path], Layers]] = {
    "do": _do,
    "push_vlan": _push_vlan,
    "pop_vlan": _pop("vlan"),
    "set_vlan": _set_vlan,
    "push_mpls": _push_mpls,
    "pop_mpls": _pop("mpls"),
    "swap_mpls": _swap_mpls,
    "set": _set,
    "encapsulate": _encapsulate,
    "decapsulate": _decapsulate,
}


def _at(layers: Layers, name: str) -> int:
    for number, layer in enumerate(layers):
        if layer.name == name:
            return number
    raise ChangeError(f"expected {name} in {_text(layers)}")


def _with(layers: Layers, at: int, fields: Mapping[str, Value]) -> Layers:
    changed = replace(layers[at], fields={**layers[at].fields, **fields})
    return (*layers[:at], changed, *layers[at + 1 :])


def _text(layers: Layers) -> str:
    return "/".join(layer.name for layer in layers)
