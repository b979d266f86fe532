"""A TRex profile on a port: its streams, its state, and whether the engine has it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from linerate.traffic.profile import TrafficError, engine_keys
from linerate.traffic.trex.stateless import streams_of
from linerate.trex_server.errors import FailedError
from linerate.trex_server.rates import Rates, total
from linerate.trex_server.traffic_engine import EngineStream, PortInfo
from linerate.trex_server.translation import StreamDocument, trex_stream

STREAMS_MAX = 8192
MAC_DIGITS = 12


class State(StrEnum):
    """State of a profile, and of a port by its profiles."""

    IDLE = "IDLE"
    STREAMS = "STREAMS"
    TX = "TX"
    PAUSE = "PAUSE"


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream as it came, and as it was understood."""

    given: dict[str, Any]
    document: StreamDocument
    #: In the engine: unique there.
    name: str

    @property
    def pg_id(self) -> int | None:
        """The number that its frames are counted by."""
        stats = self.document.flow_stats
        return stats.stream_id if stats.enabled else None

    @property
    def is_latency(self) -> bool:
        """Whether its frames are timed."""
        return self.pg_id is not None and self.document.flow_stats.rule_type == "latency"


@dataclass(slots=True)
class Profile:
    """Streams that start and stop together."""

    #: In the engine.
    name: str
    #: By the client's number.
    streams: dict[int, Stream] = field(default_factory=dict)
    state: State = State.IDLE
    scale: float = 1.0
    #: Whether the engine has it, and whether with the streams as they are.
    is_loaded: bool = False
    is_current: bool = False
    #: Number of its last load among all of the server's: with it counters begin anew.
    version: int = 0
    #: Streams in the engine whose frames have no signature, by name.
    unsigned: frozenset[str] = frozenset()

    @property
    def is_active(self) -> bool:
        """Whether it sends, or is paused."""
        return self.state in (State.TX, State.PAUSE)

    @property
    def is_even(self) -> bool:
        """Whether all its streams send from its start to its end, at one rate."""
        return all(
            one.document.mode.type == "continuous"
            and one.document.enabled
            and one.document.self_start
            and not one.document.isg
            for one in self.streams.values()
        )

    def rates(self, link_bps: int) -> tuple[Rates, Rates]:
        """Rates of the scaled streams, and of the latency streams, while all of them send."""
        sending = [one for one in self.streams.values() if one.document.enabled]
        scaled, fixed = (
            total(one.document.rates(link_bps) for one in sending if one.is_latency == is_latency)
            for is_latency in (False, True)
        )
        return scaled, fixed

    def compiled(self, port: PortInfo) -> list[EngineStream]:
        """Streams in the engine's words; raises FailedError."""
        by_number = {number: one.name for number, one in self.streams.items()}
        trex = []
        for one in self.streams.values():
            following = one.document.next_stream_id
            if following >= 0 and following not in by_number:
                raise FailedError(f"stream {one.name}: next_stream_id {following}: no such stream")
            next_name = by_number[following] if following >= 0 else None
            trex.append(trex_stream(one.name, next_name, one.document))
        try:
            made = streams_of("profile", (trex, trex))
        except TrafficError as error:
            raise FailedError(str(error)) from error
        return [_as_sent(stream, port) for stream in made]


def check(stream: Stream, port: PortInfo) -> None:
    """Whether the engine can send a stream by itself; raises FailedError."""
    alone = stream.document.model_copy(
        update={"next_stream_id": -1, "self_start": True, "enabled": True, "flags": 0}
    )
    Profile("", {0: Stream(stream.given, alone, stream.name)}).compiled(port)


def _as_sent(stream: Mapping[str, Any], port: PortInfo) -> EngineStream:
    """The stream with the port's addresses where its packet has none of its own.

    Latency streams keep their rate whatever the multiplier is.
    """
    template = stream["template"]
    dst, src = template[:MAC_DIGITS], template[MAC_DIGITS : 2 * MAC_DIGITS]
    if not int(dst, 16):
        dst = port.next_mac.replace(":", "")
    if not int(src, 16):
        src = port.mac.replace(":", "")
    made = {key: value for key, value in engine_keys(stream).items() if key != "port"}
    made["template"] = dst + src + template[2 * MAC_DIGITS :]
    return made | ({"unscaled": True} if stream.get("latency") else {})
