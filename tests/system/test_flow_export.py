"""Flow export: IPFIX to nfcapd, the totals read by nfdump; JSON lines."""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.system import labs
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import run_trial

from linerate.engine.engine_process import refusal

FLOWS = 300
FRAME_BYTES = 90
#: Ethernet header and FCS are no part of the IP packet.
IP_BYTES = FRAME_BYTES - 18


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def ip4(source: int) -> dict[str, Any]:
    vary = {"field": "ipv4.src", "op": "increment", "min": "16.0.0.1", "max": "16.0.1.44"}
    return stream(source, rate={"pps": 20_000}, frame_bytes=FRAME_BYTES, modifiers=[vary])


def ip6(source: int) -> dict[str, Any]:
    made = stream(source, rate={"pps": 10_000}, frame_bytes=FRAME_BYTES)
    made["layers"][1] = {"ipv6": {"src": "2001:db8::1", "dst": "2001:db8::2"}}
    made["layers"][2] = {"tcp": {"src": 50560, "dst": 102}}
    return made


def config(export: dict[str, Any]) -> dict[str, Any]:
    flowtable = {"flows": 4096, "idle_ms": 60_000, "export": export}
    forwarder = {"mode": "flowtable", "flowtable": flowtable}
    return card_config({}, forwarder, [ip4(0), ip6(1)])


@contextmanager
def collector(folder: Path, port: int) -> Iterator[None]:
    """Run nfcapd until the block ends; its file is whole then."""
    if shutil.which("nfcapd") is None:
        pytest.skip("nfcapd (Debian package nfdump) is not installed")
    folder.mkdir()
    command = ["nfcapd", "-b", "127.0.0.1", "-p", str(port), "-w", str(folder), "-t", "3600"]
    with (folder.parent / "nfcapd.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        labs.wait_for(lambda: "Startup" in (folder.parent / "nfcapd.log").read_text())
        yield
        # Messages wait in the socket until they are read; the file is written at the end.
        labs.wait_for(lambda: unread_bytes(port) == 0)
    finally:
        process.terminate()
        process.wait(timeout=120)


def unread_bytes(port: int) -> int:
    """Bytes that wait at this host's UDP sockets of that port."""
    rows = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    queues = [row[4] for row in rows if row[1].endswith(f":{port:04X}")]
    assert queues
    return sum(int(queue.partition(":")[2], 16) for queue in queues)


def nfdump(folder: Path, *options: str) -> str:
    (written,) = folder.glob("nfcapd.2*")
    command = ["nfdump", "-r", str(written), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def nfdump_totals(folder: Path) -> dict[str, int]:
    pairs = (line.split(": ") for line in nfdump(folder, "-I").splitlines() if ": " in line)
    return {key: int(value) for key, value in pairs if value.isdigit()}


def test_nfdump_agrees_with_the_tester(start_engine: StartEngine, tmp_path: Path) -> None:
    """Told of while they live, several times, and when the engine stops."""
    port = free_port()
    folder = tmp_path / "flows"
    export = {"interval_ms": 200, "ipfix": {"collector": "127.0.0.1", "port": port}}
    with collector(folder, port):
        engine = start_engine(config(export))
        outcome = run_trial(engine, 1.0)
        assert outcome.unexplained == 0
        engine.stop()
    # The forwarder has recorded all packets that it received, whether it could send them or not.
    recorded = outcome.of_kind("received") + sum(
        count for place, count in outcome.losses().items() if place.startswith("port-tx")
    )
    totals = nfdump_totals(folder)
    assert totals["Packets"] == recorded
    assert totals["Bytes"] == recorded * IP_BYTES
    assert totals["Sequence failures"] == 0
    assert totals["Flows"] >= FLOWS + 1
    ends = nfdump(folder, "-q", "-N", "-A", "proto", "-o", "fmt:%pr %pkt")
    assert {line.split()[0] for line in ends.splitlines()} == {"17", "6"}
    six = nfdump(folder, "-q", "-6", "-A", "srcip,dstip,srcport,dstport,proto", "inet6")
    assert "2001:db8::1" in six
    assert "50560" in six


@pytest.mark.smoke
def test_json_lines_add_up(start_engine: StartEngine, tmp_path: Path) -> None:
    path = tmp_path / "flows.json"
    engine = start_engine(config({"interval_ms": 200, "json": str(path)}))
    outcome = run_trial(engine, 1.0)
    engine.stop()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    recorded = outcome.of_kind("received") + sum(
        count for place, count in outcome.losses().items() if place.startswith("port-tx")
    )
    ends = [line[end] for line in lines for end in ("low", "high")]
    assert sum(end["packets"] for end in ends) == recorded
    assert sum(end["bytes"] for end in ends) == recorded * IP_BYTES
    assert len({line["flow"] for line in lines}) == FLOWS + 1
    assert {line["reason"] for line in lines} <= {"active", "forced"}
    assert len([line for line in lines if line["reason"] == "forced"]) == FLOWS + 1


def test_no_collector_is_one_line(start_engine: StartEngine, tmp_path: Path) -> None:
    export = {"interval_ms": 200, "ipfix": {"collector": "127.0.0.1", "port": free_port()}}
    engine = start_engine(config(export))
    outcome = run_trial(engine, 1.5)
    assert outcome.unexplained == 0
    with engine.connect() as telemetry:
        labs.wait_for(lambda: telemetry.ask("/linerate/export")["ipfix_errors"])
    (log,) = tmp_path.glob("engine-*.log")
    lines = log.read_text().splitlines()
    assert len([line for line in lines if "is the collector running?" in line]) == 1


@pytest.mark.smoke
def test_export_needs_a_place() -> None:
    assert "flowtable.export: expected" in refusal(config({"interval_ms": 200}))
