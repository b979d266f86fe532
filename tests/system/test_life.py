"""Start, stop, die: whatever happens, nothing hangs and nothing is left behind."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.labs import wait_for
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine, Files, executable, runtime_folders

IO = {"mode": "io"}


def config_file(folder: Path, config: dict[str, Any]) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def check(path: Path) -> subprocess.CompletedProcess[str]:
    command = [str(executable()), "--check", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def gone(pid: int, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split()[2]
            # The first thread may be gone before the others are.
            if state == "Z" and len(list(Path(f"/proc/{pid}/task").iterdir())) == 1:
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def folder_of(engine: Engine) -> Path:
    return Path(engine.ready["socket"]).parent


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_when_asked(start_engine: StartEngine, number: signal.Signals) -> None:
    engine = start_engine(card_config({}, IO, [stream(0)]))
    folder = folder_of(engine)
    assert stat.S_IMODE(Path(engine.ready["socket"]).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    os.kill(engine.pid, number)
    assert gone(engine.pid)
    assert not folder.exists()
    assert engine.last_words().startswith("exit code 0")


@pytest.mark.smoke
def test_stops_in_the_middle_of_a_trial(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({}, IO, [stream(0), stream(1)]))
    with engine.connect() as telemetry:
        telemetry.ask("/linerate/trial/start,duration_us=60000000,scale_ppm=1000000")
        wait_for(lambda: telemetry.ask("/linerate/trial")["sent_packets"])
        os.kill(engine.pid, signal.SIGTERM)
    assert gone(engine.pid)
    assert not folder_of(engine).exists()


def test_killed_engine_leaves_nothing_once_stopped(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({}, IO, [stream(0)]))
    folder = folder_of(engine)
    os.kill(engine.pid, signal.SIGKILL)
    assert gone(engine.pid)
    engine.stop()
    assert not folder.exists()


STARTER = """
import json, os, sys, time
from pathlib import Path
from linerate.engine.engine_process import Engine, Files
folder = Path(sys.argv[1])
config = json.loads((folder / "config.json").read_text())
with Engine(config, Files(folder / "c.json", folder / "log")) as engine:
    print(json.dumps({"pid": engine.pid, "socket": engine.ready["socket"]}), flush=True)
    time.sleep(600)
"""


def test_never_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    config_file(tmp_path, {"name": f"orphan-{os.getpid()}", **card_config({}, IO, [stream(0)])})
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        output = json.loads(starter.stdout.readline())
        starter.kill()
        starter.wait()
    assert gone(output["pid"])
    assert not Path(output["socket"]).parent.exists()


@pytest.mark.smoke
def test_check_says_each_mistake_in_a_line(tmp_path: Path) -> None:
    config = card_config({"rx_ring": 100}, {"mode": "ioo"}, [stream(0, frame_bytes=10)])
    config["ports"][0]["card"] = "card9"
    config["nonsense"] = 1
    result = check(config_file(tmp_path, config))
    assert result.returncode == 2
    lines = result.stderr.splitlines()
    assert all(line.startswith(f"{tmp_path}/config.json: ") for line in lines)
    for key in ("nonsense:", "cards[0].rx_ring:", "ports[0].card:", "forwarder.mode:"):
        assert any(f" {key} " in line for line in lines), (key, lines)
    assert any("streams[0].frame_bytes: expected" in line for line in lines)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ports": 5}', "{}", '{"tester": {}}', "\x00"])
def test_broken_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    result = check(path)
    assert result.returncode == 2
    assert result.stderr.startswith(str(path))


def test_missing_file_and_usage(tmp_path: Path) -> None:
    assert check(tmp_path / "none.json").returncode == 2
    program = str(executable())
    for arguments, code in ((["--help"], 0), (["--version"], 0), ([], 2), (["--what"], 2)):
        result = subprocess.run(
            [program, *arguments], capture_output=True, timeout=120, check=False
        )
        assert result.returncode == code


def test_missing_device_is_reported_in_a_line(tmp_path: Path) -> None:
    config = {
        "name": "nodevice",
        "ports": [
            {"name": f"p{i}", "driver": "ethdev", "device": f"net_tap{i}", "devargs": "iface=/"}
            for i in range(2)
        ],
        "forwarder": {"mode": "io", "ports": ["p0", "p1"]},
    }
    program = str(executable())
    path = config_file(tmp_path, config)
    result = subprocess.run(
        [program, str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 1
    assert result.stderr.strip()
    assert not any(folder.name == "linerate-nodevice" for folder in runtime_folders())


def on_pci(**memory: object) -> dict[str, Any]:
    """Ports where no machine has a NIC."""
    ports = [
        {"name": f"p{i}", "driver": "ethdev", "device": f"ff:1f.{i}", "link_bps": 10**10}
        for i in range(2)
    ]
    forwarder = {"mode": "io", "ports": ["p0", "p1"]}
    return {"name": "onpci", "memory": memory, "ports": ports, "forwarder": forwarder}


@pytest.mark.parametrize("pages", ["thp", "4k"])
def test_pages_that_a_nic_cannot_reach_are_refused(tmp_path: Path, pages: str) -> None:
    result = check(config_file(tmp_path, on_pci(pages=pages)))
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert "memory.pages: expected hugepages or auto with a PCI port" in line
    assert check(config_file(tmp_path, on_pci(pages="auto"))).returncode == 0


@pytest.mark.parametrize("pages", ["auto", "hugepages"])
def test_a_nic_gets_hugepages_or_the_engine_does_not_start(tmp_path: Path, pages: str) -> None:
    # More than any host has free.
    path = config_file(tmp_path, on_pci(pages=pages, megabytes=1 << 20))
    result = subprocess.run(
        [str(executable()), str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("memory.pages: a PCI port needs hugepages, 1048640 MB needed and ")
    assert line.endswith("try 'sudo linerate doctor --fix'")


@pytest.mark.parametrize(
    ("cpus", "words"), [([0], "1 CPU: tester and forwarder take turns"), ([0, 1], "2 CPUs")]
)
def test_says_which_layout_it_took(start_engine: StartEngine, cpus: list[int], words: str) -> None:
    config = card_config({"link_bps": 1_000_000_000}, IO, [stream(0)])
    engine = start_engine({**config, "cpus": [cpu % (os.cpu_count() or 1) for cpu in cpus]})
    assert engine.ready["layout"].startswith(words)
    outcome = run_trial(engine, 0.1)
    assert outcome.unexplained == 0
    assert outcome.of_kind("received") > 0


def test_memory_is_never_silently_small(start_engine: StartEngine) -> None:
    engine = start_engine({**card_config({}, IO, [stream(0)]), "memory": {"pages": "thp"}})
    with engine.connect() as telemetry:
        kind = telemetry.ask("/linerate/info")["memory"]
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="utf-8")
    assert kind == "4k" if "[never]" in huge else kind in ("thp", "4k")
    if kind == "4k":
        assert "huge pages" in engine.last_words()


@pytest.mark.parametrize(
    "command",
    [
        "/linerate/trial/start",
        "/linerate/trial/start,duration_us=0,scale_ppm=1",
        "/linerate/trial/start,duration_us=1,scale_ppm=0",
        "/linerate/trial/start,duration_us=99999999999999999999,scale_ppm=1;rm",
        "/linerate/runtime,nobody",
        "/linerate/port,%s%s%n",
        "/linerate/card," + "x" * 900,
        "/linerate/streams,-1",
        "/linerate/nothing",
    ],
)
def test_odd_commands_harm_nothing(start_engine: StartEngine, command: str) -> None:
    engine = start_engine(card_config({"link_bps": 1_000_000_000}, IO, [stream(0)]))
    with engine.connect() as telemetry:
        telemetry._socket.send(command.encode())
        telemetry._socket.recv(16384)
    assert run_trial(engine, 0.05).unexplained == 0


def test_two_trials_at_once_are_refused(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({"link_bps": 1_000_000_000}, IO, [stream(0)]))
    start = "/linerate/trial/start,duration_us=60000000,scale_ppm=1000000"
    with engine.connect() as telemetry:
        telemetry.ask(start)
        telemetry._socket.send(start.encode())
        assert b"busy" in telemetry._socket.recv(16384)
        telemetry.ask("/linerate/trial/stop")


def test_configuration_is_kept(tmp_path: Path) -> None:
    """The configuration on disk is the one that Engine ran, word for word."""
    config = {"name": "kept", **card_config({}, IO, [stream(0)])}
    files = Files(tmp_path / "kept.json", tmp_path / "kept.log")
    with Engine(config, files):
        pass
    assert json.loads(files.config.read_text(encoding="utf-8")) == config
