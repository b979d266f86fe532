"""Loadtests and suites: what to offer, and the streams that offer it.

The eight standard loadtests are those of the published tables: large and small
frames, many flows and one, plain and MPLS, in one direction and in both.
"""

from dataclasses import dataclass
from typing import Any, Literal

from linerate.wire import line_rate

#: The tester's ports, and the networks that live behind them.
TESTER_MACS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71")
DUT_MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
TESTER_PORTS = ("t0", "t1")
DUT_PORTS = ("e0", "e1")
#: Of a second loopback beside the first.
SECOND_TESTER_PORTS = ("t2", "t3")
SECOND_DUT_PORTS = ("e2", "e3")
NETWORKS = ("16.0.0", "48.0.0")
#: Labels that the router swaps; the first arrives at e0, the second at e1.
MPLS_LABELS = (16, 17)

#: `skewed`: most packets are of one flow, the rest of many.
Flows = Literal["many", "one", "skewed"]
#: Of skewed traffic, what the one flow has.
SKEWED_SHARE = 0.9
Protocol = Literal["ipv4", "mpls"]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the frames of a loadtest look like."""

    frame_bytes: int
    flows: Flows
    protocol: Protocol = "ipv4"

    @property
    def text(self) -> str:
        """In words."""
        flows = f"{self.flows} flow" + "s" * (self.flows != "one")
        if self.protocol == "mpls":
            # Of the standard suite, which has one flow of it.
            kind = "MPLS" if self.flows == "one" else f"MPLS, {flows}"
        else:
            kind = flows
        return f"{self.frame_bytes} B {kind}"


@dataclass(frozen=True, slots=True)
class Loadtest:
    """One traffic pattern, in one direction (t0 to t1) or in both."""

    name: str
    traffic: Traffic
    directions: int
    #: Pairs of ports, each with that traffic: 1 or 2.
    loopbacks: int = 1

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


_TRAFFIC = (
    Traffic(1514, "many"),
    Traffic(64, "many"),
    Traffic(64, "one"),
    Traffic(64, "one", "mpls"),
)

SUITES: dict[str, tuple[Loadtest, ...]] = {
    "standard": tuple(
        Loadtest(f"{letter}{number}", traffic, directions)
        for letter, directions in (("U", 1), ("B", 2))
        for number, traffic in enumerate(_TRAFFIC, start=1)
    )
}


def select(suite: str, only: str | None = None) -> tuple[Loadtest, ...]:
    """Return the suite's loadtests, or those named in `only` (`U1,B2`); raises ValueError."""
    if suite not in SUITES:
        raise ValueError(f"no suite '{suite}'; expected one of {', '.join(SUITES)}")
    loadtests = SUITES[suite]
    if only is None:
        return loadtests
    wanted = [name.strip().upper() for name in only.split(",") if name.strip()]
    known = {loadtest.name: loadtest for loadtest in loadtests}
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"no loadtest '{unknown[0]}'; expected some of {','.join(known)}")
    if not wanted:
        raise ValueError(f"no loadtest named; expected some of {','.join(known)}")
    return tuple(loadtest for loadtest in loadtests if loadtest.name in wanted)


def streams(
    loadtest: Loadtest, dut_macs: tuple[str, str], rate: dict[str, Any]
) -> list[dict[str, Any]]:
    """Streams of the engine's configuration for each direction: one, or two of skewed flows."""
    return [
        stream
        for direction in range(loadtest.directions)
        for stream in _direction(loadtest, direction, dut_macs[direction], rate)
    ]


def _direction(
    loadtest: Loadtest, here: int, dut_mac: str, rate: dict[str, Any]
) -> list[dict[str, Any]]:
    """Frames from the network behind port `here` to the one behind the other."""
    whole = _stream(loadtest, here, dut_mac, rate)
    if loadtest.traffic.flows != "skewed":
        many = loadtest.traffic.flows == "many"
        return [whole | {"modifiers": _many_flows(here, 1 - here) if many else []}]
    return [
        whole | {"rate": _share(rate, SKEWED_SHARE), "modifiers": []},
        whole
        | {
            "name": f"{whole['name']}-rest",
            "rate": _share(rate, 1 - SKEWED_SHARE),
            "modifiers": _many_flows(here, 1 - here),
        },
    ]


def _share(rate: dict[str, Any], share: float) -> dict[str, Any]:
    """Part of a stream's rate; as fast as possible stays that."""
    return {key: value if value is True else value * share for key, value in rate.items()}


def _stream(loadtest: Loadtest, here: int, dut_mac: str, rate: dict[str, Any]) -> dict[str, Any]:
    """All that the streams of a direction have in common."""
    there = 1 - here
    mpls = [{"mpls": {"label": MPLS_LABELS[here], "ttl": 64}}]
    return {
        "name": f"{loadtest.name}-{TESTER_PORTS[here]}",
        "port": TESTER_PORTS[here],
        "rx_port": TESTER_PORTS[there],
        "frame_bytes": loadtest.traffic.frame_bytes,
        "rate": rate,
        "layers": [
            {"ethernet": {"src": TESTER_MACS[here], "dst": dut_mac}},
            *(mpls if loadtest.traffic.protocol == "mpls" else []),
            {"ipv4": {"src": f"{NETWORKS[here]}.1", "dst": f"{NETWORKS[there]}.1", "ttl": 64}},
            {"udp": {"src": 1025, "dst": 12}},
        ],
        "signature": True,
    }


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
