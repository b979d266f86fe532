"""The frames of a profile as the engine makes them, in a capture file for each side."""

import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linerate.base import ownership
from linerate.base.line_rate import FRAME_BYTES_MAX
from linerate.engine.engine_process import Engine, Files
from linerate.model.suites import DUT_MACS
from linerate.model.suites.loadtest import Way
from linerate.traffic.offered import addressed
from linerate.traffic.profile import Profile, Stream, TrafficError, engine_keys
from linerate.traffic.rate import own_pps
from linerate.traffic.sizes import mean_bytes_of

#: Link rate for rates in percent: a capture has none.
LINK_BPS = 10_000_000_000
#: Duration in the engine, whatever the profile's rates are.
SECONDS = 0.3
FRAMES_PER_S = 200_000
MARGIN = 1.2
SCALE_MAX = 1000.0
GIVE_UP_SECONDS = 60.0
_PCAP_HEADER, _RECORD_HEADER = 24, 16


@dataclass(frozen=True, slots=True)
class Written:
    """A capture."""

    path: Path
    side: int
    frames: int


def write_frames(profile: Profile, count: int, path: Path, signed: bool) -> list[Written]:
    """The first `count` frames of each side; raises TrafficError and EngineError."""
    if profile.connections is not None or not profile.streams:
        raise TrafficError(f"traffic '{profile.name}': no streams; expected a profile with some")
    sides = sorted({int(stream.get("port", 0)) for stream in profile.streams})
    with ownership.temporary_folder("frames") as name:
        folder = Path(name)
        _make(profile, count, signed, folder, sides)
        written = []
        for side in sides:
            to = path if len(sides) == 1 else path.with_name(f"{path.stem}-{side}{path.suffix}")
            frames = _keep(folder / f"{side}.pcap", to, count)
            written.append(Written(to, side, frames))
        return written


def _make(profile: Profile, count: int, signed: bool, folder: Path, sides: list[int]) -> None:
    streams = list(_streams(profile, signed))
    seconds = MARGIN * max(
        _seconds([one for one in streams if one["port"] == f"t{side}"], count) for side in sides
    )
    take = max(SECONDS, len(sides) * count / FRAMES_PER_S)
    scale = min(seconds / take, SCALE_MAX)
    config = {
        "name": f"frames-{folder.name.rpartition('-')[2]}",
        "memory": {"megabytes": 384},
        "ports": [
            {
                "name": f"t{side}",
                "driver": "ethdev",
                "device": f"net_pcap{side}",
                "devargs": f"tx_pcap={folder}/{side}.pcap",
                "max_frame_bytes": FRAME_BYTES_MAX,
            }
            for side in sides
        ],
        "tester": {"ports": [f"t{side}" for side in sides], "streams": streams},
    }
    with Engine(config, Files(folder / "engine.json", folder / "engine.log")) as engine:
        _run(engine, seconds / scale, scale)


def _streams(profile: Profile, signed: bool) -> Iterator[dict[str, Any]]:
    for number, stream in enumerate(profile.streams):
        side = int(stream.get("port", 0))
        way = Way(profile.name, side, DUT_MACS[side], {})
        made = {
            **engine_keys(stream),
            **addressed(stream, way),
            "port": f"t{side}",
            "name": f"{number}",
        }
        if not signed:
            made["signature"] = False
            made.pop("latency", None)
            made.pop("count_by", None)
        rate = own_pps(stream, mean_bytes_of(stream), LINK_BPS)
        pps = 1000.0 * float(stream.get("weight", 1)) if rate is None else float(rate)
        made.pop("weight", None)
        yield made | {"rate": {"pps": pps}}


def _seconds(streams: list[dict[str, Any]], count: int) -> float:
    """Time until `count` frames have left by the endless streams; else until all end."""
    steady = sum(one["rate"]["pps"] for one in streams if "bursts" not in one)
    needed = count / steady if steady else 0.0
    times = sorted(at for one in streams for at in one.get("at", ()))
    if times:
        # The last of them, and a mean gap.
        rounds, last = divmod(count - 1, len(times))
        needed = ((rounds + times[last]) * len(times) + 1) / steady
    late = max((one.get("start_us", 0.0) / 1e6 for one in streams), default=0.0)
    return max([needed + late, *(_burst_seconds(one, count) for one in streams if "bursts" in one)])


def _burst_seconds(stream: Stream, count: int) -> float:
    bursts = stream["bursts"]
    frames, gap_s = int(bursts["frames"]), float(bursts["gap_us"]) / 1e6
    rounds = -(-count // frames)
    if bursts["count"]:
        rounds = min(rounds, int(bursts["count"]))
    lap = (frames - 1) / float(stream["rate"]["pps"]) + gap_s
    return float(stream.get("start_us", 0.0)) / 1e6 + rounds * lap


def _run(engine: Engine, seconds: float, scale: float) -> None:
    give_up = time.monotonic() + GIVE_UP_SECONDS + seconds * 10
    with engine.connect() as telemetry:
        reported = f"duration_us={max(1, int(seconds * 1e6))},scale_ppm={max(1, int(scale * 1e6))}"
        telemetry.ask(f"/linerate/trial/start,{reported}")
        while telemetry.ask("/linerate/trial")["state"] != "done":
            if time.monotonic() > give_up:
                raise TrafficError("frames: the engine does not come to an end; expected fewer")
            time.sleep(0.02)
    engine.stop()


def _keep(made: Path, to: Path, count: int) -> int:
    """The first `count` records of a capture; returns how many there were."""
    frames = 0
    try:
        with made.open("rb") as source, to.open("wb") as kept:
            kept.write(source.read(_PCAP_HEADER))
            while frames < count and len(header := source.read(_RECORD_HEADER)) == _RECORD_HEADER:
                (length,) = struct.unpack_from("=I", header, 8)
                kept.write(header)
                kept.write(source.read(length))
                frames += 1
    except OSError as error:
        raise TrafficError(f"{to}: {(error.strerror or str(error)).lower()}") from error
    return frames
