"""A traffic profile as a value: streams in the engine's words, whatever its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol


class TrafficError(ValueError):
    """A profile that can't be, in one line that says what to do."""


#: A stream of docs/engine-configuration.md, but for `port`, which is the side where its frames
#: enter: 0 at t0, leaving at t1; 1 the other way. `rx_port` is left out. An `ethernet` layer
#: without `src` or `dst`, and an address of a `template` that is all zeros, is the tester's and
#: the device's own. Of a template `timeable` says whether a signature with a time stamp has room.
Stream = Mapping[str, Any]


#: Those keys that are not the engine's.
OWN_KEYS = ("port", "rx_port", "timeable")

#: Gaps of frames that have times: as captured, or evenly spaced.
Pacing = Literal["captured", "even"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Streams, and what they are called together."""

    #: A word: of results and files.
    name: str
    #: In words, for people.
    text: str
    streams: tuple[Stream, ...] = field(hash=False)
    #: Templates of connections and the pools of their addresses, for the engine's `connections`.
    connections: Mapping[str, Any] | None = field(default=None, hash=False)
    #: Files that it was read from.
    files: tuple[Path, ...] = ()
    #: None: as captured where rates are the profile's own (`1x`), else evenly.
    pacing: Pacing | None = None


def engine_keys(stream: Stream) -> dict[str, Any]:
    """Keys that the engine reads."""
    return {key: value for key, value in stream.items() if key not in OWN_KEYS}


def has_signature(stream: Stream) -> bool:
    """Whether its frames end in one; those of templates only if they are to."""
    if stream.get("count_by") == "ip_id":
        return False
    return bool(stream.get("signature", "template" not in stream))


def is_signed(stream: Stream) -> bool:
    """Whether its frames say whose they are, by a signature or by their IP header."""
    return stream.get("count_by") == "ip_id" or has_signature(stream)


class Source(Protocol):
    """One way to describe traffic; a file of this package each, registered where it stands."""

    @property
    def name(self) -> str:
        """Name in messages."""

    def recognises(self, text: str) -> bool:
        """Whether a text (a name, or a file's) is of this kind; does not raise."""

    def read(self, text: str) -> Profile:
        """Read it; raises TrafficError."""

    def words(self, typed: str) -> list[str]:
        """Words for shell completion; none but for names."""
