"""IMIX genomes (RFC 6985): a repeating sequence of frame sizes, a letter each.

`imix-genome:aaafg` is three frames of 64 bytes, one of 1280, one of 1518, in this order, over and
over. Section 5 has custom sizes, capital letters: `imix-genome:A=90,B=1418:AAAB`; `z` is the MTU,
which must be given: `imix-genome:z=9018:aaz`. Its run lengths (section 6.1) are written before the
repeated part: `20{abcd}5{ggga}`, or `7a4d` for single letters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from linerate.traffic.mixes import FLOWS, check_size, udp
from linerate.traffic.profile import Profile, TrafficError

PREFIX = "imix-genome:"
#: RFC 6985, section 4; FCS counted. `z` is given.
LETTERS = {
    "a": 64,
    "b": 128,
    "c": 256,
    "d": 512,
    "e": 1024,
    "f": 1280,
    "g": 1518,
    "h": 2112,
    "i": 9000,
    "j": 16000,
}
#: Frames in a round: as many as the engine's schedule has places.
FRAMES_MAX = 65536
_SIZE = re.compile(r"([A-Zz])=(\d{1,9})")
_PART = re.compile(r"(\d{0,9})(?:\{([A-Za-z]+)\}|([A-Za-z]))")


@dataclass(frozen=True, slots=True)
class Genome:
    """`imix-genome:…`."""

    name: str = "IMIX genome"

    def recognises(self, text: str) -> bool:
        """By its prefix."""
        return text.startswith(PREFIX)

    def read(self, text: str) -> Profile:
        """One stream a size, its frames in the places that the sequence says."""
        sizes = sequence(text)
        places: dict[int, list[int]] = {}
        for place, size in enumerate(sizes):
            places.setdefault(check_size(text, size), []).append(place)
        streams = (
            udp(side, size, max(1, FLOWS // len(places)), len(taken), taken)
            for side in (0, 1)
            for size, taken in places.items()
        )
        genome = text.removeprefix(PREFIX)
        message = genome if len(genome) <= 40 else genome[:37] + "..."
        return Profile("imix-genome", f"IMIX genome {message}, UDP", tuple(streams))

    def words(self, typed: str) -> list[str]:
        """The prefix."""
        return [PREFIX] if PREFIX.startswith(typed) else []


def sequence(text: str) -> list[int]:
    """Sizes of the frames of one round, in order; raises TrafficError."""
    genome = text.removeprefix(PREFIX)
    reported, colon, letters = genome.rpartition(":")
    sizes = LETTERS | (dict(_given(text, reported)) if colon else {})
    found: list[int] = []
    for count, part in _parts(text, letters):
        for letter in part:
            if letter not in sizes:
                raise TrafficError(_unknown(text, letter))
        if len(found) + count * len(part) > FRAMES_MAX:
            raise TrafficError(f"traffic '{_short(text)}': expected {FRAMES_MAX:,} frames or fewer")
        found += [sizes[letter] for letter in part] * count
    if not found:
        raise TrafficError(f"traffic '{_short(text)}': expected letters, as {PREFIX}aaafg")
    return found


def _given(text: str, reported: str) -> Iterator[tuple[str, int]]:
    for one in reported.split(","):
        match = _SIZE.fullmatch(one)
        if match is None:
            raise TrafficError(
                f"traffic '{_short(text)}': expected a capital letter or z and its size, "
                f"as A=90; not '{one}'"
            )
        yield match[1], int(match[2])


def _parts(text: str, letters: str) -> Iterator[tuple[int, str]]:
    """Counts, and the letters that they repeat."""
    at = 0
    while at < len(letters):
        match = _PART.match(letters, at)
        if match is None:
            raise TrafficError(
                f"traffic '{_short(text)}': expected letters, 7a, or 20{{abcd}}; "
                f"not '{letters[at : at + 12]}'"
            )
        yield int(match[1]) if match[1] else 1, match[2] or match[3]
        at = match.end()


def _unknown(text: str, letter: str) -> str:
    if letter == "z":
        say = f"the MTU must be given, as {PREFIX}z=9018:aaz"
    elif letter.isupper():
        say = f"expected its size, as {PREFIX}{letter}=90:aa{letter}"
    else:
        say = "RFC 6985 has the letters a to j and z"
    return f"traffic '{_short(text)}': letter {letter}: {say}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
