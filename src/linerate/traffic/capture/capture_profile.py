"""Profiles from captures: the frames of a pcap or pcapng file, in their order, over and over.

Alike frames are one stream. When each frame was captured is its part of the round: `--rate 1x`
sends them so, other rates space them evenly unless the profile says otherwise. A round is as long
as the capture and one mean gap, between its last frame and its first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from linerate.traffic.addresses import shifted
from linerate.traffic.capture.capture_file import Frame, read_capture
from linerate.traffic.capture.capture_sides import Sides, sides_of
from linerate.traffic.profile import Pacing, Profile, Stream, TrafficError

SUFFIXES = (".pcap", ".pcapng", ".cap")
#: The engine's: streams, and frames in a round.
DIFFERENT_MAX = 8192
FRAMES_MAX = 65536
_ADDRESSES = 12
_HEADER = 14


@dataclass(frozen=True, slots=True)
class How:
    """Use of a capture."""

    #: Frames go to the device, from the tester; else to and from whom they were captured.
    own_macs: bool = True
    #: Repetitions in a round, each with other IP addresses: one more in their last `bits`.
    loops: int = 1
    bits: int = 8
    #: Sources whose frames enter at t0, and at t1; None: all enter at t0.
    sides: Sides | None = None
    pacing: Pacing | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """A file that libpcap reads."""

    name: str = "capture"

    def recognises(self, text: str) -> bool:
        """By its suffix."""
        return Path(text).suffix.lower() in SUFFIXES

    def read(self, text: str) -> Profile:
        """All frames, as they are but for their MAC addresses."""
        return profile_of(Path(text), Path(text).stem, How())

    def words(self, _typed: str) -> list[str]:
        """None: files complete by themselves."""
        return []


def profile_of(path: Path, name: str, how: How) -> Profile:
    """The profile that a capture makes; raises TrafficError."""
    frames = _frames(path)
    sides = [0] * len(frames) if how.sides is None else sides_of(path, frames, how.sides)
    return _profile(name, (path,), frames, sides, how)


def profile_of_two(paths: tuple[Path, Path], name: str, how: How) -> Profile:
    """The same of two captures made at once, one of what enters at t0 and one of t1's."""
    captured = [(frame, side) for side, path in enumerate(paths) for frame in _frames(path)]
    spans = [
        [frame.nanoseconds for frame, side in captured if side == one] for one in range(len(paths))
    ]
    if max(map(min, spans)) > min(map(max, spans)):
        raise TrafficError(
            f"{paths[1]}: captured at another time than {paths[0]}; "
            "expected captures that were made at once"
        )
    captured.sort(key=lambda one: one[0].nanoseconds)
    frames, sides = zip(*captured, strict=True)
    return _profile(name, paths, frames, sides, how)


def _frames(path: Path) -> tuple[Frame, ...]:
    frames = read_capture(path)
    if not frames:
        raise TrafficError(f"{path}: no frame in it")
    for number, frame in enumerate(frames, start=1):
        if len(frame.data) < _HEADER:
            raise TrafficError(
                f"{path}: frame {number}: expected {_HEADER} bytes or more, not {len(frame.data)}"
            )
    return frames


@dataclass(slots=True)
class _Alike:
    """Frames of one content that enter at one side: which of its frames, and when."""

    places: list[int]
    at: list[float]


def _profile(
    name: str, paths: tuple[Path, ...], frames: Sequence[Frame], sides: Sequence[int], how: How
) -> Profile:
    most = max(sides.count(0), sides.count(1)) * how.loops
    if most > FRAMES_MAX:
        raise TrafficError(f"{paths[0]}: {most:,} frames a round; expected {FRAMES_MAX:,} or fewer")
    parts = parts_of_round([frame.nanoseconds for frame in frames])
    found: dict[tuple[int, bytes], _Alike] = {}
    count = [0, 0]
    for loop in range(how.loops):
        for number, (frame, side) in enumerate(zip(frames, sides, strict=True)):
            alike = found.setdefault((side, _sent(frame.data, how, loop)), _Alike([], []))
            alike.places.append(count[side])
            count[side] += 1
            if parts is not None:
                alike.at.append((loop + parts[number]) / how.loops)
    if len(found) > DIFFERENT_MAX:
        raise TrafficError(
            f"{paths[0]}: {len(found):,} different frames; expected {DIFFERENT_MAX:,} or fewer"
        )
    seconds = how.loops * _round_seconds(frames)
    streams = tuple(
        _stream(number, side, content, alike, seconds)
        for number, ((side, content), alike) in enumerate(found.items(), start=1)
    )
    return Profile(name, _message(paths, sides, how), streams, files=paths, pacing=how.pacing)


def parts_of_round(nanoseconds: Sequence[int]) -> list[float] | None:
    """When each frame is due, as a part of the round: 0 to below 1, never before the last one.

    None of frames that have no times, or all the same.
    """
    times = list(accumulate(nanoseconds, max))
    took = times[-1] - times[0]
    if not took:
        return None
    whole = took * len(times)
    return [(time - times[0]) * (len(times) - 1) / whole for time in times]


def _round_seconds(frames: Sequence[Frame]) -> float:
    """The capture's duration and a mean gap; 0 where there is none."""
    times = [frame.nanoseconds for frame in frames]
    took = max(times) - times[0]
    return took / 1e9 * len(times) / (len(times) - 1) if took > 0 else 0.0


def _message(paths: tuple[Path, ...], sides: Sequence[int], how: How) -> str:
    files = " and ".join(path.name for path in paths)
    both = f", {sides.count(1):,} of them from t1" if 1 in sides else ""
    times = f", {how.loops:,} times with other addresses" if how.loops > 1 else ""
    return f"{len(sides):,} frames of {files}{both}{times}"


def _sent(content: bytes, how: How, loop: int) -> bytes:
    """The frame with the addresses of a loop; zeros are filled in where the link is known."""
    made = shifted(content, loop, how.bits)
    return bytes(_ADDRESSES) + made[_ADDRESSES:] if how.own_macs else made


def _stream(number: int, side: int, content: bytes, alike: _Alike, seconds: float) -> Stream:
    places = alike.places
    share: dict[str, Any] = {"weight": len(places)}
    if alike.at:
        share = {"rate": {"pps": len(places) / seconds}, "at": alike.at}
    return {
        "name": f"frame-{number}",
        "port": side,
        "template": content.hex(),
        "signature": False,
        "places": places,
        **share,
    }
