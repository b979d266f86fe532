"""Loadtests, and the streams that offer them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from linerate.base.line_rate import line_rate
from linerate.model.suites.offered import Offered
from linerate.model.testbed import Testbed

#: The tester's ports, and the networks that live behind them.
TESTER_MACS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71")
DUT_MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
TESTER_PORTS = ("t0", "t1")
DUT_PORTS = ("e0", "e1")
#: Ports of a second loopback beside the first.
SECOND_TESTER_PORTS = ("t2", "t3")
SECOND_DUT_PORTS = ("e2", "e3")
NETWORKS = ("16.0.0", "48.0.0")
#: Labels that the router swaps; the first arrives at e0, the second at e1.
MPLS_LABELS = (16, 17)

#: `skewed`: most packets are of one flow, the rest of many.
Flows = Literal["many", "one", "skewed"]
#: Share of one flow in skewed traffic.
SKEWED_SHARE = 0.9
#: With timed traffic, one frame in this number is timed.
TIMED_ONE_IN = 10
#: Added to a stream's name where only some of its frames are timed: theirs.
TIMED_SUFFIX = "-latency"
Protocol = Literal["ipv4", "mpls"]


Rate = dict[str, Any]
Streams = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Way:
    """One direction of a loadtest: frames from port `here` to the other."""

    #: Streams are named after it.
    name: str
    here: int
    #: MAC address of the device's port that receives the frames.
    dut_mac: str
    #: In the engine's words, of all streams together.
    rate: Rate

    @property
    def there(self) -> int:
        """The port that they leave the device for."""
        return 1 - self.here

    @property
    def ethernet(self) -> dict[str, Any]:
        """The first layer."""
        return {"ethernet": {"src": TESTER_MACS[self.here], "dst": self.dut_mac}}

    def stream(self, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (keys of a stream)
        """Common part of all streams of a direction."""
        return {
            "name": self.name,
            "port": TESTER_PORTS[self.here],
            "rx_port": TESTER_PORTS[self.there],
            "rate": self.rate,
            "signature": True,
            **more,
        }


@dataclass(frozen=True, slots=True)
class Traffic:
    """Frames of a loadtest."""

    #: FCS counted; of several sizes the mean.
    frame_bytes: float
    flows: Flows
    protocol: Protocol = "ipv4"
    #: A part of the frames carries the time when they were sent.
    latency: bool = False

    @property
    def text(self) -> str:
        """In words."""
        flows = f"{self.flows} flow" + "s" * (self.flows != "one")
        if self.protocol == "mpls":
            # The standard suite has one MPLS flow.
            kind = "MPLS" if self.flows == "one" else f"MPLS, {flows}"
        else:
            kind = flows
        return f"{self.frame_bytes} B {kind}"

    def streams(self, way: Way) -> Streams:
        """Streams of one direction: one, or two of skewed flows."""
        whole = self._stream(way)
        if self.flows != "skewed":
            many = self.flows == "many"
            return [whole | {"modifiers": _many_flows(way.here, way.there) if many else []}]
        return [
            whole | {"rate": share_of_rate(way.rate, SKEWED_SHARE), "modifiers": []},
            whole
            | {
                "name": f"{whole['name']}-rest",
                "rate": share_of_rate(way.rate, 1 - SKEWED_SHARE),
                "modifiers": _many_flows(way.here, way.there),
            },
        ]

    def sides(self, directions: int) -> tuple[int, ...]:
        """Sides at which the frames of the directions enter: 0 is t0, 1 is t1."""
        return tuple(range(directions))

    def timed(self) -> Self:
        """The same with a part of its frames timed; raises ValueError where none can be."""
        return replace(self, latency=True)

    def timed_streams(self, way: Way) -> Streams:
        """Streams of one direction, of whose frames a tenth is timed."""
        return [part for stream in self.streams(way) for part in partly_timed(stream)]

    @property
    def offered(self) -> Offered | None:
        """Full scale, where that is not the line rate of equal frames."""
        return None

    @property
    def always_paced(self) -> bool:
        """Whether it can't be sent as fast as can be: then the tester's ceiling isn't measured."""
        return False

    def connections(self, dut_macs: tuple[str, str]) -> dict[str, Any] | None:
        """Connections that the engine replays instead of streams, at full scale."""
        del dut_macs
        return None

    @property
    def has_own_addresses(self) -> bool:
        """Whether its addresses are somebody's choice, and are sent as they are."""
        return False

    @property
    def networks(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Prefixes behind t0 and t1 that a device must have routes to, beside `NETWORKS`."""
        return (), ()

    def _stream(self, way: Way) -> dict[str, Any]:
        mpls = [{"mpls": {"label": MPLS_LABELS[way.here], "ttl": 64}}]
        src, dst = (f"{NETWORKS[end]}.1" for end in (way.here, way.there))
        return way.stream(
            frame_bytes=self.frame_bytes,
            layers=[
                way.ethernet,
                *(mpls if self.protocol == "mpls" else []),
                {"ipv4": {"src": src, "dst": dst, "ttl": 64}},
                {"udp": {"src": 1025, "dst": 12}},
            ],
        )


@dataclass(frozen=True, slots=True)
class Loadtest:
    """One traffic pattern, in one direction (t0 to t1) or in both."""

    name: str
    traffic: Traffic
    directions: int
    #: Pairs of ports, each with that traffic: 1 or 2.
    loopbacks: int = 1
    #: Whether the device hands flows to its card; None: as the testbed says.
    offload: bool | None = None
    #: Sent before the trial and not measured, so that the device learns its flows.
    warmup_seconds: float = 0.0

    @property
    def text(self) -> str:
        """In words."""
        ways = "one direction" if self.directions == 1 else "both directions"
        times = ", two pairs of ports" * (self.loopbacks > 1)
        return f"{self.traffic.text}, {ways}{times}"

    @property
    def links(self) -> int:
        """Links that carry traffic, each direction counted by itself."""
        return self.directions * self.loopbacks

    def line_pps(self, link_bps: float) -> float:
        """Frames a second that fill the links."""
        return self.links * line_rate(link_bps, self.traffic.frame_bytes).packets_per_second

    def full_pps(self, link_bps: float) -> float:
        """Frames a second at full scale: those that fill the links, or what a profile asks for."""
        offered = self.traffic.offered
        return self.line_pps(link_bps) if offered is None else self.loopbacks * offered.full_pps


@dataclass(frozen=True, slots=True)
class Suite:
    """Several loadtests in a row."""

    name: str
    loadtests: tuple[Loadtest, ...]
    #: The testbed that it is run on, made of the one that was asked for.
    base: Callable[[Testbed], Testbed] = lambda testbed: testbed
    #: The same for one loadtest, made of the base.
    testbed: Callable[[Testbed, Loadtest], Testbed] = lambda testbed, _loadtest: testbed


def tester_ports(testbed: Testbed) -> tuple[str, ...]:
    """The tester's ports on a testbed: both, or the one of a hairpin."""
    return TESTER_PORTS[: 1 if testbed.hairpin else None]


def on_one_port(made: Streams) -> Streams:
    """Streams of a hairpin: the port that sends frames receives them."""
    return [stream | {"rx_port": stream["port"]} for stream in made]


def streams(loadtest: Loadtest, dut_macs: tuple[str, str], rate: Rate) -> Streams:
    """Streams of the engine's configuration, for each direction."""
    traffic = loadtest.traffic
    made = traffic.timed_streams if traffic.latency else traffic.streams
    return [
        stream
        for here in traffic.sides(loadtest.directions)
        for stream in made(Way(f"{loadtest.name}-{TESTER_PORTS[here]}", here, dut_macs[here], rate))
    ]


def partly_timed(stream: dict[str, Any]) -> Streams:
    """The same frames at the same rate in two streams, one of which is timed."""
    weight, rest = int(stream.get("weight", 1)), TIMED_ONE_IN - 1
    return [
        _part(stream, rest / TIMED_ONE_IN) | {"weight": weight * rest},
        _part(stream, 1 / TIMED_ONE_IN)
        | {"name": timed_name(stream["name"]), "weight": weight, "latency": True},
    ]


def timed_name(name: str) -> str:
    """Name of a stream's timed frames where they are a stream of their own."""
    return f"{name}{TIMED_SUFFIX}"


def _part(stream: dict[str, Any], share: float) -> dict[str, Any]:
    made = stream | {"rate": share_of_rate(stream["rate"], share)}
    flows = stream.get("flows", {})
    if "new_per_s" in flows:
        made["flows"] = flows | {"new_per_s": flows["new_per_s"] * share}
    return made


def share_of_rate(rate: Rate, share: float) -> Rate:
    """Part of a stream's rate; as fast as possible stays that."""
    return {key: value if value is True else value * share for key, value in rate.items()}


def _many_flows(here: int, there: int) -> list[dict[str, Any]]:
    """254 × 254 addresses would be 64,516 flows; random ports on top make each new."""
    return [
        {
            "field": "ipv4.src",
            "op": "increment",
            "min": f"{NETWORKS[here]}.1",
            "max": f"{NETWORKS[here]}.254",
            "step": 1,
        },
        {
            "field": "ipv4.dst",
            "op": "random",
            "min": f"{NETWORKS[there]}.1",
            "max": f"{NETWORKS[there]}.254",
        },
        {"field": "udp.src", "op": "random", "min": 1024, "max": 65535},
    ]
