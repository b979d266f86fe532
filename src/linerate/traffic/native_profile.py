"""Native profiles: YAML with the engine's streams (docs/traffic.md, engine-configuration.md)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from linerate.base.frozen_model import StrictModel
from linerate.base.line_rate import FRAME_BYTES_MAX, FRAME_BYTES_MIN
from linerate.base.published import published
from linerate.base.validation import mistake
from linerate.traffic.capture.capture_profile import How, profile_of, profile_of_two
from linerate.traffic.capture.capture_sides import Sides, check_end
from linerate.traffic.profile import Pacing, Profile, Stream, TrafficError
from linerate.traffic.tunnels import needs_template, templated
from linerate.traffic.yaml_kinds import is_kind, is_yaml, kind_of_yaml, read_yaml

Mac = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$")]
Address = Annotated[str, Field(pattern=r"^[0-9a-fA-F.:]+$")]
Port = Annotated[int, Field(ge=0, le=65535)]
Byte = Annotated[int, Field(ge=0, le=255)]


class Ethernet(StrictModel):
    """Addresses default to the tester's and the device's own."""

    src: Mac | None = None
    dst: Mac | None = None
    type: Annotated[int, Field(ge=0, le=65535)] | None = None


class Vlan(StrictModel):
    """A tag."""

    id: int = Field(default=1, ge=0, le=4095)
    priority: int = Field(default=0, ge=0, le=7)


class Mpls(StrictModel):
    """A label."""

    label: int = Field(default=16, ge=0, le=0xFFFFF)
    ttl: Byte = 64
    traffic_class: int = Field(default=0, ge=0, le=7)


class Ipv4(StrictModel):
    """An IPv4 header; length and checksum are filled in."""

    src: Address | None = None
    dst: Address | None = None
    ttl: Byte = 64
    dscp: int = Field(default=0, ge=0, le=63)
    id: Port = 0
    protocol: Byte | None = None


class Ipv6(StrictModel):
    """An IPv6 header; the length is filled in."""

    src: Address | None = None
    dst: Address | None = None
    hop_limit: Byte = 64
    traffic_class: Byte = 0
    flow_label: int = Field(default=0, ge=0, le=0xFFFFF)
    next_header: Byte | None = None


class Udp(StrictModel):
    """A UDP header; length and checksum are filled in."""

    src: Port = 1025
    dst: Port = 12


class Tcp(StrictModel):
    """A TCP header; the checksum is filled in."""

    src: Port = 1025
    dst: Port = 80
    #: 2 is SYN, 18 SYN and ACK, 16 ACK.
    flags: Byte = 16
    seq: int = Field(default=0, ge=0, le=0xFFFFFFFF)
    ack: int = Field(default=0, ge=0, le=0xFFFFFFFF)
    window: Port = 8192


class Vxlan(StrictModel):
    """A VXLAN header (RFC 7348); an Ethernet header follows."""

    vni: int = Field(default=1, ge=0, le=0xFFFFFF)


class Geneve(StrictModel):
    """A Geneve header (RFC 8926) without options."""

    vni: int = Field(default=1, ge=0, le=0xFFFFFF)


class Gre(StrictModel):
    """A GRE header (RFC 2784, RFC 2890)."""

    key: int | None = Field(default=None, ge=0, le=0xFFFFFFFF)


class Srh(StrictModel):
    """A segment routing header (RFC 8754)."""

    #: In the order in which they are visited.
    segments: tuple[Address, ...] = Field(min_length=1, max_length=16)
    #: Those after the one that the destination address is; default: all but the first.
    segments_left: int | None = Field(default=None, ge=0, le=255)


class Layer(StrictModel):
    """One header: exactly one of these keys."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    ethernet: Ethernet | None = None
    vlan: Vlan | None = None
    mpls: Mpls | None = None
    ipv4: Ipv4 | None = None
    ipv6: Ipv6 | None = None
    udp: Udp | None = None
    tcp: Tcp | None = None
    vxlan: Vxlan | None = None
    geneve: Geneve | None = None
    gre: Gre | None = None
    srh: Srh | None = None

    @model_validator(mode="before")
    @classmethod
    def _one(cls, given: object) -> object:
        if not isinstance(given, dict) or len(given) != 1:
            raise ValueError("expected one header, as {udp: {dst: 53}}")
        return {key: {} if value is None else value for key, value in given.items()}


class Rate(StrictModel):
    """Exactly one of these: frames, or bits, a second, or a share of the line."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    pps: float | None = Field(default=None, ge=0, le=1e12)
    #: Preamble and gap counted.
    l1_bps: float | None = Field(default=None, ge=0, le=1e13)
    #: FCS counted.
    l2_bps: float | None = Field(default=None, ge=0, le=1e13)
    percent: float | None = Field(default=None, ge=0, le=100)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("expected exactly one of pps, l1_bps, l2_bps, percent")
        return self


class Modifier(StrictModel):
    """A field that differs from frame to frame."""

    field: Literal[
        "ethernet.src",
        "ethernet.dst",
        "vlan.id",
        "mpls.label",
        "ipv4.src",
        "ipv4.dst",
        "ipv6.src",
        "ipv6.dst",
        "udp.src",
        "udp.dst",
        "tcp.src",
        "tcp.dst",
        # The second such header, behind a tunnel's.
        "ipv4#2.src",
        "ipv4#2.dst",
        "ipv6#2.src",
        "ipv6#2.dst",
        "udp#2.src",
        "udp#2.dst",
        "tcp#2.src",
        "tcp#2.dst",
    ]
    op: Literal["increment", "decrement", "random"] = "increment"
    min: int | str
    max: int | str
    step: int = Field(default=1, ge=1)


class Range(StrictModel):
    """From `min` to `max`, both in it."""

    min: int | str | None = None
    max: int | str | None = None


class Flows(StrictModel):
    """Flows of a stream, which differ in addresses and ports."""

    count: int = Field(default=1, ge=1, le=2**31 - 1)
    order: Literal["increment", "uniform", "zipf"] = "increment"
    zipf_exponent: float | None = Field(default=None, ge=0, le=4)
    mirror: bool = False
    #: Flows that end and are replaced by new ones a second.
    new_per_s: float = Field(default=0, ge=0, le=1e9)
    seed: int = Field(default=1, ge=0, le=2**32 - 1)
    src: Range | None = None
    dst: Range | None = None
    src_port: Range | None = None
    dst_port: Range | None = None


class OurStream(StrictModel):
    """Frames that are alike but for what modifiers and flows vary."""

    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.:-]{1,40}$")
    #: The side that frames enter at: 0 (t0 to t1) or 1 (t1 to t0).
    port: Literal[0, 1] = 0
    #: FCS counted.
    frame_bytes: int = Field(default=FRAME_BYTES_MIN, ge=FRAME_BYTES_MIN, le=FRAME_BYTES_MAX)
    #: Frames in a round, of all streams that have no rate.
    weight: int | None = Field(default=None, ge=1, le=65536)
    rate: Rate | None = None
    layers: tuple[Layer, ...]
    modifiers: tuple[Modifier, ...] = ()
    flows: Flows | None = None
    #: Places of its frames in the round, where the order counts: each of 0, 1, 2, … once.
    places: tuple[Annotated[int, Field(ge=0, le=65535)], ...] | None = Field(
        default=None, min_length=1
    )
    #: Stream and sequence number in the payload; without them frames are received as `other`.
    signature: bool = True
    #: By what received frames are counted: `ip_id` for those without room for a signature.
    count_by: Literal["signature", "ip_id"] | None = None
    #: Frames carry the time when they were sent: 14 bytes of payload instead of 8.
    latency: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.layers:
            raise ValueError("layers: expected one at least, as {ipv4: {}}")
        if self.weight is not None and self.rate is not None:
            raise ValueError("weight, rate: expected one of the two")
        if self.places is not None and self.weight not in (None, len(self.places)):
            raise ValueError("weight: expected as many as there are places, or none")
        if self.latency and not self.signature:
            raise ValueError("latency: needs the signature")
        return self

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if self.count_by == "signature" and not self.signature:
            raise ValueError("count_by: signature needs one; expected ip_id")
        if self.count_by != "ip_id":
            return self
        if self.latency:
            raise ValueError("latency: needs the signature; expected no count_by")
        if self.signature and "signature" in self.model_fields_set:
            raise ValueError("count_by, signature: expected ip_id or a signature, not both")
        headers = [one.ipv4 or one.ipv6 for one in self.layers if one.ipv4 or one.ipv6]
        if not headers:
            raise ValueError("count_by: ip_id needs a layer ipv4 or ipv6")
        if any(isinstance(one, Ipv4) and one.id for one in headers):
            raise ValueError("layers: ipv4.id: the stream's number stands there; expected none")
        if any(isinstance(one, Ipv6) and one.flow_label for one in headers):
            raise ValueError("layers: ipv6.flow_label: the stream's number stands there")
        return self


class PcapSides(StrictModel):
    """Sources whose frames enter at each port; with one of the two, the other has the rest."""

    t0: tuple[Annotated[str, AfterValidator(check_end)], ...] = ()
    t1: tuple[Annotated[str, AfterValidator(check_end)], ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.t0 and not self.t1:
            raise ValueError("expected networks or MAC addresses, as {t0: [10.0.0.0/8]}")
        return self


class Pcap(StrictModel):
    """Frames of a capture instead of streams."""

    #: Beside the profile.
    file: str | None = None
    #: Two of them instead, of what enters at either port, captured at once.
    t0: str | None = None
    t1: str | None = None
    #: Both directions of a link in one file; `first`: the first frame's sender is t0's.
    sides: Literal["first"] | PcapSides | None = None
    #: Gaps between frames; default: as captured at rates as 1x, else evenly.
    pacing: Pacing | None = None
    #: `own`: from the tester to the device; `keep`: as they were captured.
    macs: Literal["own", "keep"] = "own"
    #: Repetitions in a round, each with other IP addresses.
    loops: int = Field(default=1, ge=1, le=65536)
    #: Number of low address bits that vary.
    bits: int = Field(default=8, ge=1, le=32)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        files = tuple(one is not None for one in (self.file, self.t0, self.t1))
        if files not in ((True, False, False), (False, True, True)):
            raise ValueError("expected either file, or t0 and t1")
        if self.loops > 1 << self.bits:
            raise ValueError(
                f"loops, bits: {self.bits} bits are {1 << self.bits:,} addresses, "
                f"so the frames of {self.loops:,} loops would repeat; expected more bits"
            )
        if self.file is None and self.sides is not None:
            raise ValueError("sides: of one file; expected file, not t0 and t1")
        return self


@published("traffic", "A traffic profile in YAML, of users", form="written")
class Document(StrictModel):
    """A traffic profile of linerate."""

    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,40}$")
    description: str = Field(default="", max_length=200)
    streams: tuple[OurStream, ...] = Field(default=(), max_length=8192)
    pcap: Pcap | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.streams) == (self.pcap is not None):
            raise ValueError("expected either streams or pcap")
        names = [stream.name for stream in self.streams if stream.name is not None]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"streams: two are called '{twice}'")
        return self


@dataclass(frozen=True, slots=True)
class Ours:
    """A YAML file with `streams`."""

    name: str = "YAML"

    def recognises(self, text: str) -> bool:
        """A YAML file that is none of TRex's; one that can't be read too, to say why."""
        return is_yaml(text) and not is_kind(text, "stateless") and not is_kind(text, "stateful")

    def read(self, text: str) -> Profile:
        """Read a file of ours."""
        document = read_yaml(text)
        if kind_of_yaml(document) != "ours":
            raise TrafficError(f"{text}: expected keys and values, as `streams: […]`")
        try:
            parsed = Document.model_validate(document)
        except ValidationError as error:
            lines = [mistake(text, one) for one in error.errors()]
            raise TrafficError("\n".join(lines)) from error
        name = parsed.name or Path(text).stem
        if parsed.pcap is not None:
            return _captured(Path(text), name, parsed.pcap)
        streams = tuple(_stream(stream) for stream in parsed.streams)
        count = f"{len(streams):,} stream" + "s" * (len(streams) > 1)
        return Profile(name, parsed.description or f"{name}, {count}", streams, files=(Path(text),))

    def words(self, _typed: str) -> list[str]:
        """None: files complete by themselves."""
        return []


def _stream(stream: OurStream) -> Stream:
    given: dict[str, Any] = stream.model_dump(exclude_none=True, exclude_unset=True)
    if stream.places is not None and stream.rate is None:
        given["weight"] = len(stream.places)
    return templated(given) if needs_template(given["layers"]) else given


def _captured(path: Path, name: str, pcap: Pcap) -> Profile:
    how = How(
        own_macs=pcap.macs == "own",
        loops=pcap.loops,
        bits=pcap.bits,
        sides=_sides(pcap.sides),
        pacing=pcap.pacing,
    )
    if pcap.file is not None:
        return profile_of(path.parent / pcap.file, name, how)
    return profile_of_two((path.parent / str(pcap.t0), path.parent / str(pcap.t1)), name, how)


def _sides(reported: Literal["first"] | PcapSides | None) -> Sides | None:
    if reported is None:
        return None
    return Sides() if reported == "first" else Sides(reported.t0, reported.t1)
