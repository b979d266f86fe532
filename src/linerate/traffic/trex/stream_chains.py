"""When streams begin that wait for others: TRex's `next`, `self_start` and `action_count`.

A burst's time is known beforehand, so that a chain is a time to begin for each of its streams, and
a loop is bursts with gaps between them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MIN
from linerate.traffic.profile import TrafficError
from linerate.traffic.trex.profile_process import TrexStream

#: Preamble and gap, in bytes.
OVERHEAD = 20
#: A packet in base64.
THREE, FOUR = 3, 4

Timed = Iterator[tuple[int, TrexStream, dict[str, Any]]]


def timed(name: str, streams: Sequence[TrexStream]) -> Timed:
    """Those that send, each with its number and its `bursts`, `start_us` and `chain`, if any.

    Raises TrafficError.
    """
    by_name = {stream.name: i for i, stream in enumerate(streams) if stream.name is not None}
    reached: dict[int, dict[str, Any]] = {}
    for head, stream in enumerate(streams):
        if not stream.self_start or not stream.enabled:
            continue
        for number, changes in _chain(name, streams, by_name, head):
            if number in reached:
                raise TrafficError(
                    f"{name}: stream {streams[number].name}: next of two streams: not supported"
                )
            reached[number] = changes
    for number, changes in sorted(reached.items()):
        if not streams[number].dummy:
            yield number, streams[number], changes


def _chain(
    name: str, streams: Sequence[TrexStream], by_name: dict[str, int], head: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The streams from one that starts by itself, in turn."""
    #: In turn, each with its place.
    order: dict[int, int] = {}
    at: int | None = head
    while at is not None and at not in order:
        order[at] = len(order)
        after = streams[at].next
        if after is not None and after not in by_name:
            raise TrafficError(f"{name}: stream {streams[at].name}: next '{after}': no such stream")
        at = None if after is None else by_name[after]
    if len(order) == 1 and at is None:
        yield head, _alone(streams[head])
        return
    starts, us = [], 0.0
    last = next(reversed(order))
    for number in order:
        us += streams[number].start_us
        starts.append(us)
        # Nothing waits for the end of the last one, which may have none.
        if number != last or at is not None:
            us += _lasts_us(name, streams[number])
    first = len(order) if at is None else order[at]
    lap_us = us - (starts[first] - streams[at].start_us) if at is not None else 0.0
    laps = streams[last].action_count
    for (number, place), start_us in zip(order.items(), starts, strict=True):
        # One sender sends them all, so that none is before its turn.
        changes = _alone(streams[number]) | {"start_us": start_us, "chain": head + 1}
        if place >= first:
            changes["bursts"] = _looped(name, streams[number], lap_us, laps)
        yield number, changes


def _alone(stream: TrexStream) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if stream.start_us:
        made["start_us"] = stream.start_us
    if stream.mode.type == "bursts":
        mode = stream.mode
        made["bursts"] = {"frames": mode.frames, "count": mode.count, "gap_us": mode.gap_us}
    return made


def _looped(name: str, stream: TrexStream, lap_us: float, laps: int) -> dict[str, Any]:
    if stream.mode.count > 1:
        raise TrafficError(f"{name}: stream {stream.name}: a multi-burst in a loop: not supported")
    gap_us = lap_us - (stream.mode.frames - 1) * 1e6 / _pps(name, stream)
    return {"frames": stream.mode.frames, "count": laps, "gap_us": max(0.0, gap_us)}


def _lasts_us(name: str, stream: TrexStream) -> float:
    """From its first frame to its last."""
    mode = stream.mode
    if mode.type == "continuous":
        raise TrafficError(f"{name}: stream {stream.name}: a continuous stream has no next")
    burst_us = (mode.frames - 1) * 1e6 / _pps(name, stream)
    return mode.count * burst_us + (mode.count - 1) * mode.gap_us


def _pps(name: str, stream: TrexStream) -> float:
    ((kind, value),) = stream.mode.rate.items()
    size = max(FRAME_BYTES_MIN, len(stream.packet.rstrip("=")) * THREE // FOUR + FCS_BYTES)
    if kind == "pps":
        return value
    if kind == "percent":
        raise TrafficError(
            f"{name}: stream {stream.name}: percentage and next together: not supported"
        )
    return value / 8 / (size + (OVERHEAD if kind == "l1_bps" else 0))
