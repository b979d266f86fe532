"""The exporter on the fake engine: metrics, who may read them, and what clients may do."""

import contextlib
import errno
import json
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from prometheus_client.parser import text_string_to_metric_families

from linerate.engine.engine_process import Engine, Files
from linerate.engine.snapshot import Histogram, look
from linerate.model.measurement import WorkerReading
from linerate.ui.exporter import collector
from linerate.ui.exporter.app import make_app
from linerate.ui.exporter.collector import Exporter
from linerate.ui.exporter.families.latency import buckets_of
from linerate.ui.exporter.families.workers import kind_in
from linerate.ui.exporter.vpp import read_segment
from linerate.ui.web.server import Server

#: Connections that a server takes at a time in a test.
CLIENTS = 64
TOKEN = "a-token"
RUN = {
    "suite": "standard",
    "results": [
        {
            "trial": "U1",
            "valid": True,
            "received_pps": 2.5e6,
            "loss_percent": 12.5,
            "verdict": {"limit": "worker-cpu"},
            "power": {
                "watts": {"value": 57.25, "plus_minus": 0.3},
                "idle_watts": {"value": "41"},
                "nj_per_packet": {"value": 22900.0, "plus_minus": 120.0},
            },
        }
    ],
}


@pytest.fixture
def engine(fake_environment, tmp_path):
    """A fake engine that belongs to a run."""
    folder = tmp_path / "20261121-router" / "engine"
    folder.mkdir(parents=True)
    (folder.parent / "run.json").write_text(json.dumps(RUN))
    files = Files(folder / "U2.config.json", folder / "U2.log")
    with Engine({"name": "fake", "tester": {"streams": []}}, files) as started:
        yield started


def values(document):
    """Each sample's value by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(document.decode())
        for sample in family.samples
    }


def value(document, name, **labels):
    found = [
        v for (n, ls), v in values(document).items() if n == name and labels.items() <= set(ls)
    ]
    assert len(found) == 1, f"{name} {labels}: {found}"
    return found[0]


def test_metrics_are_the_engines_counters(engine):
    document, kind = Exporter().text()
    assert kind.startswith("text/plain")
    with engine.connect() as telemetry:
        telemetry.ask("/linerate/trial/start,duration_us=1000,scale_ppm=1000000")
    assert value(document, "linerate_engine_up", engine="fake") == 1
    assert value(document, "linerate_engine_tsc_frequency_hertz") == 1e9
    drops = {"worker": "forwarder-0", "node": "ip4-lookup", "reason": "no route"}
    assert value(document, "linerate_node_drops_total", **drops) == 3
    assert value(document, "linerate_port_receive_drops_total", port="e0", reason="pcie") == 7
    assert value(document, "linerate_port_speed_bytes", port="e0") == 10**10 / 8
    assert value(document, "linerate_node_polling", node="ip4-lookup") == 0
    assert value(document, "linerate_node_calls_total", node="ip4-lookup", kind="forward") == 0
    assert value(document, "linerate_trial_state", state="idle") == 1


def test_an_engine_of_a_run_is_named_after_it(engine):
    document, _ = Exporter().text()
    run = {"run": "20261121-router", "loadtest": "U2", "suite": "standard"}
    assert value(document, "linerate_trial_info", verdict="worker-cpu", **run) == 1
    assert value(document, "linerate_result_loss_ratio", trial="U1", valid="true") == 0.125
    assert value(document, "linerate_result_power_watts", trial="U1", valid="true") == 57.25
    energy = value(document, "linerate_result_packet_energy_joules", trial="U1", valid="true")
    assert energy == pytest.approx(22.9e-6)
    # A figure that is none is left out.
    assert b"linerate_result_idle_power_watts{" not in document


@pytest.mark.parametrize("text", ["", "[]", '{"results": 3}', '{"results": [{"trial": 1}]}'])
def test_a_broken_run_takes_no_metric_away(engine, tmp_path, text):
    (tmp_path / "20261121-router" / "run.json").write_text(text)
    document, _ = Exporter().text()
    assert value(document, "linerate_engine_up", engine="fake") == 1


@contextmanager
def deaf_engine(runtime):
    """One that takes connections and never says a word."""
    folder = runtime / "linerate-deaf"
    folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(folder / "dpdk_telemetry.v2"))
        listener.listen()
        yield


def test_an_engine_that_hangs_hangs_no_scrape(engine, fake_environment):
    with deaf_engine(fake_environment):
        document, _ = Exporter(limit_seconds=0.3).text()
    assert value(document, "linerate_engine_up", engine="deaf") == 0
    assert value(document, "linerate_engine_up", engine="fake") == 1
    assert 0.3 <= value(document, "linerate_exporter_scrape_seconds") < 5


def test_a_dead_engine_is_none(fake_environment):
    with deaf_engine(fake_environment):
        pass
    document, _ = Exporter().text()
    assert b"linerate_engine_up{" not in document


def test_what_may_not_be_looked_into_is_reported_once(engine, monkeypatch, fake_environment):
    opened = os.open

    def refusing(path, flags, **more):
        if str(path) == "linerate-fake":
            raise PermissionError(errno.EACCES, "permission denied", path)
        return opened(path, flags, **more)

    monkeypatch.setattr(os, "open", refusing)
    output: list[str] = []
    exporter = Exporter(say=output.append)
    monkeypatch.setattr(collector, "FRESH_SECONDS", 0.0)
    for _ in range(2):
        document, _ = exporter.text()
    assert value(document, "linerate_exporter_folders_refused") == 1
    assert len(output) == 1
    assert "linerate-fake: permission denied" in output[0]


def test_who_asks_again_at_once_costs_the_engine_nothing(engine, monkeypatch):
    asked = []

    def counted_look(**options):
        asked.append(options)
        return look(**options)

    monkeypatch.setattr(collector, "look", counted_look)
    monkeypatch.setattr(collector, "FRESH_SECONDS", 60.0)
    exporter = Exporter()
    assert len({exporter.text()[0] for _ in range(10)}) == 1
    assert len(asked) == 1


def test_buckets_are_cumulative_and_whole():
    tops = ((900, 5), (1_000_500, 7), (80_000_000_000, 1))
    buckets = dict(buckets_of(Histogram("s", tops, 1, 0, 0)))
    assert buckets["1e-06"] == 5
    assert buckets["0.001"] == 5
    assert buckets["0.0015"] == 12
    assert buckets["+Inf"] == 13
    assert list(buckets.values()) == sorted(buckets.values())


def test_vpp_is_read_by_its_own_program(tmp_path, monkeypatch, fake_environment):
    program = tmp_path / "vpp_get_stats"
    program.write_text(
        "#!/bin/sh\n"
        "cat <<'END'\n"
        "[0]: local0 /if/names\n[1]: eth0 /if/names\n"
        "[1 @ 1]: 30 packets, 1920 bytes /if/rx\n"
        "[0]: null-node /sys/node/names\n[1]: ip4-lookup /sys/node/names\n"
        "[1 @ 1]: 10 packets /sys/node/calls\n[1 @ 1]: 30 packets /sys/node/vectors\n"
        "[1 @ 1]: 900 packets /sys/node/clocks\n[1 @ 1]: 0 packets /sys/node/suspends\n"
        "END\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("LINERATE_VPP_STATS", str(tmp_path / "stats.sock"))
    assert read_segment() is None
    (tmp_path / "stats.sock").touch()
    document, _ = Exporter().text()
    node = {"thread": "vpp_wk_0", "node": "ip4-lookup", "kind": "forward"}
    assert value(document, "linerate_vpp_node_clocks_total", **node) == 900
    assert value(document, "linerate_vpp_node_vectors_total", **node) == 30
    assert value(document, "linerate_vpp_interface_receive_bytes_total", interface="eth0") == 1920


@contextmanager
def served(token=None):
    server = Server(make_app(Exporter(), token), "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield int(server.address.rpartition(":")[2])
    finally:
        server.stop()
        thread.join()


def get(port, path="/metrics", **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_metrics_are_served_to_this_host(fake_environment):
    with served() as port:
        status, document = get(port)
        assert status == 200
        assert b"linerate_exporter_scrape_seconds" in document
        assert get(port, "/")[0] == 200
        assert get(port, "/etc/passwd")[0] == 404
        # A page elsewhere whose name was made to mean this host.
        assert get(port, Host="evil.example:9470")[0] == 403


def test_without_the_token_nothing_is_read(fake_environment):
    with served(TOKEN) as port:
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": f"Basic {TOKEN}"}):
            status, document = get(port, **headers)
            assert status == 401
            assert b"linerate_exporter" not in document
        assert get(port, Authorization=f"Bearer {TOKEN}")[0] == 200


def test_clients_that_never_finish_delay_no_other(fake_environment, monkeypatch):
    monkeypatch.setattr("linerate.ui.web.protocol.HEADERS_SECONDS", 0.3)
    monkeypatch.setattr("linerate.ui.web.protocol.CONNECTIONS_MAX", CLIENTS)
    with served() as port:
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(2 * CLIENTS)]
        garbage = [
            b"\xff" * 100_000,
            b"GET " + b"a" * 20_000,
            b"GET / HTTP/9.9\r\n\r\n",
            b"\r\n\r\n",
        ]
        for client, data in zip(idle, garbage, strict=False):
            # On a busy machine the server may have let it go by now.
            with contextlib.suppress(OSError):
                client.sendall(data)
        deadline = time.monotonic() + 120
        status = 0
        while status != 200 and time.monotonic() < deadline:
            try:
                status, _ = get(port)
            except OSError:
                time.sleep(0.05)
        for client in idle:
            client.close()
        assert status == 200


def test_the_command_says_what_is_wrong(linerate):
    for listen in ("9470", "127.0.0.1:", "127.0.0.1:x", ":9470", "127.0.0.1:99999"):
        done = linerate("exporter", "--listen", listen)
        assert done.returncode == 2
        assert "--listen: expected HOST:PORT" in done.stderr


def test_a_token_is_kept_in_a_file_of_its_user(linerate, tmp_path):
    file = tmp_path / "token"
    command = ["-m", "linerate", "exporter", "--listen", "127.0.0.1:0", "--token-file", str(file)]
    import sys

    with subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        try:
            assert process.stdout is not None
            output = process.stdout.readline()
            token = file.read_text().strip()
            assert file.stat().st_mode & 0o777 == 0o600
            assert token not in output
            port = int(output.split(":")[-1].split("/")[0])
            assert get(port)[0] == 401
            assert get(port, Authorization=f"Bearer {token}")[0] == 200
        finally:
            process.terminate()
            assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("role", "node", "kind"),
    [
        ("forwarder", "port-rx-e0-0", "receive"),
        ("forwarder", "port-rx-tap0-0", "receive"),
        ("forwarder", "ip4-lookup", "forward"),
        ("tester", "port-rx-t0-0", "tester"),
        ("tester", "port-rx-cable-0", "tester"),
        ("tester", "port-tx-t1", "tester"),
        ("both", "port-rx-e0-0", "receive"),
        ("both", "port-rx-tap0-0", "receive"),
        ("both", "port-rx-t0-0", "tester"),
        ("both", "port-rx-t3-0", "tester"),
        ("both", "generator-0", "tester"),
    ],
)
def test_what_a_tester_receives_is_nothing_that_a_device_does(role, node, kind):
    worker = WorkerReading(
        name="w", cpu=0, tid=1, role=role, tsc_hz=1, tsc=1, loops=1,
        overhead_clocks=0, away_clocks=0, nodes={},
    )  # fmt: skip
    assert kind_in(worker, node) == kind
