"""A loadtest of a profile: its streams with ports, addresses and rates of a testbed's link."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

from linerate.model.suites import TESTER_MACS, Loadtest, Offered, Protocol, StreamRate, Traffic
from linerate.model.suites.loadtest import TIMED_SUFFIX, Flows, Streams, Way, timed_name
from linerate.traffic.mirror import mirrored
from linerate.traffic.profile import (
    Profile,
    Stream,
    TrafficError,
    engine_keys,
    has_signature,
    is_signed,
)
from linerate.traffic.rate import Rate, Share, as_float, own_pps, scale
from linerate.traffic.sizes import mean_bytes_of
from linerate.traffic.timing import Timing, check_timeable, part_of, timed
from linerate.traffic.weights import fitted

#: The engine's.
STREAMS_MAX = 8192
#: Length of a name in the engine, without the suffix of timed parts.
NAME_MAX = 47
_NAME_MAX = NAME_MAX - len(TIMED_SUFFIX)
#: Keys of streams that do not send all the time.
PACED = frozenset(("burst", "bursts", "start_us"))
UNEVEN = PACED | {"at"}
MPLS_TYPES = ("8847", "8848")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTraffic(Traffic):
    """A profile, as seen by the measuring code."""

    profile: Profile
    full: Offered
    #: In the order of the profile's streams, for the engine.
    weights: tuple[int, ...] = field(hash=False)
    #: Speed-up over the profile's own times: gaps and starts shrink by it.
    faster: float = field(default=1.0, hash=False)

    @property
    def text(self) -> str:
        """In words."""
        rate = "" if self.full.rate == "100%" else f" at {self.full.rate}"
        return f"{self.profile.text}{rate}"

    @property
    def offered(self) -> Offered:
        """Full scale."""
        return self.full

    @property
    def has_own_addresses(self) -> bool:
        """Those of a file are; mixes by name are between the suites' networks."""
        return bool(self.profile.files)

    @property
    def always_paced(self) -> bool:
        """Bursts, and streams that begin later, have no ceiling: those go with a rate."""
        return any(not PACED.isdisjoint(stream) for stream in self.profile.streams)

    def sides(self, directions: int) -> tuple[int, ...]:
        """Those that send; a profile may have streams of t1 alone."""
        del directions
        return sending(self.full)

    def timed(self) -> Self:
        """The same with a part of its frames timed; raises TrafficError where none can be."""
        check_timeable(self.profile)
        return replace(self, latency=True)

    def streams(self, way: Way) -> Streams:
        """Those that enter at a port; full scale is what was asked for, whatever `way.rate`."""
        return [sent for _stream, sent in self._sent(way)]

    def timed_streams(self, way: Way) -> Streams:
        """The same, with times in a tenth of the frames, or in all of streams that are whole."""
        return timed([Timing(part_of(stream), sent) for stream, sent in self._sent(way)])

    def _sent(self, way: Way) -> Iterator[tuple[Stream, dict[str, Any]]]:
        """Each stream of the profile that enters there, and how it is sent."""
        unbounded = way.rate.get("max") is True
        for stream, message, weight in zip(
            self.profile.streams, self.full.streams, self.weights, strict=True
        ):
            if message.side != way.here or message.pps == 0:
                continue
            yield (
                stream,
                way.stream(
                    **engine_keys(stream)
                    | sooner(stream, self.faster)
                    | addressed(stream, way)
                    | {"name": message.name, "weight": weight}
                    | {"signature": has_signature(stream)}
                    | ({"rate": {"pps": message.pps}} if not unbounded else _unpaced(stream))
                ),
            )


def loadtest_of(profile: Profile, rate: Rate, directions: int | None, link_bps: int) -> Loadtest:
    """A loadtest that offers a profile on links of this bit rate; raises TrafficError.

    `directions` None: as the profile says.
    """
    profile = paced(with_directions(profile, directions), rate)
    streams = profile.streams
    if not streams:
        raise TrafficError(f"traffic '{profile.name}': no streams")
    if len(streams) > STREAMS_MAX:
        raise TrafficError(
            f"traffic '{profile.name}': {len(streams):,} streams; expected at most {STREAMS_MAX:,}"
        )
    shares, has_rates = _shares(profile, link_bps)
    by = scale(shares, rate, link_bps, has_rates)
    offered = Offered(
        profile=profile.name,
        text=profile.text,
        rate=rate.text,
        uneven=any(not UNEVEN.isdisjoint(stream) for stream in streams),
        streams=tuple(
            StreamRate(
                name=name,
                side=share.side,
                frame_bytes=_plain(share.frame_bytes),
                pps=as_float(share.frames * by),
                signed=is_signed(stream),
            )
            for name, share, stream in zip(_names(streams), shares, streams, strict=True)
        ),
    )
    traffic = ProfileTraffic(
        frame_bytes=_mean(shares),
        flows=_flows(streams),
        protocol=_protocol(streams),
        profile=profile,
        full=offered,
        weights=fitted([share.frames for share in shares]),
        faster=float(by) if has_rates else 1.0,
    )
    return Loadtest(_word(profile.name), traffic, len(sending(offered)))


def sending(offered: Offered) -> tuple[int, ...]:
    """Sides that any frame enters at."""
    return tuple(sorted({stream.side for stream in offered.streams if stream.pps > 0}))


def with_directions(profile: Profile, directions: int | None) -> Profile:
    """The same with streams of one direction or both; a missing one is mirrored."""
    sides = {int(stream.get("port", 0)) for stream in profile.streams}
    if directions == 1 and sides != {0}:
        kept = tuple(stream for stream in profile.streams if not stream.get("port", 0))
        if not kept:
            raise TrafficError(f"directions: '{profile.name}' has no stream of port 0")
        return replace(profile, streams=kept)
    if directions == 2 and len(sides) == 1:
        both = profile.streams + tuple(mirrored(stream) for stream in profile.streams)
        return replace(profile, streams=both)
    return profile


def paced(profile: Profile, rate: Rate) -> Profile:
    """The same with the times of its frames, or without them; it says which in its text."""
    if all("at" not in stream for stream in profile.streams):
        return profile
    if (profile.pacing or ("captured" if rate.unit == "times" else "even")) == "captured":
        return replace(profile, text=f"{profile.text}, gaps as captured")
    even = tuple(_untimed(stream) for stream in profile.streams)
    return replace(profile, text=f"{profile.text}, evenly spaced", streams=even)


def _untimed(stream: Stream) -> Stream:
    return {key: value for key, value in stream.items() if key != "at"}


def sooner(stream: Stream, by: float) -> dict[str, Any]:
    """The times of a stream at this multiple of its rate, in proportion."""
    made: dict[str, Any] = {}
    if "start_us" in stream:
        made["start_us"] = stream["start_us"] / by
    if "bursts" in stream:
        bursts = stream["bursts"]
        made["bursts"] = {**bursts, "gap_us": bursts.get("gap_us", 0) / by}
    return made


def addressed(stream: Stream, way: Way) -> dict[str, Any]:
    """Its layers or its template, with the tester's and the device's addresses filled in."""
    own, device = TESTER_MACS[way.here], way.dut_mac
    if "template" in stream:
        text = str(stream["template"]).lower()
        dst, src = text[:12], text[12:24]
        dst = _hex(device) if dst == "0" * 12 else dst
        src = _hex(own) if src == "0" * 12 else src
        return {"template": dst + src + text[24:]}
    layers = [dict(layer) for layer in stream.get("layers", ())]
    ethernet: Mapping[str, Any] = {}
    if layers and "ethernet" in layers[0]:
        ethernet = layers.pop(0)["ethernet"] or {}
    return {"layers": [{"ethernet": {"src": own, "dst": device, **ethernet}}, *layers]}


def _unpaced(stream: Stream) -> dict[str, Any]:
    """As fast as can be; flows can only be renewed at a rate."""
    found: dict[str, Any] = {"rate": {"max": True}}
    if "flows" in stream:
        found["flows"] = {k: v for k, v in stream["flows"].items() if k != "new_per_s"}
    return found


def _hex(mac: str) -> str:
    return mac.replace(":", "")


def _shares(profile: Profile, link_bps: int) -> tuple[tuple[Share, ...], bool]:
    """Share of each stream, and whether those are rates rather than weights."""
    sizes = [mean_bytes_of(stream) for stream in profile.streams]
    rates = [
        own_pps(stream, size, link_bps) for stream, size in zip(profile.streams, sizes, strict=True)
    ]
    has_rates = rates[0] is not None
    if any((rate is not None) != has_rates for rate in rates):
        raise TrafficError(
            f"traffic '{profile.name}': some streams have a rate, some only a weight; "
            "expected one or the other"
        )
    return tuple(
        Share(
            int(stream.get("port", 0)),
            size,
            Fraction(stream.get("weight", 1)) if rate is None else rate,
        )
        for stream, size, rate in zip(profile.streams, sizes, rates, strict=True)
    ), has_rates


def _mean(shares: tuple[Share, ...]) -> float:
    frames = sum((share.frames for share in shares), Fraction())
    mean = sum((share.frames * share.frame_bytes for share in shares), Fraction()) / frames
    return _plain(mean)


def _plain(size: int | Fraction) -> int | float:
    return int(size) if size.denominator == 1 else float(size)


def _flows(streams: tuple[Stream, ...]) -> Flows:
    sides = [int(stream.get("port", 0)) for stream in streams]
    varied = any(stream.get("flows") or stream.get("modifiers") for stream in streams)
    return "many" if varied or max(map(sides.count, sides[:1] + sides[-1:])) > 1 else "one"


def _protocol(streams: tuple[Stream, ...]) -> Protocol:
    return "mpls" if any(_is_mpls(stream) for stream in streams) else "ipv4"


def _is_mpls(stream: Stream) -> bool:
    if "template" in stream:
        return str(stream["template"])[24:28] in MPLS_TYPES
    return any("mpls" in layer for layer in stream.get("layers", ()))


def _names(streams: Iterable[Stream]) -> list[str]:
    """Unique names, those of timed parts too: counters are keyed by them."""
    taken: set[str] = set()
    alike: dict[str, Iterator[str]] = {}
    names = []
    for number, stream in enumerate(streams):
        wanted = str(stream.get("name") or f"stream-{number}")[:_NAME_MAX]
        # Goes on where the last one of that name was found: there may be thousands.
        tries = alike.setdefault(wanted, _like(wanted))
        name = next(name for name in tries if taken.isdisjoint((name, timed_name(name))))
        taken |= {name, timed_name(name)}
        names.append(name)
    return names


def _like(wanted: str) -> Iterator[str]:
    """The name, then the name with a number."""
    yield wanted
    for number in itertools.count(2):
        ending = f"-{number}"
        yield wanted[: _NAME_MAX - len(ending)] + ending


def _word(name: str) -> str:
    """A name that a file and a trial may have."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:40] or "profile"
