"""Settings of ports on DPDK devices, and frames as long as they take."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.system.configs import DUT_MACS, TESTER_MACS, stream
from tests.system.conftest import StartEngine
from tests.system.trials import run_trial

from linerate.engine.engine_process import executable

#: As long as frames of 9,200 bytes of payload are.
LONGEST = 9218


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A folder whose path is short enough for a socket's."""
    folder = Path(tempfile.mkdtemp(prefix="linerate-mtu-"))
    yield folder
    shutil.rmtree(folder)


def port(name: str, number: int, role: str, sockets: Path, mac: str) -> dict[str, Any]:
    here = int(name[1])
    socket = f"socket={sockets}/{here}.sock,socket-abstract=no,bsize=12288,rsize=8"
    return {
        "name": name,
        "driver": "ethdev",
        "device": f"net_memif{number}",
        "devargs": f"role={role},id={here},{socket}",
        "link_bps": 10**9,
        "max_frame_bytes": LONGEST,
        "mac": mac,
    }


def config(sockets: Path, frame_bytes: int) -> dict[str, Any]:
    return {
        "memory": {"megabytes": 512},
        "ports": [
            *(port(f"e{i}", i, "server", sockets, DUT_MACS[i]) for i in range(2)),
            *(port(f"t{i}", 2 + i, "client", sockets, TESTER_MACS[i]) for i in range(2)),
        ],
        "forwarder": {"mode": "io", "ports": ["e0", "e1"]},
        "tester": {
            "ports": ["t0", "t1"],
            "streams": [stream(0, frame_bytes=frame_bytes, rate={"percent": 2}, signature=True)],
        },
    }


@pytest.mark.parametrize("frame_bytes", [9000, LONGEST])
def test_long_frames_pass(start_engine: StartEngine, sockets: Path, frame_bytes: int) -> None:
    engine = start_engine(config(sockets, frame_bytes))
    outcome = run_trial(engine, 0.3)
    assert outcome.of_kind("received") > 0, outcome.grown
    assert outcome.unexplained == 0
    with engine.connect() as telemetry:
        came = telemetry.ask("/linerate/port,e0")
        settings = {
            row["name"]: (row["asked"], row["actual"])
            for row in telemetry.table("/linerate/port/settings,e0")
        }
    assert came["rx_bytes"] == came["rx_packets"] * frame_bytes
    assert settings["max_frame_bytes"][0] == str(LONGEST)
    assert settings["lro"] == ("off", "off")
    assert settings["flow_control"] == ("off", "none")


def refusal(folder: Path, **changes: Any) -> str:
    """The engine's error about a port, without being started by a lab."""
    written = folder / "engine.json"
    mode = {"mode": "rxonly", "ports": ["e0"]}
    made = {"name": "e0", "driver": "ethdev", "device": "net_null0"} | changes
    written.write_text(json.dumps({"ports": [made], "forwarder": mode}))
    command = [str(executable()), "--check", str(written)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    return done.stderr.strip()


def test_an_unknown_flow_control_is_refused_in_one_line(tmp_path: Path) -> None:
    message = refusal(tmp_path, flow_control="maybe")
    assert len(message.splitlines()) == 1
    assert message.endswith("expected one of: off, rx, tx, full")
