"""A loadtest of connections: the engine replays templates from both of the tester's ports."""

import ipaddress
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MIN
from linerate.model.suites import NETWORKS, TESTER_MACS, TESTER_PORTS, Loadtest, Offered, StreamRate
from linerate.model.suites.loadtest import Streams, Traffic, Way
from linerate.traffic.ethernet import network_of
from linerate.traffic.profile import Profile, TrafficError
from linerate.traffic.rate import Rate, Share, as_float, scale

SIDES = ("client", "server")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTraffic(Traffic):
    """Connections from clients behind t0 to servers behind t1."""

    profile: Profile
    full: Offered
    #: By what the templates' connections a second are multiplied.
    by: Fraction = field(hash=False)

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.profile.text} at {self.full.rate}"

    @property
    def offered(self) -> Offered:
        """Full scale."""
        return self.full

    @property
    def has_own_addresses(self) -> bool:
        """Its pools are the profile's."""
        return True

    @property
    def always_paced(self) -> bool:
        """A number of connections a second, never at full speed."""
        return True

    def timed(self) -> NoReturn:
        """Refuse: its frames are as they were captured; raises TrafficError."""
        raise TrafficError(
            f"latency: '{self.profile.name}' has connections, whose frames carry no time stamp"
        )

    def streams(self, way: Way) -> Streams:
        """None."""
        del way
        return []

    def connections(self, dut_macs: tuple[str, str]) -> dict[str, Any]:
        """The engine's `connections`."""
        asked = connections_of(self.profile)
        macs = {
            f"{side}_macs": {"src": TESTER_MACS[here], "dst": dut_macs[here]}
            for here, side in enumerate(SIDES)
        }
        ports = {f"{side}_port": TESTER_PORTS[here] for here, side in enumerate(SIDES)}
        templates = [
            {**template, "cps": as_float(Fraction(template["cps"]) * self.by)}
            for template in asked["templates"]
        ]
        return {**ports, **macs, **asked, "templates": templates}

    @property
    def networks(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Prefixes behind t0 and t1 that no router has by itself."""
        asked = connections_of(self.profile)
        servers = [
            {"min": template["server"], "max": template["server"]}
            for template in asked["templates"]
            if "server" in template
        ]
        sides = (asked["clients"], [*asked["servers"], *servers])
        versions = {_version(packet) for one in asked["templates"] for packet in one["packets"]}
        prefixes = asked.get("ip6_prefixes", {"clients": "::", "servers": "::"})
        behind = tuple(
            (_prefixes(ranges) if 4 in versions else ())
            + (_prefixes6(prefixes[f"{side}s"], ranges) if 6 in versions else ())
            for side, ranges in zip(SIDES, sides, strict=True)
        )
        return behind[0], behind[1]


def connections_of(profile: Profile) -> Mapping[str, Any]:
    """Those of a profile that has some."""
    assert profile.connections is not None
    return profile.connections


def connections_loadtest(
    profile: Profile, rate: Rate, directions: int | None, link_bps: int
) -> Loadtest:
    """A loadtest that replays a profile's templates; raises TrafficError."""
    if directions == 1:
        raise TrafficError(
            f"directions: '{profile.name}' has connections, whose two sides are both sent"
        )
    named = [
        (f"{template['name']}-{side}", _share(template, here), _sizes(template, side))
        for template in connections_of(profile)["templates"]
        for here, side in enumerate(SIDES)
    ]
    shares = tuple(share for _name, share, _bytes in named if share.frames)
    by = scale(shares, rate, link_bps, True)
    offered = Offered(
        profile=profile.name,
        text=profile.text,
        rate=rate.text,
        streams=tuple(
            StreamRate(
                name=name,
                side=share.side,
                frame_bytes=float(share.frame_bytes),
                pps=as_float(share.frames * by),
                mix=_mix(sizes),
                signed=False,
            )
            for name, share, sizes in named
            if share.frames
        ),
        connections_per_second=float(
            by * sum(Fraction(one["cps"]) for one in connections_of(profile)["templates"])
        ),
    )
    traffic = ConnectionTraffic(
        frame_bytes=offered.frame_bytes, flows="many", profile=profile, full=offered, by=by
    )
    return Loadtest(profile.name, traffic, len(SIDES))


def seconds_needed(traffic: ConnectionTraffic) -> float:
    """Shortest sending time of a trial: its longest connection ends, and one of all begins."""
    templates = connections_of(traffic.profile)["templates"]
    longest: float = (
        max(sum(one["after_us"] for one in each["packets"]) for each in templates) / 1e6
    )
    first = min(1 / (Fraction(each["cps"]) * traffic.by) for each in templates)
    return max(longest, as_float(first))


def check_duration(loadtests: Iterable[Loadtest], seconds: float) -> None:
    """Raise TrafficError where trials are too short for a connection of a profile."""
    for one in loadtests:
        if not isinstance(one.traffic, ConnectionTraffic):
            continue
        needed = seconds_needed(one.traffic)
        if needed > seconds:
            raise TrafficError(
                f"--duration: a connection of '{one.name}' needs {needed:.4g} s at "
                f"{one.traffic.full.rate}, the trial has {seconds:g} s; give at least "
                f"{math.ceil(needed)}s, better ten times as long"
            )


def _share(template: Mapping[str, Any], here: int) -> Share:
    """Packets a second of one side, and their mean size, FCS counted."""
    sizes = _sizes(template, SIDES[here])
    mean = Fraction(sum(sizes), len(sizes) or 1)
    return Share(here, mean, Fraction(template["cps"]) * len(sizes))


def _sizes(template: Mapping[str, Any], side: str) -> list[int]:
    """FCS counted."""
    return [
        max(FRAME_BYTES_MIN, len(packet["frame"]) // 2 + FCS_BYTES)
        for packet in template["packets"]
        if packet["from"] == side
    ]


def _mix(sizes: list[int]) -> tuple[tuple[int, float], ...]:
    return tuple((size, sizes.count(size) / len(sizes)) for size in sorted(set(sizes)))


def _version(packet: Mapping[str, Any]) -> int:
    """IP version, behind MAC addresses and tags."""
    frame = bytes.fromhex(str(packet["frame"]))
    return frame[network_of(frame)[1]] >> 4


def _networks(ranges: list[Mapping[str, str]]) -> list[ipaddress.IPv4Network]:
    found = [
        prefix
        for one in ranges
        for prefix in ipaddress.summarize_address_range(
            ipaddress.IPv4Address(one["min"]), ipaddress.IPv4Address(one["max"])
        )
    ]
    return list(ipaddress.collapse_addresses(found))


def _prefixes(ranges: list[Mapping[str, str]]) -> tuple[str, ...]:
    known = [ipaddress.IPv4Network(f"{network}.0/24") for network in NETWORKS]
    return tuple(
        str(prefix)
        for prefix in _networks(ranges)
        if not any(prefix.subnet_of(network) for network in known)
    )


def _prefixes6(first: str, ranges: list[Mapping[str, str]]) -> tuple[str, ...]:
    base = int(ipaddress.IPv6Address(first))
    return tuple(
        f"{ipaddress.IPv6Address(base | int(prefix.network_address))}/{96 + prefix.prefixlen}"
        for prefix in _networks(ranges)
    )
