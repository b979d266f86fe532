"""Power of a device in real trials: a meter that works, one that fails, one that hangs.

The plug is made: it shows 90 W while the run's live.jsonl says that packets are sent, else 40 W.
"""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.command import result_of
from tests.unit.power_devices import Answer, answer, web

from linerate.model.power import PowerFigures
from linerate.results import journal
from linerate.results.store import Result, load_measurement, load_run

IDLE, LOADED = 40.0, 90.0


def linerate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linerate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)


class Plug:
    """Power of the device whose runs are below a folder."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs

    def __call__(self, path: str, _headers: dict[str, str]) -> Answer:
        if path == "/shelly":
            return answer({"gen": 3})
        return answer({"switch:0": {"id": 0, "apower": LOADED if self._is_sending() else IDLE}})

    def _is_sending(self) -> bool:
        sending = False
        for file in self._runs.glob("*/live.jsonl"):
            for line in journal.read(file):
                if line.get("event") in ("sending", "draining", "closed", "trial"):
                    sending = line["event"] == "sending"
        return sending


def bench(runs: Path, power: dict[str, Any], *words: str) -> tuple[Path, list[Result]]:
    file = runs / "testbed.yaml"
    file.write_text(yaml.safe_dump({"dut": {"power": power | {"idle_seconds": 1}}}))
    done = linerate("bench", str(file), "--only", "U2", "--json", "--runs", str(runs), *words)
    assert "Traceback" not in done.stderr
    folder = Path(result_of(done.stdout)["run"])
    run = load_run(folder)
    assert run.results, done.stderr
    return folder, list(run.results)


def power_of(result: Result) -> PowerFigures:
    assert result.power is not None
    return result.power


@pytest.mark.smoke
def test_idle_and_load(tmp_path: Path):
    with web(Plug(tmp_path)) as url:
        plug = {"source": "shelly", "url": url, "interval_seconds": 0.1, "accuracy_percent": 1}
        folder, results = bench(tmp_path, plug, "--duration", "2s")
    found = power_of(results[-1])
    assert found.missing == ""
    assert found.watts is not None
    assert found.idle_watts is not None
    assert found.over_idle_watts is not None
    assert IDLE < found.watts.value <= LOADED
    assert found.watts.value + found.watts.plus_minus > 70
    assert abs(found.idle_watts.value - IDLE) <= found.idle_watts.plus_minus + 5
    assert found.over_idle_watts.value > 20
    measured = load_measurement(folder, results[-1].trial)
    assert measured.power is not None
    assert measured.power.samples[0].at_us < 0
    shown = linerate("report", str(folder), "--format", "markdown").stdout
    assert "nJ/packet" in shown
    assert "power: shelly" in shown


def test_meter_that_is_not_there(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    _, results = bench(
        tmp_path, {"source": "shelly", "url": f"http://127.0.0.1:{port}"}, "--duration", "2500ms"
    )
    found = power_of(results[-1])
    assert found.watts is None
    assert "refused" in found.missing
    assert results[-1].packets.sent > 0


def test_meter_that_hangs(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        plug = {"source": "shelly", "url": url, "timeout_seconds": 60}
        _, results = bench(tmp_path, plug, "--duration", "2500ms")
    found = power_of(results[-1])
    assert found.watts is None
    assert "no answer" in found.missing


def test_counters_that_are_not_there(tmp_path: Path):
    _, results = bench(
        tmp_path, {"source": "rapl", "root": str(tmp_path / "none")}, "--duration", "2500ms"
    )
    assert "no zones" in power_of(results[-1]).missing
