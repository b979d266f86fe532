"""Cycles of a packet where several senders send on one port of the tester, each with a worker.

All workers have one CPU together, and take turns on it: what counts is the engine's own
account of the cycles in the nodes that make frames and send them, and not the time. With nothing
shared for each packet a packet costs the same with one sender and with eight.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.peers.frames import layers, replay, stream
from bench.peers.model import Kind, NotMeasuredError, Place, Sample, Session, Side
from bench.peers.registry import register
from bench.peers.session import EngineSession, NodeClocks, engine_session

SENDERS = (1, 2, 4, 8)
FLOWS = 1_000_000
#: More than any CPU makes; a profile needs a rate.
UNREACHABLE_PPS = 1_000_000_000


def _stream(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 (keys of a stream)
    return stream((0, 0), layers=layers(0, 1), flows={"count": FLOWS}, **changes)


@dataclass(frozen=True, slots=True)
class SendersSession:
    """A tester whose port has several senders."""

    engine: EngineSession
    senders: int

    def sample(self, seconds: float) -> Sample:
        """Cycles of making and sending a packet, of all senders together."""
        elapsed, nodes = self.engine.all_node_clocks(seconds)
        each = [_sender(nodes, number) for number in range(self.senders)]
        packets = sum(one.packets for one in each)
        clocks = sum(one.clocks for one in each) / packets
        by_sender = [one.per_packet for one in each]
        details = {"least": min(by_sender), "most": max(by_sender)}
        return Sample(packets / elapsed * self.engine.tsc_hz, clocks, self.engine.tsc_hz, details)


def _sender(nodes: Mapping[str, NodeClocks], number: int) -> NodeClocks:
    suffix = "t0" if number == 0 else f"t0-{number}"
    made, sent = nodes[f"generator-{suffix}"], nodes[f"tester-tx-{suffix}"]
    if not sent.packets:
        raise NotMeasuredError(f"sender {number} sent nothing")
    return NodeClocks(sent.packets, made.clocks + sent.clocks)


def _start_streams(engine: EngineSession) -> None:
    engine.send_forever()


def _start_profile(engine: EngineSession) -> None:
    made = _stream(rate={"pps": UNREACHABLE_PPS})
    made = {key: value for key, value in made.items() if key not in ("port", "rx_port")}
    with tempfile.TemporaryDirectory(prefix="linerate-") as folder:
        path = Path(folder) / "streams.json"
        path.write_text(json.dumps({"streams": [made]}), encoding="utf-8")
        engine.telemetry.ask(f"/linerate/profiles/load,port=t0,profile=p,file={path}")
    engine.telemetry.ask("/linerate/profiles/start,port=t0,profile=p,scale=1")


def _sending(senders: int, tester: dict[str, Any], start: Callable[[EngineSession], None]) -> Side:
    """Our tester with several senders of one port that takes everything."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        config = {
            "memory": {"pages": place.pages, "megabytes": 256},
            "ports": [replay(0, []) | {"name": "t0", "tx_queues": senders}],
            "tester": {"ports": ["t0"], "workers": senders, **tester},
        }
        one_cpu = replace(place, main_cpu=place.work_cpu)
        with engine_session(config, one_cpu) as engine:
            start(engine)
            yield SendersSession(engine, senders)

    return opened


for _senders in SENDERS:
    _text = "one sender" if _senders == 1 else f"{_senders} senders"
    register(
        Kind(
            f"senders-{_senders}",
            f"tester, {_text}, 1 M flows",
            _sending(_senders, {"streams": [_stream()]}, _start_streams),
        )
    )
    register(
        Kind(
            f"live-senders-{_senders}",
            f"tester, {_text} of a live profile",
            _sending(_senders, {"profiles": True}, _start_profile),
        )
    )
