"""TRex stateless profiles: the engine's packets are those that scapy says they describe."""

import json
from collections import Counter
from pathlib import Path

import pytest
from scapy.compat import raw
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import RawPcapReader
from tests.system.conftest import StartEngine
from tests.system.trex_model import Model, follow, streams

from linerate.traffic import Profile, find
from linerate.traffic.frames import write_frames

PROFILES = Path(__file__).parents[1] / "data" / "trex"
COUNT = 10_000
#: Profiles that leave the checksums of what IPv4 carries as they are, and so make them wrong.
CARELESS = ("imix", "tuples")


def captured(profile: Profile, folder: Path, count: int, signed: bool = False) -> list[list[bytes]]:
    """The first packets of each side."""
    written = write_frames(profile, count, folder / "out.pcap", signed=signed)
    sides = []
    for one in written:
        with RawPcapReader(str(one.path)) as reader:
            sides.append([data for data, _ in reader])
        assert len(sides[-1]) == one.frames
    return sides


def checksums_are_right(frame: bytes) -> bool:
    again: Packet = Ether(frame)
    layer = again
    while layer:
        if isinstance(layer, (IP, UDP, TCP)) and layer.chksum:
            del layer.chksum
        layer = layer.payload
    return bool(raw(again) == frame)


@pytest.mark.parametrize(
    ("name", "sides", "random"),
    [
        ("one_packet", 2, {}),
        ("imix", 2, {}),
        ("udp_walk", 1, {"src": 11, "sport": 900, "dport": 2500}),
        ("tuples", 1, {"r": 2}),
        ("encapsulated", 1, {}),
        ("sizes", 1, {"size": 900}),
        ("measured", 1, {}),
    ],
)
@pytest.mark.smoke("imix-2-random1")
def test_packet_for_packet(tmp_path: Path, name: str, sides: int, random: dict[str, int]) -> None:
    path = PROFILES / f"{name}.py"
    more = {"tunables": ["--step", "3"]} if name == "udp_walk" else {}
    made = captured(find(str(path)), tmp_path, COUNT)
    assert len(made) == sides
    for side, all_frames in enumerate(made):
        assert len(all_frames) == COUNT
        frames = all_frames if side == 0 else all_frames[:1200]
        models = [Model(stream, side) for stream in streams(path, side, **more)]
        follow(models, frames)
        assert all(model.sent >= len(frames) // 12 - 1 for model in models)
        if name not in CARELESS:
            assert all(checksums_are_right(frame) for frame in frames[:: COUNT // 40])
        seen = {key: len(set(v)) for model in models for key, v in model.seen.items()}
        assert all(seen[key] >= least for key, least in random.items())
        if name == "tuples":
            values = models[2].seen["r"]
            assert values[5:] == values[:-5]
        if name == "imix" and side == 0:
            sizes = Counter(len(frame) for frame in frames[:9996])
            assert sizes == {60: 5831, 590: 3332, 1514: 833}


def test_sizes_go_to_9_kilobytes(tmp_path: Path) -> None:
    """Up through all of a range, and anywhere; longer ones than any standard jumbo frame."""
    path, count = PROFILES / "jumbo.py", 600
    (frames,) = captured(find(str(path)), tmp_path, count)
    models = [Model(stream, 0) for stream in streams(path, 0)]
    follow(models, frames)
    assert [model.sent for model in models] == [count // 2] * 2
    assert max(map(len, frames)) == 9230
    assert len(set(models[1].seen["size"])) > 250


def test_bursts_come_as_planned(tmp_path: Path) -> None:
    """A burst, seven bursts, and a chain whose last two streams take turns six times."""
    path = PROFILES / "bursts.py"
    (frames,) = captured(find(str(path)), tmp_path, COUNT)
    follow([Model(stream, 0) for stream in streams(path, 0)], frames)
    marks = "".join(chr(frame[-1]) for frame in frames)
    assert Counter(marks) == {"A": 17, "B": 35, "C": 4, "D": 18, "E": 12}
    assert marks.replace("A", "").replace("B", "") == "CCCC" + "DDDEE" * 6


def test_yaml_is_read(tmp_path: Path) -> None:
    (frames,) = captured(find(str(PROFILES / "listed.yaml")), tmp_path, 3000)
    plain = [frame for frame in frames if frame[34:36] == b"\x04\x01"]
    counting = [int.from_bytes(f[34:36], "little") for f in frames if f[34:36] != b"\x04\x01"]
    assert len(set(plain)) == 1
    assert len(plain) == 2000
    assert counting == [1001 - i % 501 for i in range(1000)]


def test_signatures_change_payload_and_checksums_alone(tmp_path: Path) -> None:
    profile = find(str(PROFILES / "encapsulated.py"))
    assert all(stream["signature"] for stream in profile.streams)
    (bare,) = captured(profile, tmp_path, 600)
    (signed,) = captured(profile, tmp_path, 600, signed=True)
    numbers: Counter[int] = Counter()
    for one, other in zip(bare, signed, strict=True):
        at = (len(other) - 8) & ~1
        number, damage = divmod(int.from_bytes(other[at : at + 8], "big"), 65535)
        assert (damage, number >> 46) == (0, 0b10)
        stream = number >> 30 & 0xFFFF
        assert number & 0x3FFFFFFF == numbers[stream]
        numbers[stream] += 1
        assert checksums_are_right(other)
        differ = [i for i in range(at) if one[i] != other[i]]
        assert len(differ) <= 2


def test_thousands_of_streams_are_counted(start_engine: StartEngine) -> None:
    """Each of 4,096 streams has its own counters, and they add up to the ledger's."""
    from tests.system.configs import card_config
    from tests.system.trials import run_trial

    count = 4096
    frame = "02000000e00" + "0" + "507c6f203070" + "88b5" + "00" * 60
    some = [
        {
            "name": f"s{i}",
            "port": f"t{i % 2}",
            "rx_port": f"t{1 - i % 2}",
            "rate": {"pps": 100 * (1 + i % 4 // 2)},
            "template": frame,
            "signature": True,
        }
        for i in range(count)
    ]
    engine = start_engine(card_config({"link_bps": 10_000_000_000}, None, some))
    outcome = run_trial(engine, 0.5)
    with engine.connect() as telemetry:
        rows = [
            row
            for first in range(0, count, 64)
            for row in telemetry.table(f"/linerate/streams,{first}")
        ]
    assert len(rows) == count
    assert sum(row["sent"] for row in rows) == outcome.of_kind("sent")
    assert all(row["received"] == row["sent"] and not row["lost"] for row in rows)
    assert outcome.of_kind("received") == outcome.of_kind("sent")
    for number, row in enumerate(rows):
        assert abs(row["sent"] - 50 * (1 + number % 4 // 2)) <= 1, (number, json.dumps(row))
