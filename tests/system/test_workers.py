"""Several workers and rx modes, with the real engine: order, ledgers, tables, sleep.

Workers may share a CPU here and take turns: rates are low, and what is lost for lack of a
turn has a name and is accepted.
"""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.labs import state_of, wait_for
from tests.system.trials import Outcome, run_trial

from linerate.engine.engine_process import Engine, EngineError, refusal
from linerate.engine.telemetry import Telemetry, TelemetryError

SECONDS = 0.1
FLOWS = [{"field": "ipv4.src", "op": "increment", "min": "16.0.0.1", "max": "16.0.0.250"}]
MODES = (
    "io",
    "flowtable",
    "mac",
    "macswap",
    "csum",
    "l2fwd",
    "l2switch",
    "xconnect",
    "router",
    "rxonly",
)
ROUTER = {
    "interfaces": [
        {"port": "e0", "addresses": ["100.64.1.1/30"]},
        {"port": "e1", "addresses": ["100.64.2.1/30"]},
    ],
    "routes": [
        {"prefix": "16.0.0.0/24", "via": "100.64.1.2", "port": "e0"},
        {"prefix": "48.0.0.0/24", "via": "100.64.2.2", "port": "e1"},
    ],
    "neighbors": [
        {"port": "e0", "address": "100.64.1.2", "mac": "50:7c:6f:20:30:70"},
        {"port": "e1", "address": "100.64.2.2", "mac": "50:7c:6f:20:30:71"},
    ],
}


def forwarder(mode: str, workers: int, **changes: Any) -> dict[str, Any]:
    made = {"mode": mode, "workers": workers, **changes}
    return made | {"router": ROUTER} if mode == "router" else made


def single_flows(count: int, pps: int = 800) -> list[dict[str, Any]]:
    """Streams of one flow each, half of them a direction."""
    streams = []
    for number in range(count):
        made = stream(number % 2, rate={"pps": pps})
        made["layers"][2] = {"udp": {"src": 1000 + 37 * number, "dst": 2000 + number}}
        streams.append(made)
    return streams


def stream_rows(engine: Engine) -> list[dict[str, Any]]:
    with engine.connect() as telemetry:
        return telemetry.table("/linerate/streams,0")


def runtimes(telemetry: Telemetry) -> dict[str, dict[str, Any]]:
    names = [r["name"] for r in telemetry.table("/linerate/workers") if r["role"] == "forwarder"]
    return {name: telemetry.ask(f"/linerate/runtime,{name}") for name in names}


def vectors(runtime: dict[str, Any], prefix: str) -> int:
    pairs = zip(runtime["node"], runtime["vectors"], strict=True)
    return sum(count for node, count in pairs if node.startswith(prefix))


def check_law(outcome: Outcome) -> None:
    assert outcome.status["drained"] == 1
    assert outcome.unexplained == 0
    assert outcome.of_kind("sent") > 0


def check_counters(engine: Engine) -> None:
    """The counters of all workers add up to those of the ports."""
    with engine.connect() as telemetry:
        workers = runtimes(telemetry)
        for port in ("e0", "e1"):
            counters = telemetry.ask(f"/linerate/port,{port}")
            received = sum(vectors(w, f"port-rx-{port}-") for w in workers.values())
            sent = sum(vectors(w, f"port-tx-{port}") for w in workers.values())
            assert received == counters["rx_packets"]
            assert sent == counters["tx_packets"]


def check_order(engine: Engine) -> None:
    rows = stream_rows(engine)
    assert sum(row["received"] for row in rows) > 0
    for row in rows:
        assert row["out_of_order"] == row["duplicated"] == row["corrupted"] == 0, row


@pytest.mark.parametrize(
    ("mode", "workers", "queues"), [*((mode, 4, 2) for mode in MODES), ("io", 2, 1), ("mac", 4, 4)]
)
@pytest.mark.smoke("router-4-2")
def test_every_mode_on_several_workers(
    start_engine: StartEngine, mode: str, workers: int, queues: int
) -> None:
    streams = [stream(port, rate={"pps": 20_000}, modifiers=FLOWS) for port in range(2)]
    config = card_config({"rx_queues": queues}, forwarder(mode, workers), streams)
    engine = start_engine(config)
    outcome = run_trial(engine, SECONDS)
    check_law(outcome)
    check_counters(engine)
    back = outcome.of_kind("consumed" if mode == "rxonly" else "received")
    assert back + sum(outcome.losses().values()) == outcome.of_kind("sent")
    assert back > 0
    with engine.connect() as telemetry:
        nodes = {
            name: vectors(runtime, "port-rx") + vectors(runtime, "handoff-rx")
            for name, runtime in runtimes(telemetry).items()
        }
    assert all(nodes.values()), nodes


@pytest.mark.parametrize(
    ("mode", "workers", "queues"),
    [("io", 4, 4), ("io", 4, 1), ("io", 2, 4), ("router", 4, 4), ("router", 3, 2)],
)
def test_no_packet_of_a_flow_overtakes_another(
    start_engine: StartEngine, mode: str, workers: int, queues: int
) -> None:
    config = card_config({"rx_queues": queues}, forwarder(mode, workers), single_flows(32))
    engine = start_engine(config)
    check_law(run_trial(engine, SECONDS))
    check_order(engine)
    check_counters(engine)


@pytest.mark.smoke
def test_a_full_handoff_ring_has_a_name(start_engine: StartEngine) -> None:
    """A worker that takes hundreds of frames a call finds a ring of 32 full: half are for it."""
    streams = [stream(0, rate={"percent": 100}, burst=20_000, modifiers=FLOWS)]
    slow = {"handoff_ring": 32, "burn": {"call_clocks": 1_000_000, "how": "sleep"}}
    engine = start_engine(card_config({}, forwarder("io", 2, **slow), streams))
    outcome = run_trial(engine, SECONDS)
    check_law(outcome)
    check_counters(engine)
    with engine.connect() as telemetry:
        rings = {row["name"]: row for row in telemetry.table("/linerate/rings")}
    ring = rings["handoff-0-1-normal"]
    assert ring["size"] == 32
    assert ring["used"] == 0
    assert ring["enqueued"] > 0
    assert ring["dropped"] > 0
    lost = outcome.losses().get("worker-handoff: handoff ring full", 0)
    assert lost == ring["dropped"]


def test_without_handoff_the_first_worker_does_all(start_engine: StartEngine) -> None:
    config = card_config({}, forwarder("io", 2, handoff="off"), single_flows(8))
    engine = start_engine(config)
    check_law(run_trial(engine, SECONDS))
    check_order(engine)
    with engine.connect() as telemetry:
        done = {name: vectors(r, "port-tx") for name, r in runtimes(telemetry).items()}
    assert done["forwarder-0"] > 0
    assert done["forwarder-1"] == 0


def moving_entries(queue: int) -> str:
    """Entries 0 to 63 stay on queue 0; the others go from queue to queue."""
    return ":".join(["0"] * 64 + [str(queue)] * 64)


def enqueued(telemetry: Telemetry) -> dict[str, int]:
    return {row["name"]: row["enqueued"] for row in telemetry.table("/linerate/rings")}


def wait_for_more(telemetry: Telemetry, ring: str) -> None:
    known = enqueued(telemetry)[ring]
    wait_for(lambda: enqueued(telemetry)[ring] > known)


def test_rss_is_changed_while_frames_come(start_engine: StartEngine) -> None:
    config = card_config({"rx_queues": 4}, forwarder("io", 4), single_flows(48, 400))
    engine = start_engine(config)
    with engine.connect() as telemetry:
        telemetry.ask(f"/linerate/rss/set,port=e0,reta={moving_entries(1)}")
        telemetry.ask(f"/linerate/rss/set,port=e1,reta={moving_entries(1)}")
        before = enqueued(telemetry)
        telemetry.ask("/linerate/trial/start,duration_us=600000000,scale_ppm=1000000")
        for step in range(12):
            queue = 1 + step % 3
            telemetry.ask(f"/linerate/rss/set,port=e0,reta={moving_entries(queue)}")
            wait_for_more(telemetry, f"card0_port0_rx{queue}")
        telemetry.ask("/linerate/trial/stop")
        wait_for(lambda: telemetry.ask("/linerate/trial")["state"] == "done")
        rings = {name: count - before[name] for name, count in enqueued(telemetry).items()}
        total = telemetry.ask("/linerate/trial")
    assert total["drained"] == 1
    # Flows that stay on their queue: those of queue 0 on e0, and all that arrive at e1.
    stays = {q for q in range(4) if rings[f"card0_port0_rx{q}"]}
    assert stays == {0, 1, 2, 3}
    rows = stream_rows(engine)
    assert sum(row["sent"] for row in rows) == sum(row["received"] + row["lost"] for row in rows)
    for number, row in enumerate(rows):
        if number % 2 == 1:
            assert row["out_of_order"] == row["duplicated"] == 0, row
    # Without a further change all are in order again.
    engine_rows = {row["name"]: row["out_of_order"] for row in rows}
    check_law(run_trial(engine, SECONDS))
    for row in stream_rows(engine):
        assert row["out_of_order"] == engine_rows[row["name"]], row


def test_symmetric_hashing_can_be_turned_on(start_engine: StartEngine) -> None:
    streams = [stream(0, rate={"pps": 20_000}, modifiers=FLOWS)]
    engine = start_engine(card_config({"rx_queues": 2}, forwarder("io", 2), streams))
    with engine.connect() as telemetry:
        first = telemetry.ask("/linerate/rss,e0")
        assert first["reta"] == [0, 1] * 64
        assert (first["symmetric"], first["l4"], first["mpls_inner"]) == (0, 1, 1)
        now = telemetry.ask("/linerate/rss/set,port=e0,symmetric=1,l4=0,mpls_inner=0,reta=1")
        assert (now["symmetric"], now["l4"], now["mpls_inner"]) == (1, 0, 0)
        assert now == telemetry.ask("/linerate/rss,e0")
        other = telemetry.ask("/linerate/rss,e1")
        assert other["reta"] == first["reta"]
    outcome = run_trial(engine, SECONDS)
    with engine.connect() as telemetry:
        rings = {row["name"]: row["enqueued"] for row in telemetry.table("/linerate/rings")}
    missed = outcome.losses().get("card0 port 0: rx missed (ring full)", 0)
    assert rings["card0_port0_rx0"] == 0
    assert rings["card0_port0_rx1"] + missed == outcome.of_kind("sent")


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ("port=e9", "port: no port is called e9"),
        ("symmetric=1", "expected port=PORT first"),
        ("port=e0,reta=0:2", "port e0 has the queues 0 to 1"),
        ("port=e0,reta=0::1", "expected queues as 0:1:2:3"),
        ("port=e0,reta=-1", "expected queues as 0:1:2:3"),
        ("port=e0,symmetric=yes", "symmetric: expected 0 or 1"),
        ("port=e0,key=1", "key: expected port, symmetric, l4, mpls_inner or reta"),
        ("port=e0,l4", "expected port=PORT,key=value"),
        ("port=t0,l4=1", "driver wire has no RSS"),
    ],
)
def test_wrong_rss_settings_change_nothing(
    start_engine: StartEngine, parameters: str, text: str
) -> None:
    engine = start_engine(card_config({"rx_queues": 2}, forwarder("io", 2), [stream(0)]))
    with engine.connect() as telemetry:
        before = telemetry.ask("/linerate/rss,e0")
        with pytest.raises(TelemetryError, match=text):
            telemetry.ask(f"/linerate/rss/set,{parameters}")
        assert telemetry.ask("/linerate/rss,e0") == before


def test_an_ethdev_ports_table_can_be_changed(start_engine: StartEngine) -> None:
    ports = [
        {"name": f"e{i}", "driver": "ethdev", "device": f"net_null{i}", "rx_queues": 2}
        for i in range(2)
    ]
    config = {
        "memory": {"megabytes": 256},
        "ports": ports,
        "forwarder": {"mode": "io", "ports": ["e0", "e1"], "workers": 2},
    }
    with start_engine(config).connect() as telemetry:
        telemetry.ask("/linerate/rss/set,port=e0,reta=0:1")
        assert telemetry.ask("/linerate/rss,e0")["reta"] == [0, 1] * 64
        with pytest.raises(TelemetryError, match="its device refuses"):
            telemetry.ask("/linerate/rss/set,port=e0,mpls_inner=1")


@pytest.mark.parametrize("steer", [False, True])
def test_stations_are_known_on_all_workers(start_engine: StartEngine, steer: bool) -> None:
    """Both stations are seen once; then whatever worker has a frame for them floods nothing."""
    options = forwarder("l2switch", 4, l2switch={"steer": steer})
    streams = [stream(port, rate={"pps": 20_000}, modifiers=FLOWS) for port in range(2)]
    for number, made in enumerate(streams):
        addresses = [f"50:7c:6f:20:30:7{number}", f"50:7c:6f:20:30:7{number ^ 1}"]
        made["layers"][0] = {"ethernet": {"src": addresses[0], "dst": addresses[1]}}
    engine = start_engine(card_config({"rx_queues": 4}, options, streams))
    check_law(run_trial(engine, SECONDS))
    outcome = run_trial(engine, SECONDS)
    check_law(outcome)
    # With two ports flooding makes no copy; a station known where it came from is dropped.
    assert outcome.of_kind("originated") == 0
    assert not [place for place in outcome.losses() if place.startswith("l2switch")]
    with engine.connect() as telemetry:
        worked = [vectors(runtime, "l2switch") for runtime in runtimes(telemetry).values()]
    # Two destinations have at most two owners.
    assert sum(count > 0 for count in worked) == 4 if not steer else sum(map(bool, worked)) <= 2


def cpu_seconds(pid: int, tid: int) -> float:
    """CPU time of the thread."""
    fields = Path(f"/proc/{pid}/task/{tid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def closed(runtime: dict[str, Any]) -> float:
    accounts = ("overhead_clocks", "away_clocks", "sleep_clocks")
    known = sum(runtime[name] for name in accounts)
    known += sum(runtime["clocks"]) + sum(runtime["idle_clocks"])
    return float(known / (runtime["tsc"] - runtime["started_tsc"]))


@pytest.mark.parametrize("rx_mode", ["polling", "interrupt", "adaptive"])
@pytest.mark.parametrize(("workers", "queues"), [(1, 1), (2, 2), (2, 1)])
def test_each_rx_mode_forwards_and_sleeps(
    start_engine: StartEngine, rx_mode: str, workers: int, queues: int
) -> None:
    card = {"rx_queues": queues}
    options = forwarder("router", workers, rx_mode=rx_mode)
    engine = start_engine(card_config(card, options, single_flows(16, 1000)))
    for scale_ppm in (1_000_000, 50_000):
        check_law(run_trial(engine, SECONDS, scale_ppm))
    check_order(engine)
    check_counters(engine)
    with engine.connect() as telemetry:
        rows = telemetry.table("/linerate/workers")
        tids = {row["name"]: row["tid"] for row in rows}
        first = runtimes(telemetry)
        used = {name: cpu_seconds(engine.pid, tids[name]) for name in first}
        started = time.monotonic()
        time.sleep(1)
        elapsed = time.monotonic() - started
        last = runtimes(telemetry)
    for name, runtime in last.items():
        asleep = runtime["sleep_clocks"] - first[name]["sleep_clocks"]
        # On a machine that is busy it waits for its CPU when it would go to sleep.
        away = runtime["away_clocks"] - first[name]["away_clocks"]
        share = (asleep + away) / (runtime["tsc"] - first[name]["tsc"])
        assert runtime["rx_mode"] == rx_mode
        assert closed(runtime) == pytest.approx(1, abs=0.02)
        if rx_mode == "polling":
            assert runtime["sleeps"] == runtime["sleep_clocks"] == 0
            continue
        assert asleep > 0
        assert share > 0.7
        assert (cpu_seconds(engine.pid, tids[name]) - used[name]) / elapsed < 0.3
    # It ends by itself, asleep or not: it is not killed here.
    os.kill(engine.pid, signal.SIGTERM)
    wait_for(lambda: state_of(engine.pid) == "Z")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rx_mode": "lazy"}, "forwarder.rx_mode: expected one of"),
        ({"handoff": "maybe"}, "forwarder.handoff: expected one of"),
        ({"handoff_ring": 100}, "forwarder.handoff_ring: expected a power of two"),
        ({"mode": "txonly", "rx_mode": "interrupt"}, "txonly sends all the time"),
        (
            {"mode": "l2switch", "handoff": "off", "l2switch": {"steer": True}},
            'steering needs "handoff": "auto"',
        ),
    ],
)
@pytest.mark.smoke
def test_wrong_settings_are_named(changes: dict[str, Any], message: str) -> None:
    config = card_config({}, {"mode": "io", "workers": 2, **changes}, [stream(0)])
    assert message in refusal(config)


@pytest.mark.parametrize(
    ("port", "options", "text"),
    [
        ({"device": "net_null0"}, {"rx_mode": "interrupt"}, "rx_mode can only be polling"),
        ({"device": "net_null0", "rx_queues": 2000}, {}, "rx_queues"),
        ({"driver": "replay"}, {"rx_mode": "adaptive"}, "wakes no worker"),
    ],
)
def test_devices_that_cannot_are_refused(
    start_engine: StartEngine, port: dict[str, Any], options: dict[str, Any], text: str
) -> None:
    config = {
        "memory": {"megabytes": 128},
        "ports": [{"name": "e0", "driver": "ethdev", **port}],
        "forwarder": {"mode": "rxonly", "ports": ["e0"], **options},
    }
    with pytest.raises(EngineError) as refused:
        start_engine(config)
    assert text in str(refused.value)
