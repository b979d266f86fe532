"""Streams: add, remove, list, validate."""

from typing import Annotated, Any

from pydantic import Field

from linerate.trex_server.errors import FailedError
from linerate.trex_server.methods.parameters import (
    Name,
    OfPort,
    OfProfile,
    Owned,
    StreamNumber,
)
from linerate.trex_server.port import ALL, DEFAULT, Port
from linerate.trex_server.profiles import Profile, State, Stream, check
from linerate.trex_server.rates import Rates
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server
from linerate.trex_server.translation import parsed


class _Added(OfProfile):
    stream_id: StreamNumber
    stream: Annotated[dict[str, Any], Field(max_length=64)]


class _One(OfPort):
    profile_id: Name = DEFAULT
    stream_id: StreamNumber


class _Removed(OfProfile):
    stream_id: StreamNumber


class _Listed(OfPort):
    profile_id: Name = DEFAULT


@method("add_stream", _Added)
def add_stream(server: Server, asked: _Added) -> dict[str, Any]:
    """Add a stream to a profile."""
    port = server.owned(asked.port_id, asked.handler)
    stream = Stream(asked.stream, parsed(asked.stream), f"p{port.number}-s{asked.stream_id}")
    if any(number == asked.stream_id for _, number, _ in port.streams()):
        raise FailedError(f"port {port.number}: stream {asked.stream_id} is there already")
    check(stream, port.info)
    port.add_stream(asked.profile_id, asked.stream_id, stream)
    return {}


@method("remove_stream", _Removed)
def remove_stream(server: Server, asked: _Removed) -> dict[str, Any]:
    """Remove one."""
    port = server.owned(asked.port_id, asked.handler)
    profile = port.profile(asked.profile_id)
    if asked.stream_id not in profile.streams:
        raise FailedError(f"port {port.number}: no stream {asked.stream_id}")
    _check_still(port, asked.profile_id, profile)
    stream = profile.streams.pop(asked.stream_id)
    server.latency_periods.forget([stream.name])
    server.unload(port, profile)
    if not profile.streams:
        del port.profiles[asked.profile_id]
    return {}


@method("remove_all_streams", OfProfile)
def remove_all_streams(server: Server, asked: OfProfile) -> dict[str, Any]:
    """Remove those of a profile, or of all; a profile without streams is no mistake."""
    port = server.owned(asked.port_id, asked.handler)
    known = asked.profile_id == ALL or asked.profile_id in port.profiles
    chosen = port.chosen(asked.profile_id) if known else {}
    for name, profile in chosen.items():
        _check_still(port, name, profile)
    for name, profile in chosen.items():
        server.unload(port, profile)
        server.latency_periods.forget([one.name for one in profile.streams.values()])
        del port.profiles[name]
    return {}


def _check_still(port: Port, name: str, profile: Profile) -> None:
    if profile.is_active:
        raise FailedError(f"port {port.number}: profile '{name}' is sending: stop it first")


@method("get_all_streams", _Listed)
def get_all_streams(server: Server, asked: _Listed) -> dict[str, Any]:
    """Streams as they were added, by profile."""
    port = server.port(asked.port_id)
    known = asked.profile_id == ALL or asked.profile_id in port.profiles
    chosen = port.chosen(asked.profile_id) if known else {}
    by_profile = {
        name: {str(number): one.given for number, one in profile.streams.items()}
        for name, profile in chosen.items()
    }
    return {"profiles": by_profile, "streams": by_profile.get(DEFAULT, {})}


@method("get_stream_list", _Listed)
def get_stream_list(server: Server, asked: _Listed) -> list[int]:
    """Numbers of the streams."""
    port = server.port(asked.port_id)
    known = asked.profile_id == ALL or asked.profile_id in port.profiles
    chosen = port.chosen(asked.profile_id) if known else {}
    return [number for profile in chosen.values() for number in profile.streams]


@method("get_stream", _One)
def get_stream(server: Server, asked: _One) -> dict[str, Any]:
    """One as it was added."""
    profile = server.port(asked.port_id).profile(asked.profile_id)
    if asked.stream_id not in profile.streams:
        raise FailedError(f"port {asked.port_id}: no stream {asked.stream_id}")
    return {"stream": profile.streams[asked.stream_id].given}


@method("get_profile_list", OfPort)
def get_profile_list(server: Server, asked: OfPort) -> list[str]:
    """Names of the profiles."""
    return list(server.port(asked.port_id).profiles)


class _Validated(Owned):
    profile_id: Name = DEFAULT


@method("validate", _Validated)
def validate(server: Server, asked: _Validated) -> dict[str, Any]:
    """Rates of a profile at full scale."""
    port = server.owned(asked.port_id, asked.handler)
    profile = port.profile(asked.profile_id)
    if profile.state is State.IDLE:
        raise FailedError(f"port {port.number}: no streams")
    profile.compiled(port.info)
    link = port.info.link_bps
    scaled, fixed = profile.rates(link)
    whole = scaled + fixed
    return {"rate": _rate(whole, link), "graph": _graph(whole)}


def _rate(rates: Rates, link_bps: int) -> dict[str, float]:
    return {
        "max_pps": rates.pps,
        "max_bps_l1": rates.l1_bps,
        "max_bps_l2": rates.l2_bps,
        "max_line_util": rates.as_unit("percentage", link_bps),
    }


def _graph(rates: Rates) -> dict[str, Any]:
    """The rate over time of streams that all start at once and don't end."""
    step = {"time_usec": 0.0, "diff_pps": rates.pps, "diff_bps_l2": rates.l2_bps}
    return {"expected_duration": 0, "events_count": 1, "events": [step]}
