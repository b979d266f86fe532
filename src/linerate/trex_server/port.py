"""A tester port as clients see it: owner, profiles, state."""

from collections.abc import Iterator
from dataclasses import replace

from linerate.trex_server.captures import Capture
from linerate.trex_server.errors import FailedError
from linerate.trex_server.layers import Layers
from linerate.trex_server.profiles import STREAMS_MAX, Profile, State, Stream
from linerate.trex_server.smoothing import Smoothed
from linerate.trex_server.traffic_engine import PortCounters, PortInfo

#: Names for all profiles, and for the default one.
ALL, DEFAULT = "*", "_"
PROFILES_MAX = 256


class PortRates:
    """Smoothed rates of a port."""

    def __init__(self) -> None:
        self.tx_pps, self.rx_pps = Smoothed(), Smoothed()
        self.tx_bytes, self.rx_bytes = Smoothed(), Smoothed()

    def read(self, counters: PortCounters, now: float) -> None:
        """Take a reading."""
        self.tx_pps.read(counters.tx_packets, now)
        self.rx_pps.read(counters.rx_packets, now)
        self.tx_bytes.read(counters.tx_bytes, now)
        self.rx_bytes.read(counters.rx_bytes, now)


class Port:
    """A port and its profiles; no call of it asks the engine."""

    def __init__(self, number: int, info: PortInfo) -> None:
        self.number = number
        self.info = info
        self.owner = ""
        self.session: int | str = 0
        self.handler: str | None = None
        self.profiles: dict[str, Profile] = {}
        self.rates = PortRates()
        self.counters = PortCounters()
        self.service = False
        self.layers = Layers()
        #: Frames that it received last, where a client asked for them.
        self.queue: Capture | None = None
        self._made = 0

    def check_handler(self, handler: str) -> None:
        """Raise FailedError unless the caller owns the port."""
        if self.handler is None:
            raise FailedError(f"port {self.number}: not acquired")
        if handler != self.handler:
            raise FailedError(
                f"port {self.number}: handler is not its owner's: '{self.owner}' has the port"
            )

    @property
    def state(self) -> State:
        """TX where one profile sends, PAUSE where one is paused."""
        states = {profile.state for profile in self.profiles.values()}
        for state in (State.TX, State.PAUSE, State.STREAMS):
            if state in states:
                return state
        return State.IDLE

    @property
    def last_stream_id(self) -> int:
        """Highest number of a stream, 0 without one."""
        return max((number for _, number, _ in self.streams()), default=0)

    @property
    def addressed(self) -> PortInfo:
        """The port, its frames going where a client sends them."""
        return replace(self.info, next_mac=self.layers.next_mac(self.info.next_mac))

    def set_layers(self, layers: Layers) -> None:
        """Other addresses; streams that the engine has are to be loaded anew."""
        before = self.addressed.next_mac
        self.layers = layers
        if self.addressed.next_mac != before:
            for profile in self.profiles.values():
                profile.is_current = False

    def streams(self) -> Iterator[tuple[Profile, int, Stream]]:
        """All of them, with their profiles and numbers."""
        for profile in self.profiles.values():
            for number, stream in profile.streams.items():
                yield profile, number, stream

    def profile(self, name: str) -> Profile:
        """One that exists; raises FailedError."""
        found = self.profiles.get(name)
        if found is None:
            raise FailedError(f"port {self.number}: no profile '{name[:80]}'")
        return found

    def chosen(self, name: str) -> dict[str, Profile]:
        """The profiles that a name means: one, or all."""
        return dict(self.profiles) if name == ALL else {name: self.profile(name)}

    def made_profile(self, name: str) -> Profile:
        """The profile of a name, made if there is none."""
        if name == ALL:
            raise FailedError("profile_id: '*' is no name of one profile")
        if name not in self.profiles:
            if len(self.profiles) >= PROFILES_MAX:
                raise FailedError(f"port {self.number}: has {PROFILES_MAX} profiles already")
            self._made += 1
            self.profiles[name] = Profile(f"trex-{self._made}")
        return self.profiles[name]

    def add_stream(self, name: str, number: int, stream: Stream) -> None:
        """Add one to a profile that does not send; raises FailedError."""
        profile = self.made_profile(name)
        if profile.is_active:
            raise FailedError(f"port {self.number}: profile '{name}' is sending: stop it first")
        if number in profile.streams:
            raise FailedError(f"port {self.number}: stream {number} is there already")
        if sum(len(one.streams) for one in self.profiles.values()) >= STREAMS_MAX:
            raise FailedError(f"port {self.number}: has {STREAMS_MAX} streams already")
        profile.streams[number] = stream
        profile.state, profile.is_current = State.STREAMS, False
