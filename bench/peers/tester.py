"""The tester on one core: streams into a port that only takes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.peers.frames import layers, replay, stream, varied
from bench.peers.model import Kind, NotMeasuredError, Place, Sample, Session, Side
from bench.peers.registry import register
from bench.peers.session import EngineSession, engine_session
from linerate.model.suites import DUT_MACS

#: Streams of IMIX: number of frames of each size.
IMIX = ((64, 7), (594, 4), (1518, 1))
#: More than any core makes, and shared by the streams of a mix in proportion.
UNREACHABLE_PPS = 100_000_000


#: DPDK's port that gives back what it is sent, by a ring.
LOOP = {"name": "t0", "driver": "ethdev", "device": "net_ring0", "devargs": "", "mac": DUT_MACS[0]}


@dataclass(frozen=True, slots=True)
class ReceivingSession:
    """A tester that takes back what it sends."""

    engine: EngineSession

    def sample(self, seconds: float) -> Sample:
        """Cycles of the analyser and of taking frames from the port."""
        elapsed, nodes = self.engine.node_clocks(seconds)
        taken = [node for name, node in nodes.items() if name.startswith("port-rx")]
        analyser = nodes.get("analyser")
        if not taken or analyser is None or analyser.packets == 0:
            raise NotMeasuredError("the tester received nothing")
        self._check_sequences()
        pps = analyser.packets / elapsed * self.engine.tsc_hz
        clocks = analyser.per_packet + taken[0].per_packet
        details = {
            "analyser clocks": analyser.per_packet,
            "port-rx clocks": taken[0].per_packet,
        }
        return Sample(pps, clocks, self.engine.tsc_hz, details)

    def _check_sequences(self) -> None:
        """A receiver that does not know its frames would be quick."""
        streams = self.engine.telemetry.table("/linerate/streams,0")
        wrong = sum(
            int(stream[column])
            for column in ("lost", "duplicated", "out_of_order", "corrupted")
            for stream in streams
        )
        if wrong or not sum(int(stream["received"]) for stream in streams):
            raise NotMeasuredError("the tester did not get back its own frames in order")


@dataclass(frozen=True, slots=True)
class TesterSession:
    """A tester that sends."""

    engine: EngineSession

    def sample(self, seconds: float) -> Sample:
        """Cycles of the generator; those of sending are listed beside it."""
        elapsed, nodes = self.engine.node_clocks(seconds)
        made = [node for name, node in nodes.items() if name.startswith("generator")]
        sent = [node for name, node in nodes.items() if name.startswith("tester-tx")]
        if not made or not sent or made[0].packets == 0:
            raise NotMeasuredError("the tester sent nothing")
        pps = sent[0].packets / elapsed * self.engine.tsc_hz
        details = {"tester-tx clocks": sent[0].per_packet}
        return Sample(pps, made[0].per_packet, self.engine.tsc_hz, details)


def sending(streams: list[dict[str, Any]]) -> Side:
    """Our tester with these streams."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        config = {
            "memory": {"pages": place.pages, "megabytes": 256},
            "ports": [replay(0, []) | {"name": "t0"}],
            "tester": {"ports": ["t0"], "streams": streams},
        }
        with engine_session(config, place) as engine:
            engine.send_forever()
            yield TesterSession(engine)

    return opened


def receiving(streams: list[dict[str, Any]]) -> Side:
    """Our tester, by itself on a port that gives back what it is sent."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        config = {
            "memory": {"pages": place.pages, "megabytes": 256},
            "ports": [LOOP],
            "tester": {"ports": ["t0"], "streams": streams},
        }
        with engine_session(config, place) as engine:
            engine.send_forever()
            yield ReceivingSession(engine)

    return opened


def _stream(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 (keys of a stream)
    return stream((0, 0), **{"layers": layers(0, 1), **changes})


_VARIED = [
    varied("ipv4.src", "increment", "16.0.0.1", "16.0.0.254"),
    varied("ipv4.dst", "random", "48.0.0.1", "48.0.0.254"),
    varied("udp.src", "random", 1024, 65535),
]
_IMIX = [
    _stream(
        name=f"imix-{size}",
        frame_bytes=size,
        modifiers=_VARIED,
        rate={"pps": share * UNREACHABLE_PPS},
    )
    for size, share in IMIX
]

register(Kind("tester-fixed", "tester, one frame", sending([_stream()])))
register(Kind("tester-varied", "tester, varied", sending([_stream(modifiers=_VARIED)])))
register(Kind("tester-imix", "tester, sizes mixed, varied", sending(_IMIX)))
#: From one flow to as many as a stream can have: what a frame costs must not double.
FLOWS_MAX = 10_000_000
_FLOWS: dict[str, tuple[str, dict[str, Any]]] = {
    "tester-flow": ("tester, one flow of its flows", {"count": 1}),
    "tester-flows": ("tester, 10 M flows in turn", {"count": FLOWS_MAX}),
    "tester-uniform": (
        "tester, any of 10 M flows",
        {"count": FLOWS_MAX, "order": "uniform"},
    ),
    "tester-zipf": ("tester, 10 M flows by Zipf", {"count": FLOWS_MAX, "order": "zipf"}),
}
for _name, (_text, _flows) in _FLOWS.items():
    register(Kind(_name, _text, sending([_stream(flows=_flows)])))

#: Streams that take turns, a frame each.
TURNS = 1000
_TURNS = [
    _stream(name=f"turn-{number}", rate={"pps": UNREACHABLE_PPS / 100}) for number in range(TURNS)
]
register(Kind("tester-streams", "tester, 1,000 streams in turn", sending(_TURNS)))
register(
    Kind(
        "tester-varied-1000",
        "tester, 1,000 varied streams in turn",
        sending([one | {"modifiers": _VARIED} for one in _TURNS]),
    )
)

#: Frames of a burst and how long it lasts, and bursts a second of all streams together: more than
#: any core makes.
BURST_FRAMES = 16
BURST_US = 1.5
#: Duration of one where thousands are under way at once.
SPREAD_US = 80.0
BURSTS_PER_S = UNREACHABLE_PPS / 4


def _bursts(count: int, most_us: float = BURST_US) -> list[dict[str, Any]]:
    """As many streams, with bursts that begin one after the other."""
    period_us = 1e6 / BURSTS_PER_S
    burst_us = min(most_us, count * period_us / 2)
    bursts = {"frames": BURST_FRAMES, "count": 0, "gap_us": count * period_us - burst_us}
    rate = {"pps": (BURST_FRAMES - 1) / burst_us * 1e6}
    return [
        _stream(name=f"burst-{number}", rate=rate, bursts=bursts, start_us=number * period_us)
        for number in range(count)
    ]


#: From one to thousands: a stream with times of its own must cost no more for the others.
for _count in (1, 100, 4000):
    register(
        Kind(
            f"tester-bursts-{_count}",
            f"tester, bursts of {_count} streams",
            sending(_bursts(_count)),
        )
    )

register(
    Kind(
        "tester-spread-4000",
        "tester, long bursts of 4,000 streams",
        sending(_bursts(4000, SPREAD_US)),
    )
)

_RECEIVING: dict[str, tuple[str, dict[str, Any]]] = {
    "tester-rx": ("tester, taking back and checking", {}),
    "tester-rx-payload": ("tester, payload checked too", {"check_payload": True}),
    "tester-rx-1518": ("tester, taking back 1,518 bytes", {"frame_bytes": 1518}),
    "tester-1518-check": (
        "tester, 1,518 bytes checked",
        {"frame_bytes": 1518, "check_payload": True},
    ),
}
for _name, (_text, _checked) in _RECEIVING.items():
    register(Kind(_name, _text, receiving([_stream(signature=True, rx_port="t0", **_checked)])))
register(
    Kind(
        "tester-rx-streams",
        "tester, taking back 1,000 streams",
        receiving([one | {"signature": True, "rx_port": "t0"} for one in _TURNS]),
    )
)
