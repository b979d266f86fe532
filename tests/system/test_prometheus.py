"""A real Prometheus scrapes a live bench: promtool is content, each query of the boards has data."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.system import labs
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine

from linerate.engine.engine_process import Engine
from linerate.engine.telemetry import TelemetryError

BOARDS = Path(__file__).parents[2] / "dashboards"
#: Grafana's values of variables: all of them, and some scrapes.
VARIABLES = {"$__rate_interval": "20s", "$engine": ".*", "$worker": ".*", "$port": ".*"}
#: Only where a stream is timed.
TIMED = "linerate_stream_latency_seconds"
#: Metrics that exist only during a trial.
TRIAL = "linerate_trial_state"

pytestmark = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="Debian's package prometheus is not installed",
)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def get(port: int, path: str, **parameters: object) -> bytes:
    query = urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{query}", timeout=60) as answer:
        return bytes(answer.read())


@contextmanager
def running(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run it as urgent as workers, who leave others no time where there is no CPU but theirs."""
    urgent = ["nice", "-n", "-10"] if os.geteuid() == 0 else []
    with subprocess.Popen([*urgent, *command], text=True, **options) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(120)


@pytest.fixture
def exporter() -> Iterator[int]:
    """The port of a real exporter."""
    command = [sys.executable, "-m", "linerate", "exporter", "--listen", "127.0.0.1:0"]
    with running([*command, "--timeout", "1.8s"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline().split(":")[-1].split("/")[0])


@pytest.fixture
def prometheus(exporter: int, tmp_path: Path) -> Iterator[int]:
    """The port of a Prometheus that scrapes it."""
    port = free_port()
    target = {"targets": [f"127.0.0.1:{exporter}"]}
    job = {
        "job_name": "linerate",
        "scrape_interval": "2s",
        "scrape_timeout": "2s",
        "static_configs": [target],
    }
    config = tmp_path / "prometheus.yml"
    config.write_text(json.dumps({"scrape_configs": [job]}))
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={tmp_path / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with running(command, stderr=subprocess.DEVNULL):
        wait(lambda: get(port, "/-/ready"))
        yield port


def wait(done: Callable[[], object], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if done():
                return
        except (OSError, TelemetryError):
            pass
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.1)


def scrape(exporter: int) -> bytes:
    """Scrape until it is answered: one that comes to its CPU too late is let go."""
    answers: list[bytes] = []

    def answered() -> bool:
        answers.append(get(exporter, "/metrics"))
        return True

    wait(answered)
    return answers[0]


def promtool(document: bytes) -> str:
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=document, capture_output=True, check=False
    )
    return f"{done.returncode} {(done.stdout + done.stderr).decode()}".strip()


def work(engine: Engine, words: tuple[str, ...], exporter: int, prometheus: int) -> bytes:
    """Let it work until Prometheus has seen that; returns the exports in between."""
    wanted = [query for word in words for query in queries(word)]
    assert wanted, words
    began = time.time()
    with engine.connect() as telemetry:
        telemetry.ask("/linerate/trial/start,duration_us=60000000,scale_ppm=1000000")
        wait(lambda: all(has_data(prometheus, query, began) for query in wanted))
        document = scrape(exporter)
        telemetry.ask("/linerate/trial/stop")
        wait(lambda: telemetry.ask("/linerate/trial")["state"] == "done")
    return document


def bench(exporter: int, prometheus: int, folder: Path) -> bytes:
    """Run a real bench until Prometheus has seen its trial; returns what was exported then."""
    words = ("--only", "U2", "--duration", "120s", "--runs", str(folder))
    began = time.time()
    live: list[bytes] = []
    with labs.lab("bench", *words) as process:
        while process.poll() is None:
            document = scrape(exporter)
            if in_trial(document, process.pid):
                live.append(document)
            # Beside workers on all CPUs a scrape may come late, and is then one without it.
            if live and all(has_data(prometheus, one, began) for one in queries(TRIAL)):
                process.send_signal(signal.SIGINT)
                break
            time.sleep(0.3)
        message = process.communicate(timeout=labs.ENDS_IN_SECONDS)
    assert live, f"the trial was not seen: {message}"
    return live[-1]


def in_trial(document: bytes, lab: int) -> bool:
    """Whether a lab's loadtest runs: its first engine measures the tester's ceiling."""
    name = rb'engine="bench-%d-\d+"' % lab
    running = re.search(rb"linerate_trial_state{%s,state=\"running\"} 1.0" % name, document)
    info = re.search(rb"linerate_trial_info{%s,loadtest=\"U2\",run=\"" % name, document)
    return running is not None and info is not None


def queries(word: str = "") -> list[str]:
    """All of the boards that have a word in them."""
    found = []
    for file in sorted(BOARDS.glob("*.json")):
        board = json.loads(file.read_text())
        for panel in board["panels"]:
            found += [target["expr"] for target in panel.get("targets", ())]
        found += [one["expr"] for one in board["annotations"]["list"] if "expr" in one]
    for name, value in VARIABLES.items():
        found = [one.replace(name, value) for one in found]
    return [one for one in dict.fromkeys(found) if word in one]


def test_every_query_of_the_boards_has_data(
    prometheus: int, exporter: int, start_engine: StartEngine, tmp_path: Path
) -> None:
    began = time.time()
    documents = [bench(exporter, prometheus, tmp_path)]
    # No route: every packet is dropped; two workers hand packets over under a lock.
    drops = {
        "mode": "router",
        "workers": 2,
        "threading": "locked",
        "router": {"interfaces": [{"port": "e0", "addresses": ["100.64.1.1/30"]}]},
    }
    table = {"mode": "flowtable", "flowtable": {"flows": 1024, "offload": {}}}
    of_drops = ("_node_drops", "_handoff", "_lock_wait")
    for forwarder, words in ((drops, of_drops), (table, ("_flow_table", "_offload"))):
        streams = [stream(0, rate={"pps": 20_000})]
        engine = start_engine(card_config({}, forwarder, streams))
        documents.append(work(engine, words, exporter, prometheus))
        engine.stop()
    assert [promtool(one) for one in documents] == ["0"] * len(documents)
    timed = any(TIMED.encode() + b"_bucket" in one for one in documents)
    empty = [
        query
        for query in queries()
        if not has_data(prometheus, query, began) and (timed or TIMED not in query)
    ]
    assert empty == []


def has_data(prometheus: int, query: str, began: float) -> bool:
    """Whether the query returned anything since the test began."""
    answer = json.loads(
        get(prometheus, "/api/v1/query_range", query=query, start=began, end=time.time(), step=1)
    )
    assert answer["status"] == "success", answer
    return bool(answer["data"]["result"])
