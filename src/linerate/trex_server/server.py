"""State of the server: ports, sessions' events, the engine, readings."""

import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from linerate.engine.frame_capture import CaptureOrder
from linerate.traffic.profile import is_signed
from linerate.trex_server.captures import Captures, Order
from linerate.trex_server.errors import FailedError
from linerate.trex_server.events import Events, Kind
from linerate.trex_server.latency import LatencyPeriods
from linerate.trex_server.pg_rates import GroupRates
from linerate.trex_server.port import ALL, Port
from linerate.trex_server.profiles import Profile, State
from linerate.trex_server.pushes import Pushes
from linerate.trex_server.recorder import NotRecorded, Recorder
from linerate.trex_server.traffic_engine import PortCapture, TrafficEngine, Utilization

READING_SECONDS = 0.5
HISTORY = 20


@dataclass(frozen=True, slots=True)
class Options:
    """Facts that a client sees of how the server was started."""

    version: str = "0"
    #: Histograms in get_pgid_stats.
    hdrh: bool = True


class Server:
    """One engine, its ports, and the clients' view of them."""

    def __init__(
        self,
        engine: TrafficEngine,
        options: Options | None = None,
        clock: Callable[[], float] = time.monotonic,
        recorder: Recorder | None = None,
    ) -> None:
        self.engine = engine
        self.recorder = recorder or NotRecorded()
        self.options = options or Options()
        self.clock = clock
        self.events = Events()
        self.captures = Captures(self.start_capture)
        self.pushes = Pushes(engine)
        self.api_handle = secrets.token_urlsafe(6)
        self.host = socket.gethostname()
        self.ports = [Port(number, info) for number, info in enumerate(engine.ports())]
        self.utilization = Utilization()
        self.history = [0] * HISTORY
        self.group_rates = GroupRates()
        self.latency_periods = LatencyPeriods()
        self.started_at = clock()
        self.is_ended = False
        self._read_at = float("-inf")
        self._loads = 0
        self.read_counters()

    def port(self, number: int) -> Port:
        """By its number; raises FailedError."""
        if not 0 <= number < len(self.ports):
            raise FailedError(f"port {number}: expected 0 to {len(self.ports) - 1}")
        return self.ports[number]

    def owned(self, number: int, handler: str) -> Port:
        """A port whose owner calls; raises FailedError."""
        port = self.port(number)
        port.check_handler(handler)
        return port

    def tick(self) -> None:
        """Do what happens by itself; raises TrafficEngineError.

        Pushed frames leave, profiles end, captured frames come, rates are read.
        """
        self.pushes.send(self.clock())
        self.end_profiles()
        self.recorder.look(self.ports)
        self.captures.take()
        for port in self.ports:
            if port.queue is not None:
                port.queue.take()
        if self.clock() - self._read_at >= READING_SECONDS:
            self.read_counters()

    def start_capture(self, number: int, order: Order) -> PortCapture:
        """Start what a capture needs of one port; raises TrafficEngineError."""
        rx, tx = number in order.rx, number in order.tx
        return self.engine.capture(
            CaptureOrder(
                port=self.port(number).info.name,
                direction="both" if rx and tx else "tx" if tx else "rx",
                filter=order.filter,
                snap_bytes=order.snap_bytes,
                ring=order.ring,
            )
        )

    def read_counters(self) -> None:
        """Read counters of ports and the tester, for rates."""
        now = self.clock()
        infos, counters = self.engine.ports(), self.engine.counters()
        for port, info in zip(self.ports, infos, strict=True):
            port.info = info
            port.counters = counters[info.name]
            port.rates.read(port.counters, now)
        self.utilization = self.engine.utilization()
        self.history = [round(self.utilization.cpu_percent), *self.history[:-1]]
        self.group_rates.read(self)
        self._read_at = now

    def end_profiles(self) -> None:
        """Report profiles that have sent all they had."""
        sending = [
            (port, name, profile)
            for port in self.ports
            for name, profile in port.profiles.items()
            if profile.state is State.TX
        ]
        if not sending:
            return
        states = self.engine.profile_states()
        for port, name, profile in sending:
            if states.get((port.info.name, profile.name), "done") in ("done", "idle"):
                profile.state = State.STREAMS
                self.event(Kind.PROFILE_FINISHED, port, profile_id=name)
                if not any(one.is_active for one in port.profiles.values()):
                    self.event(Kind.PORT_JOB_DONE, port)

    def event(self, kind: Kind, port: Port, **more: object) -> None:
        """Give every session an event of a port."""
        self.events.add(kind, {"port_id": port.number, **more})

    def load(self, port: Port, profile: Profile) -> None:
        """Let the engine have a profile's streams as they are."""
        if profile.is_current:
            return
        streams = profile.compiled(port.addressed)
        self.unload(port, profile)
        self.engine.load(port.info.name, profile.name, streams)
        profile.is_loaded = profile.is_current = True
        profile.unsigned = frozenset(one["name"] for one in streams if not is_signed(one))
        self._loads += 1
        profile.version = self._loads

    def unload(self, port: Port, profile: Profile) -> None:
        """Take a profile's streams from the engine."""
        if profile.is_loaded:
            self.engine.remove(port.info.name, profile.name)
        profile.is_loaded = profile.is_current = False

    def end(self) -> None:
        """Stop whatever sends, and keep what was measured; raises TrafficEngineError."""
        for port in self.ports:
            self.stop(port, ALL)
        self.recorder.close(self.ports)

    def stop(self, port: Port, name: str) -> None:
        """Stop a profile, or all of a port."""
        chosen = port.chosen(name) if name == ALL or name in port.profiles else {}
        for one, profile in chosen.items():
            if profile.is_active:
                self.engine.stop(port.info.name, profile.name)
                profile.state = State.STREAMS
                self.event(Kind.PROFILE_STOPPED, port, profile_id=one)
        if chosen and not any(one.is_active for one in port.profiles.values()):
            self.event(Kind.PORT_STOPPED, port)
