"""Length of a stream's frames, FCS counted: the longest, and the mean."""

from fractions import Fraction

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MIN
from linerate.traffic.profile import Stream


def frame_bytes_of(stream: Stream) -> int:
    """The longest, in bytes; a template has no FCS and is padded to the least."""
    if "template" in stream:
        size = len(str(stream["template"])) // 2 + FCS_BYTES
        return max(FRAME_BYTES_MIN, int(stream.get("frame_bytes", size)))
    return int(stream.get("frame_bytes", FRAME_BYTES_MIN))


def mean_bytes_of(stream: Stream) -> int | Fraction:
    """The mean as the engine reckons it, in bytes: halfway between the shortest and the longest."""
    cut = _cut_to(stream)
    if cut is None:
        return frame_bytes_of(stream)
    mean = Fraction(sum(cut), 2) + FCS_BYTES
    return int(mean) if mean.denominator == 1 else mean


def is_cut(stream: Stream) -> bool:
    """Whether its frames differ in size."""
    return _cut_to(stream) is not None


def _cut_to(stream: Stream) -> tuple[int, int] | None:
    """The least and the highest size that a program cuts frames to, without FCS."""
    program = stream.get("program", {})
    names = [step["trim"]["variable"] for step in program.get("steps", ()) if "trim" in step]
    for variable in program.get("variables", ()):
        if variable["name"] in names[-1:]:
            among = variable.get("values") or (variable["min"], variable["max"])
            return min(among), max(among)
    for pair in program.get("tuples", ()):
        if f"{pair['name']}.port" in names[-1:]:
            return int(pair["port_min"]), int(pair["port_max"])
    return None
