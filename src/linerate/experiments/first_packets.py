"""First packets through a box: a few each way, before any trial, and where they ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from linerate.lab.rig import Trials
from linerate.lab.trial import OnProgress, run_trial
from linerate.model.box_path import path_of
from linerate.model.counting import counted as counted_of
from linerate.model.measurement import Load, Measurement
from linerate.model.suites import TESTER_PORTS, Loadtest, Traffic
from linerate.model.testbed import Testbed

#: Each way: enough to stand out among others' frames, few enough for any box.
PACKETS = 200
SECONDS = 0.2
#: Both ways, of one flow.
LOADTEST = Loadtest("first", Traffic(64, "one"), 2)
#: The same of a hairpin, whose one link is taken both ways by one direction.
ONE_WAY = replace(LOADTEST, directions=1)
#: Places of losses that are named.
PLACES = 3
#: Counters of one pass through the box: in and out.
BOTH_ENDS = ("rx", "tx")


class Hop(NamedTuple):
    """A counter of the box that packets of a direction grow; None where it does not count."""

    port: str
    #: `rx` or `tx`.
    way: str
    packets: int | None


class Way(NamedTuple):
    """Packets of one direction, and the counters on their way through the box."""

    #: From this port of the tester to that.
    here: str
    there: str
    sent: int
    received: int
    hops: tuple[Hop, ...]

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.here} to {self.there}"


@dataclass(frozen=True, slots=True)
class Crossing:
    """The way that first packets came."""

    ways: tuple[Way, ...]
    #: Packets by place of loss, most first.
    losses: tuple[tuple[str, int], ...]

    @property
    def stuck(self) -> tuple[Way, ...]:
        """Directions of which nothing arrived."""
        return tuple(way for way in self.ways if way.sent and not way.received)

    @property
    def partial(self) -> tuple[Way, ...]:
        """Directions of which a part arrived."""
        return tuple(way for way in self.ways if 0 < way.received < way.sent)

    def ended(self, way: Way) -> str:
        """Where the packets of a direction ended, as far as counters tell."""
        counted = [hop for hop in way.hops if hop.packets is not None]
        if not counted:
            return f"the box does not count them{self._places()}"
        stop = next((hop for hop in counted if (hop.packets or 0) < way.sent / 2), None)
        if stop is None:
            reached = (
                f"the box sent them by {counted[-1].port}, and they did not arrive at {way.there}"
            )
        else:
            reached = _stopped(counted, stop)
        return f"{reached}{self._places()}"

    def _places(self) -> str:
        named = [f"{place} {packets:,}" for place, packets in self.losses[:PLACES]]
        return f"; lost: {', '.join(named)}" if named else ""


def loadtest_of(testbed: Testbed) -> Loadtest:
    """First packets that a testbed takes."""
    return ONE_WAY if testbed.hairpin else LOADTEST


def slow_load(testbed: Testbed, loadtest: Loadtest, pps: float, seconds: float) -> Load:
    """A load that any device takes; the rate is that of all directions together."""
    scale_ppm = max(1, round(1e6 * pps / loadtest.full_pps(testbed.line_bps)))
    return Load(
        frame_bytes=loadtest.traffic.frame_bytes,
        directions=loadtest.links,
        link_bps=testbed.line_bps,
        scale_ppm=min(1_000_000, scale_ppm),
        duration_us=round(1e6 * seconds),
        flows=loadtest.traffic.flows,
        protocol=loadtest.traffic.protocol,
        counted=counted_of(testbed),
        # So it ends on time, however disturbed the tester is.
        pushes_back=True,
        offered=loadtest.traffic.offered,
    )


def first_packets(
    trials: Trials, testbed: Testbed, loadtest: Loadtest, on_progress: OnProgress
) -> Crossing:
    """Send a few packets of a loadtest, and count. Raises SetupError where it can't be tried."""
    load = slow_load(testbed, loadtest, loadtest.directions * PACKETS / SECONDS, SECONDS)
    measurement = run_trial(trials.tester, load, on_progress)
    trials.check()
    return crossing(measurement, loadtest)


def crossing(measurement: Measurement, loadtest: Loadtest) -> Crossing:
    """The way that the packets of a measurement came, in each direction."""
    ways = tuple(
        _way(measurement, loadtest, here, 1 - here)
        for here in loadtest.traffic.sides(loadtest.directions)
    )
    losses = sorted(
        (
            (entry.place, entry.packets)
            for entry in measurement.packets.entries
            if entry.kind == "loss" and entry.packets
        ),
        key=lambda loss: -loss[1],
    )
    return Crossing(ways, tuple(losses))


def _way(measurement: Measurement, loadtest: Loadtest, here: int, there: int) -> Way:
    sender, receiver = TESTER_PORTS[here], TESTER_PORTS[there]
    if receiver not in measurement.ports:
        # The one port that there is receives what it sent.
        receiver = sender
    name = f"{loadtest.name}-{sender}"
    streams = [one for key, one in measurement.streams.items() if key.startswith(name)]
    received = sum(one.get("received", 0) for one in streams)
    if not measurement.load.signed:
        received = _of(measurement, receiver, "rx_packets") or 0
    elif not streams:
        # The port also received what the box itself sent.
        known = measurement.packets.received
        received = min(_of(measurement, receiver, "rx_packets") or 0, known)
    return Way(
        here=sender,
        there=receiver,
        sent=_of(measurement, sender, "tx_packets") or 0,
        received=received,
        hops=tuple(_hops(measurement, here)),
    )


def _hops(measurement: Measurement, here: int) -> Iterator[Hop]:
    """Counters of the box's ports, in the order in which a direction's packets come by."""
    path = path_of(measurement.ports)
    for port, way in () if path is None else path.hops(here)[1:-1]:
        yield Hop(port, way, _of(measurement, port, f"{way}_packets"))


def _stopped(counted: Sequence[Hop], stop: Hop) -> str:
    """The counter that packets did not grow any more, in words."""
    at = counted.index(stop)
    if at == 0:
        return f"{stop.port} of the box received {stop.packets:,} of them"
    last = counted[at - 1]
    if stop.way == "tx":
        # Each pair of counters is a crossing of the box.
        several = len(counted) > len(BOTH_ENDS)
        where = f" (pass {at // len(BOTH_ENDS) + 1})" if several else ""
        return (
            f"the box received them at {last.port}, and sent {stop.packets:,} by {stop.port}{where}"
        )
    return f"the box sent them by {last.port}, and {stop.port} received {stop.packets:,} of them"


def _of(measurement: Measurement, port: str, name: str) -> int | None:
    found = measurement.ports.get(port, {}).get(name)
    return None if found is None else int(found)


def refusal(found: Crossing) -> str:
    """Why no trial is begun, and what to do, in a line; nothing when all ways are open."""
    if not found.stuck:
        return ""
    way = found.stuck[0]
    others = f" (and {found.stuck[1].text})" if len(found.stuck) > 1 else ""
    return (
        f"no first packet came through the box from {way.text}{others}: {found.ended(way)}; "
        "`linerate testbed check FILE` says what to do, and `first_packets: false` under `dut` "
        "measures all the same"
    )
