"""Returned frames: the changes that a box makes, from the frame as it was sent."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from linerate.base.frozen_model import StrictModel

#: `layer.field`, of the outermost layer of that kind; `layer#2.field` of the next one in it.
FieldName = Annotated[str, Field(pattern=r"^[a-z0-9]+(#[1-9])?\.[a-z_]+$")]
#: A value; in `where` also a range (`1000-1999`) or a prefix (`16.0.0.0/25`).
FieldValue = str | int
Fields = dict[FieldName, FieldValue]
#: A number, or a placeholder of one.
Placeholder = Annotated[str, Field(pattern=r"^\{[a-z][a-z0-9_]*\}$")]
Number = int | Placeholder
Layers = tuple[dict[str, dict[str, FieldValue]], ...]
#: Changes without parameters.
Word = Literal["forward", "macs", "macswap", "ttl"]


class Tag(StrictModel):
    """A VLAN tag; a field that is not given may be any."""

    id: Number
    priority: Number | None = None
    #: 0x8100, or 0x88A8 of a service tag.
    tpid: Number | None = None


class Label(StrictModel):
    """An MPLS label; a field that is not given may be any."""

    label: Number
    ttl: Number | None = None


def _label(value: object) -> object:
    return value if isinstance(value, dict) else {"label": value}


def _tag(value: object) -> object:
    return value if isinstance(value, dict) else {"id": value}


class Change(StrictModel):
    """One change: exactly one of these keys."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    #: `forward`: TTL or hop limit one less, MACs of the outgoing port and of the tester's;
    #: `macs`: those MACs alone; `ttl`: that alone; `macswap`: source and destination exchanged.
    do: Word | None = None
    push_vlan: Annotated[Tag, BeforeValidator(_tag)] | None = None
    #: Number of tags that are taken off.
    pop_vlan: Number | None = None
    #: The outer tag's new VLAN.
    set_vlan: Number | None = None
    push_mpls: Annotated[Label, BeforeValidator(_label)] | None = None
    #: Number of labels that are taken off.
    pop_mpls: Number | None = None
    #: The outer label's new value; its TTL is one less.
    swap_mpls: Annotated[Label, BeforeValidator(_label)] | None = None
    #: Fields with other values: NAT, marks. Checksums must be right whatever changes.
    set: Fields | None = None
    #: Headers put before the frame, the outermost first; fields that are not given may be any. Its
    #: Ethernet header goes inside after `vxlan`, `geneve` and a `gre` of type 0x6558, else not.
    #: Without `ethernet` at the front the outer MACs are those of `forward`.
    encapsulate: Layers | None = None
    #: Names of the headers that are taken off: `[ethernet, ipv4, udp, vxlan]`, or `[ipv4, gre]`
    #: where the packet inside has no Ethernet header and keeps the outer one.
    decapsulate: tuple[str, ...] | None = None
    #: A field of which each value is seen, and no other: paths of ECMP.
    split: dict[FieldName, tuple[FieldValue, ...]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: object) -> object:
        if isinstance(value, str):
            return {"do": value}
        return value

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("expected one change, as `forward` or {push_vlan: 100}")
        return self


def _switch(value: object) -> object:
    """YAML reads `on` and `off` as truth values."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


class Case(StrictModel):
    """Return of the frames that `where` matches; of all frames without it."""

    #: Only with these choices of values: `{tunnel: off}`.
    when: dict[str, Annotated[FieldValue, BeforeValidator(_switch)]] = {}
    #: Fields of the frame as sent: `{udp.dst: 1000-1999, ipv4.dst: 48.0.0.0/25}`.
    where: dict[FieldName, FieldValue] = {}
    #: In the order in which a box makes them; none: unchanged.
    change: tuple[Change, ...] = ()
    #: Dropped on purpose.
    dropped: bool = False
    #: Number of times that each frame is received.
    copies: Number = 1
    #: The tester's port that receives it: the other one, the one that sent it, each of them, or
    #: one or the other where both must be seen.
    port: Literal["other", "same", "both", "split"] = "other"
    #: Fields that are the box's choice: `ipv4.id`, `vlan.id`.
    any: tuple[FieldName, ...] = ()
    #: Share of these frames that is received, least and most: of a policer.
    percent: tuple[float, float] = (100.0, 100.0)
    #: The payload can't be read: frames are counted, and their outermost headers compared.
    encrypted: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.dropped and (self.change or self.copies != 1):
            raise ValueError("dropped: expected without change and copies")
        if self.percent[0] > self.percent[1]:
            raise ValueError("percent: expected the least first, as [40, 60]")
        return self


#: Words for the most frequent cases.
WORDS: dict[str, dict[str, Any]] = {
    "forwarded": {"change": ["forward"]},
    "unchanged": {},
    "dropped": {"dropped": True},
}


def _cases(value: object) -> object:
    if isinstance(value, str):
        if value not in WORDS:
            raise ValueError(f"expected {', '.join(WORDS)}, or cases, not '{value}'")
        return [WORDS[value]]
    return [value] if isinstance(value, dict) else value


#: The first case whose `where` matches a frame says what comes back of it.
Back = Annotated[tuple[Case, ...], BeforeValidator(_cases), Field(min_length=1)]
