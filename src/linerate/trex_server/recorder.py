"""The interface of all that keeps the traffic of clients."""

from typing import Protocol

from linerate.trex_server.port import Port
from linerate.trex_server.profiles import Profile


class Recorder(Protocol):
    """Called for all traffic; none of its calls raises."""

    def starts(self, port: Port, profile: Profile, scale: float) -> None:
        """A profile, whose streams the engine has, is about to start."""
        ...

    def changes(self) -> None:
        """Rates of what sends change: what was asked for is no product of rate and time."""
        ...

    def look(self, ports: list[Port]) -> None:
        """Time passes."""
        ...

    def close(self, ports: list[Port]) -> None:
        """Nothing is sent any more, and nothing will be."""
        ...


class NotRecorded:
    """Keeps nothing."""

    def starts(self, port: Port, profile: Profile, scale: float) -> None:
        """Keep nothing."""

    def changes(self) -> None:
        """Keep nothing."""

    def look(self, ports: list[Port]) -> None:
        """Keep nothing."""

    def close(self, ports: list[Port]) -> None:
        """Keep nothing."""
