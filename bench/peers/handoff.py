"""Cost of handing packets from a reader to a writer: lock-free against a mutex.

Reader and writer are on CPUs of their own, so that the queue's lines, or its lock, move between
them. Over the card, with two CPUs, the reader takes turns with the tester: what passes then is
what the turns allow, so the rate is the one of which the slower side of the hand-off is capable.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.peers import card
from bench.peers.frames import one_core, stream
from bench.peers.model import Curve, Kind, NotMeasuredError, Place, Sample, Session, Side
from bench.peers.registry import register
from bench.peers.session import EngineSession, engine_session

#: Packets that one side puts in, or takes out, at once.
BATCHES = (1, 4, 16, 64, 256)
#: Nodes of the reader and of the writer that are the hand-off.
READER_NODE = "worker-handoff"
WRITER_NODE = "handoff-rx"
#: Different flows, so that packets are spread as in use.
FLOWS = 256
#: Share of the packets that must be received: lost ones were not handed over.
ARRIVE = 0.5
#: Slots of the card's rings and of the hand-off's: what comes while the reader is off its turn.
SLOTS = 16384
MEGABYTES = 1024

Config = Callable[[Place, str, int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class HandoffSession:
    """A reader and a writer at work."""

    engine: EngineSession
    in_turns: bool

    def sample(self, seconds: float) -> Sample:
        """Clocks of both sides of the hand-off, a packet that came out of it."""
        elapsed, nodes = self.engine.all_node_clocks(seconds)
        entered, left = nodes.get(READER_NODE), nodes.get(WRITER_NODE)
        if entered is None or left is None or not left.packets:
            raise NotMeasuredError("nothing was handed over")
        if left.packets < ARRIVE * entered.packets:
            lost = entered.packets - left.packets
            raise NotMeasuredError(f"{lost:,} of {entered.packets:,} packets found no room")
        passed = left.packets / elapsed
        capable = 1 / max(entered.per_packet, left.per_packet)
        return Sample(
            (capable if self.in_turns else passed) * self.engine.tsc_hz,
            entered.per_packet + left.per_packet,
            self.engine.tsc_hz,
        )


def _forwarder(threading: str, batch: int) -> dict[str, Any]:
    return {
        "mode": "io",
        "workers": 2,
        "threading": threading,
        "queue_batch": batch,
        "handoff_ring": SLOTS,
    }


def _flows() -> dict[str, Any]:
    field = {"field": "udp.src", "op": "increment", "min": 1024, "max": 1024 + FLOWS - 1}
    return stream((0, 1), [field])


def over_card(place: Place, threading: str, batch: int) -> dict[str, Any]:
    """One direction over an unpaced card; the writer has a CPU of its own."""
    config = card.config(place, "io", 1)
    config["memory"]["megabytes"] = MEGABYTES
    config["cards"][0] |= {"rx_ring": SLOTS, "tx_ring": SLOTS}
    config["forwarder"] |= _forwarder(threading, batch)
    config["tester"]["streams"] = [_flows()]
    config["cpus"] = [place.main_cpu, place.main_cpu, place.work_cpu]
    return config


def between_replay_ports(place: Place, threading: str, batch: int) -> dict[str, Any]:
    """Between replay ports: nothing but the two workers."""
    config = one_core(place, _forwarder(threading, batch), [_flows()])
    config["memory"]["megabytes"] = MEGABYTES
    return config | {"cpus": list(place.cpus)}


def _side(made: Config, threading: str, batch: int) -> Side:
    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        config = made(place, threading, batch)
        with engine_session(config, place) as engine:
            if "tester" in config:
                engine.send_forever()
            yield HandoffSession(engine, in_turns=made is over_card)

    return opened


def _register(name: str, made: Config, ours: int, peer: int, drawn: bool) -> None:
    where = "over the card" if made is over_card else "between replay ports"
    title = f"Handing a packet over, {where}"
    register(
        Kind(
            name=name,
            text=f"hand-off {where}, {ours} at once",
            ours=_side(made, "lock-free", ours),
            peer=_side(made, "locked", peer),
            peer_name=f"mutex, {peer}",
            cores=2,
            curve=Curve(title, "packets at once", ours, "lock-free", "mutex") if drawn else None,
        )
    )


for _name, _made in (("handoff", over_card), ("handoff-apart", between_replay_ports)):
    _register(_name, _made, BATCHES[-1], BATCHES[0], drawn=False)
    for _batch in BATCHES:
        _register(f"{_name}-{_batch}", _made, _batch, _batch, drawn=True)
