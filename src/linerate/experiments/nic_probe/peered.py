"""A probed port and the other end of its link in one engine: one receives, the other sends."""

import re
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linerate.base import ownership, pci
from linerate.engine.engine_process import Engine, EngineError, Files
from linerate.engine.telemetry import Telemetry
from linerate.experiments.nic_probe.opening import PORT, TargetError, config_of
from linerate.experiments.nic_probe.rules import EngineRules
from linerate.model.flow_rule_acting import FLAG, Arrived, Seen
from linerate.model.flow_rule_frames import FRAMES, ProbeFrame

PEER = "peer"
#: Packets of each frame in a round.
EACH = 8
#: A frame's rate; a round lasts twice as long as its packets take.
RATE_PPS = 2000
ROUND_US = EACH * 2 * 1_000_000 // RATE_PPS
#: A host without CPU time takes long.
ROUND_TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.005
#: Queues of a device; where it has fewer, one.
QUEUES = 4
#: Rows of an answer of `/linerate/witness`.
_PAGE = 64

NO_PEER = "no peer that can send: name the other end of its link with --peer"
#: As packet_parse_headers() of the kernel's af_packet.c does.
DISPLACED = (
    "a packet socket's tagged frames pass the interface's qdisc with the network header behind "
    "the tag, where no rule finds it"
)
IN_USE = "the port is in use: others send to it"

_Sightings = dict[tuple[int, int, int | None], int]


@dataclass(frozen=True, slots=True)
class Ends:
    """A probed port, the other end of its link, as the engine is configured with it, and queues."""

    target: str
    peer: dict[str, Any] | None
    queues: int | None


def peer_of(target: str, peer: str | None) -> dict[str, Any] | None:
    """Configure the other end; None: there is none."""
    if target.startswith(("card", "{")):
        if peer is not None:
            raise TargetError("--peer: the virtual card has its own other end")
        return {"driver": "wire", "card": "card0", "index": 0}
    tap = re.search(r"^net_tap.*\biface=([^,]+)", target)
    name = peer or (tap and tap[1])
    if not name:
        return None
    device, _comma, devargs = name.partition(",")
    if pci.is_address(device) or device.startswith(("net_", "eth_")):
        port = {"driver": "ethdev", "device": pci.normalised(device)}
        return port | ({"devargs": devargs} if devargs else {})
    # Not past the interface's qdisc, as our own sockets send: net_tap has its rules there.
    return {"driver": "socket-single", "device": name, "qdisc_bypass": False}


class PeeredRounds:
    """Rounds over a link whose ends an engine has."""

    each = EACH

    def __init__(self, telemetry: Telemetry, no_tags: str = "") -> None:
        """The engine has the ports `PORT` and `PEER`."""
        self.no_tags = no_tags
        self._telemetry = telemetry
        self.rules = EngineRules(telemetry, PORT)
        self._before = self._sightings()

    def send(self, rule: int | None) -> Seen:
        """Send each frame; see what came, and what the rule counted of it."""
        counted = None if rule is None else self._counted(rule)
        self._round()
        now = self._sightings()
        grown = {key: count - self._before.get(key, 0) for key, count in now.items()}
        self._before = now
        after = None if rule is None else self._counted(rule)
        return _seen(grown, None if after is None else after - (counted or 0))

    def _round(self) -> None:
        order = f"duration_us={ROUND_US},scale_ppm=1000000"
        self._telemetry.ask(f"/linerate/trial/start,{order}")
        deadline = time.monotonic() + ROUND_TIMEOUT_SECONDS
        while self._telemetry.ask("/linerate/trial")["state"] != "done":
            if time.monotonic() > deadline:
                raise EngineError("a round of frames does not end: the peer cannot send")
            time.sleep(POLL_SECONDS)

    def _sightings(self) -> _Sightings:
        found: _Sightings = {}
        first, total = 0, 1
        while first < total:
            answer = self._telemetry.ask(f"/linerate/witness,{first}")
            names = ("stream", "queue", "kind", "mark", "packets")
            for stream, queue, kind, mark, packets in zip(
                *(answer[name] for name in names), strict=True
            ):
                number = {"": None, "flag": FLAG}.get(kind, mark)
                found[stream, queue, number] = packets
            first, total = first + _PAGE, int(answer["total"])
        return found

    def _counted(self, rule: int) -> int:
        rows = self._telemetry.table(f"/linerate/flow/list,{PORT},{rule}")
        return next((int(row["packets"]) for row in rows if row["id"] == rule), 0)


def _seen(grown: _Sightings, counted: int | None) -> Seen:
    by_frame: dict[str, list[Arrived]] = defaultdict(list)
    foreign = 0
    for (stream, queue, mark), packets in grown.items():
        if stream >= len(FRAMES):
            foreign += packets
        elif packets:
            by_frame[FRAMES[stream].name].append(Arrived(queue, mark, packets))
    return Seen(by_frame, foreign, counted)


@contextmanager
def peered(ends: Ends) -> Iterator[PeeredRounds]:
    """Open both ends, with several queues where the device has them; raises EngineError."""
    with ownership.temporary_folder("probe") as folder, ExitStack() as stack:
        files = Files(Path(folder) / "config.json", Path(folder) / "engine.log")
        started = stack.enter_context(_started(ends, files))
        no_tags = DISPLACED if ends.target.startswith("net_tap") else ""
        yield PeeredRounds(stack.enter_context(started.connect()), no_tags)


@contextmanager
def _started(ends: Ends, files: Files) -> Iterator[Engine]:
    """Start with several queues, as the device takes them, or else with one."""
    several = ends.queues or QUEUES
    choices = [{"rx_queues": several}, {"rx_queues": several, "tx_queues": several}]
    if ends.queues is None:
        choices.append({"rx_queues": 1})
    with ExitStack() as stack:
        for number, queues in enumerate(choices, 1):
            try:
                started = stack.enter_context(Engine(_config(ends, queues), files))
                break
            except EngineError:
                if number == len(choices):
                    raise
        yield started


def _config(ends: Ends, queues: dict[str, int]) -> dict[str, Any]:
    config = config_of(ends.target, queues["rx_queues"])
    assert config is not None
    assert ends.peer is not None
    if "cards" not in config:
        config["ports"][0] |= queues
    config["ports"].append({"name": PEER, **ends.peer})
    config["forwarder"]["mode"] = "witness"
    config["tester"] = {"ports": [PEER], "streams": [_stream(frame) for frame in FRAMES]}
    return config


def _stream(frame: ProbeFrame) -> dict[str, Any]:
    return {
        "name": frame.name.replace("…", "..."),
        "port": PEER,
        "template": frame.encode().hex(),
        "signature": True,
        "rate": {"pps": RATE_PPS},
        "burst": EACH,
    }
