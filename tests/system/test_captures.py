"""Captures as they are: gaps and directions, despite disturbances by the host.

Frames are counted between marks that are due at known times on the same clock, so no time of the
host's is looked at.
"""

import itertools
from pathlib import Path

import pytest
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import RawPcapReader, wrpcap
from tests.system.configs import card_config
from tests.system.conftest import StartEngine
from tests.system.trials import run_trial

from linerate.model.suites import DUT_MACS, streams
from linerate.model.testbed import Testbed
from linerate.traffic import offered_by

MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
#: 41 frames in 41 ms: the number that begin in a millisecond, at 5 µs intervals, and their side.
BURSTS = {0: (12, 0), 3: (1, 0), 7: (20, 1), 25: (7, 0), 40: (1, 0)}
ROUND_MS = 41


def known(folder: Path) -> Path:
    """A profile of a capture with bursts and silence, both directions of a link."""
    frames: list[Packet] = []
    for millisecond, (count, side) in BURSTS.items():
        for number in range(count):
            frame = Ether(src=MACS[side], dst=MACS[1 - side], type=0x88B5)
            frame /= Raw(bytes((millisecond, number)) + bytes(50))
            frame.time = 1000 + millisecond / 1000 + number * 5e-6
            frames.append(frame)
    wrpcap(str(folder / "known.pcap"), frames)
    profile = folder / "known.yaml"
    profile.write_text("pcap: {file: known.pcap, sides: first}\n")
    return profile


def expected(side: int, rounds: int) -> list[int]:
    """Number of frames in each millisecond."""
    one = [BURSTS[at][0] if at in BURSTS and BURSTS[at][1] == side else 0 for at in range(ROUND_MS)]
    return one * rounds


def test_bursts_and_silence_are_kept(start_engine: StartEngine, tmp_path: Path) -> None:
    """Each port's frames, between marks half a millisecond after the whole ones."""
    made = streams(offered_by(str(known(tmp_path)), Testbed(), "1x"), DUT_MACS, {"percent": 100})
    mark = {
        "template": "ff" * 60,
        "rate": {"pps": 1000},
        "bursts": {"frames": 1, "count": 0, "gap_us": 1000},
        "start_us": 500,
    }
    ports = [
        {
            "name": f"t{side}",
            "driver": "ethdev",
            "device": f"net_pcap{side}",
            "devargs": f"tx_pcap={tmp_path}/{side}.pcap",
        }
        for side in (0, 1)
    ]
    config = {
        "memory": {"megabytes": 192},
        "ports": ports,
        "tester": {
            "ports": ["t0", "t1"],
            "streams": made + [mark | {"port": f"t{side}"} for side in (0, 1)],
        },
    }
    engine = start_engine(config)
    outcome = run_trial(engine, 2 * ROUND_MS / 1000)
    engine.stop()
    assert outcome.of_kind("sent") == 2 * (ROUND_MS + 41 + ROUND_MS)
    for side in (0, 1):
        with RawPcapReader(str(tmp_path / f"{side}.pcap")) as reader:
            sent = [data for data, _ in reader]
        runs = [
            (is_mark, list(run)) for is_mark, run in itertools.groupby(sent, lambda f: f[0] == 255)
        ]
        counts = [0]
        for is_mark, run in runs:
            if is_mark:
                counts += [0] * len(run)
            else:
                counts[-1] += len(run)
                assert [frame[15] for frame in run] == list(range(len(run)))
        assert counts == [*expected(side, 2), 0]


@pytest.mark.smoke
def test_both_directions_come_through(start_engine: StartEngine, tmp_path: Path) -> None:
    """Seven rounds in 300 ms, and what comes in the first 13 ms of the eighth."""
    made = streams(offered_by(str(known(tmp_path)), Testbed(), "1x"), DUT_MACS, {"percent": 100})
    engine = start_engine(card_config({}, {"mode": "io"}, made))
    outcome = run_trial(engine, 0.3)
    for side in (0, 1):
        wanted = sum(expected(side, 8)[:300])
        assert outcome.grown[f"tester t{side}: unsigned", "sent"] == wanted
    assert outcome.of_kind("other") == outcome.of_kind("sent") == outcome.status["asked_packets"]
    assert outcome.losses() == {}
    # At twice the rate they take half the time.
    assert run_trial(engine, 0.15, 2_000_000).of_kind("sent") == outcome.of_kind("sent")
