"""Traffic: start, stop, pause, resume, update; of profiles and of single streams."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from linerate.trex_server.errors import FailedError
from linerate.trex_server.events import Kind
from linerate.trex_server.methods.parameters import OfProfile, OfStreams
from linerate.trex_server.port import Port
from linerate.trex_server.profiles import Profile, State, Stream
from linerate.trex_server.rates import Multiplier, scale_for, total
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

US_PER_S = 1_000_000
#: Longest run with an end: 30 days.
DURATION_MAX_S = 30 * 24 * 3600
#: Share of the line above which `force` is needed: rounding is no excess.
FULL = 1.0 + 1e-6


class _Started(OfProfile):
    mul: Multiplier
    #: -1: without end.
    duration: Annotated[float, Field(ge=-1, le=DURATION_MAX_S)] = -1
    force: bool = False
    start_at_ts: float = 0


class _Updated(OfProfile):
    mul: Multiplier
    force: bool = False


class _StreamsUpdated(OfStreams):
    mul: Multiplier
    force: bool = False


@method("start_traffic", _Started)
def start_traffic(server: Server, asked: _Started) -> dict[str, Any]:
    """Start a profile."""
    port = server.owned(asked.port_id, asked.handler)
    profile = port.profile(asked.profile_id)
    if profile.is_active:
        raise FailedError(f"port {port.number}: profile '{asked.profile_id}' is sending already")
    if asked.duration == 0:
        raise FailedError("duration: 0: expected -1 (without end), or more than 0")
    link = port.info.link_bps
    scale = scale_for(asked.mul, *profile.rates(link), link)
    scale = _within_line(port, profile, scale, asked.force)
    server.load(port, profile)
    duration_us = round(asked.duration * US_PER_S) if asked.duration > 0 else None
    at_us = round(asked.start_at_ts * US_PER_S) if asked.start_at_ts else None
    server.recorder.starts(port, profile, scale)
    server.engine.start(port.info.name, profile.name, scale, duration_us, at_us)
    profile.state, profile.scale = State.TX, scale
    server.event(Kind.PROFILE_STARTED, port, profile_id=asked.profile_id)
    server.event(Kind.PORT_STARTED, port)
    return {"multiplier": scale, "ts": time.time()}


def _within_line(port: Port, profile: Profile, scale: float, force: bool) -> float:
    """The scale at which all that sends on the port fits its line: by force it may be a lower one.

    Raises FailedError.
    """
    link = port.info.link_bps
    scaled, fixed = profile.rates(link)
    besides = fixed.l1_bps
    for one in port.profiles.values():
        if one is not profile and one.is_active:
            others, timed = one.rates(link)
            besides += (others * one.scale + timed).l1_bps
    wanted = besides + scaled.l1_bps * scale
    if not link or wanted <= FULL * link:
        return scale
    if not force:
        raise FailedError(
            f"port {port.number}: {wanted / 1e9:.3f} Gb/s on the line, which is of "
            f"{link / 1e9:g} Gb/s: use force"
        )
    if besides >= link or not scaled.l1_bps:
        raise FailedError(
            f"port {port.number}: latency streams and other profiles have "
            f"{besides / 1e9:.3f} Gb/s of the line's {link / 1e9:g} Gb/s"
        )
    return (link - besides) / scaled.l1_bps


@method("stop_traffic", OfProfile)
def stop_traffic(server: Server, asked: OfProfile) -> dict[str, Any]:
    """Stop a profile, or all."""
    server.stop(server.owned(asked.port_id, asked.handler), asked.profile_id)
    return {}


@method("remove_rx_filters", OfProfile)
def remove_rx_filters(server: Server, asked: OfProfile) -> dict[str, Any]:
    """Nothing: frames are counted by their signatures, which need no filters."""
    server.owned(asked.port_id, asked.handler)
    return {}


@method("pause_traffic", OfProfile)
def pause_traffic(server: Server, asked: OfProfile) -> dict[str, Any]:
    """Hold a profile, or all that send."""
    return _turn(server, asked, _PAUSING, server.engine.pause)


@method("resume_traffic", OfProfile)
def resume_traffic(server: Server, asked: OfProfile) -> dict[str, Any]:
    """Let a profile go on, or all that are paused."""
    return _turn(server, asked, _RESUMING, server.engine.resume)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A change of profiles from one state to the other, and the events of it."""

    before: State
    after: State
    of_profile: Kind
    of_port: Kind


_PAUSING = _Turn(State.TX, State.PAUSE, Kind.PROFILE_PAUSED, Kind.PORT_PAUSED)
_RESUMING = _Turn(State.PAUSE, State.TX, Kind.PROFILE_RESUMED, Kind.PORT_RESUMED)


def _turn(
    server: Server, asked: OfProfile, turn: _Turn, act: Callable[[str, str], None]
) -> dict[str, Any]:
    port = server.owned(asked.port_id, asked.handler)
    for name, profile in _in_state(port, asked.profile_id, turn.before).items():
        server.recorder.changes()
        act(port.info.name, profile.name)
        profile.state = turn.after
        server.event(turn.of_profile, port, profile_id=name)
    server.event(turn.of_port, port)
    return {}


def _in_state(port: Port, name: str, state: State) -> dict[str, Profile]:
    found = {one: each for one, each in port.chosen(name).items() if each.state is state}
    if not found:
        raise FailedError(f"port {port.number}: profile '{name}' is not in state {state}")
    return found


@method("update_traffic", _Updated)
def update_traffic(server: Server, asked: _Updated) -> dict[str, Any]:
    """Another rate, while it sends."""
    port = server.owned(asked.port_id, asked.handler)
    link = port.info.link_bps
    scales = {}
    for name, profile in _in_state(port, asked.profile_id, State.TX).items():
        scale = scale_for(asked.mul, *profile.rates(link), link, profile.scale)
        scale = _within_line(port, profile, scale, asked.force)
        server.recorder.changes()
        server.engine.set_rate(port.info.name, profile.name, scale)
        profile.scale = scales[name] = scale
    return {"multiplier": next(iter(scales.values()))}


@method("pause_streams", OfStreams)
def pause_streams(server: Server, asked: OfStreams) -> dict[str, Any]:
    """Hold some streams of a profile."""
    return _scale(server, _chosen_streams(server, asked), 0.0)


@method("resume_streams", OfStreams)
def resume_streams(server: Server, asked: OfStreams) -> dict[str, Any]:
    """Let some streams of a profile go on."""
    return _scale(server, _chosen_streams(server, asked), 1.0)


@method("update_streams", _StreamsUpdated)
def update_streams(server: Server, asked: _StreamsUpdated) -> dict[str, Any]:
    """Another rate of some streams of a profile, all together."""
    chosen = _chosen_streams(server, asked)
    port, profile, streams = chosen
    if any(one.is_latency for one in streams):
        raise FailedError(f"port {port.number}: latency streams are not scaled")
    link = port.info.link_bps
    rates = total(one.document.rates(link) for one in streams)
    # A stream's scale is within its profile's.
    return _scale(server, chosen, scale_for(asked.mul, rates * profile.scale, rates * 0, link, 1.0))


#: Streams of a profile of a port.
_Chosen = tuple[Port, Profile, list[Stream]]


def _scale(server: Server, chosen: _Chosen, scale: float) -> dict[str, Any]:
    port, profile, streams = chosen
    server.recorder.changes()
    for one in streams:
        server.engine.set_stream_rate(port.info.name, profile.name, one.name, scale)
    return {}


def _chosen_streams(server: Server, asked: OfStreams) -> _Chosen:
    port = server.owned(asked.port_id, asked.handler)
    profile = port.profile(asked.profile_id)
    if not profile.is_active:
        raise FailedError(f"port {port.number}: profile '{asked.profile_id}' is not sending")
    missing = [number for number in asked.stream_ids if number not in profile.streams]
    if missing or not asked.stream_ids:
        raise FailedError(f"port {port.number}: stream_ids: no stream {missing[:1] or ''}")
    return port, profile, [profile.streams[number] for number in asked.stream_ids]
