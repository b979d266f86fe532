"""Injected limits: a forwarder and a tester that burn cycles.

Burnt cycles are checked by the engine's time ledger, and by packets only within a wide range: other
programs take the CPUs too.
"""

import os
import signal
import time
from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.test_life import folder_of, gone
from tests.system.trials import Outcome, run_trial

from linerate.engine.engine_process import Engine, refusal

SECONDS = 0.3
FLOWS = [{"field": "ipv4.src", "op": "increment", "min": "16.0.0.1", "max": "16.0.0.250"}]
LINK = {"link_bps": 1_000_000_000}
WAYS = ["spin", "sleep", "syscall", "lock"]
ACCOUNTS = ("overhead_clocks", "away_clocks", "sleep_clocks")

Runtime = dict[str, Any]


def forwarder(**changes: Any) -> dict[str, Any]:
    return {"mode": "io", **changes}


def tsc_hz(engine: Engine) -> int:
    with engine.connect() as telemetry:
        return int(telemetry.ask("/linerate/info")["tsc_hz"])


def runtimes(engine: Engine) -> dict[str, Runtime]:
    with engine.connect() as telemetry:
        names = [row["name"] for row in telemetry.table("/linerate/workers")]
        return {name: telemetry.ask(f"/linerate/runtime,{name}") for name in names}


def of_node(runtime: Runtime, prefix: str, column: str) -> int:
    pairs = zip(runtime["node"], runtime[column], strict=True)
    return sum(count for node, count in pairs if node.startswith(prefix))


def closed(runtime: Runtime) -> float:
    known = sum(runtime[account] for account in ACCOUNTS)
    known += sum(runtime["clocks"]) + sum(runtime["idle_clocks"])
    return float(known / (runtime["tsc"] - runtime["started_tsc"]))


def check(engine: Engine, outcome: Outcome) -> dict[str, Runtime]:
    """The laws hold; what each worker did since it started."""
    assert outcome.status["drained"] == 1
    assert outcome.unexplained == 0
    workers = runtimes(engine)
    for name, runtime in workers.items():
        assert closed(runtime) == pytest.approx(1, abs=0.01), name
    return workers


def burnt_per_packet(runtime: Runtime, node: str = "burn-") -> float:
    return of_node(runtime, node, "clocks") / of_node(runtime, node, "vectors")


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.smoke("spin")
def test_a_slow_worker_is_as_slow_as_asked(start_engine: StartEngine, how: str) -> None:
    clocks = 20_000
    options = forwarder(burn={"clocks": clocks, "how": how})
    engine = start_engine(card_config(LINK, options, [stream(0, modifiers=FLOWS)]))
    outcome = run_trial(engine, SECONDS)
    worker = check(engine, outcome)["forwarder-0"]
    passed = of_node(worker, "burn-e0", "vectors")
    assert of_node(worker, "port-rx-e0-0", "vectors") == passed
    # Other programs can only make it less; a ring's worth more was there at the end.
    elapsed = outcome.status["elapsed_us"] / 1e6
    most = tsc_hz(engine) / clocks * elapsed
    assert outcome.of_kind("received") < 2 * most
    assert clocks * 0.9 < burnt_per_packet(worker) < clocks * 1.5
    assert any("rx missed" in place for place in outcome.losses())


def test_waits_for_a_lock_are_counted(start_engine: StartEngine) -> None:
    options = forwarder(workers=2, burn={"clocks": 20_000, "how": "lock"})
    config = card_config({**LINK, "rx_queues": 2}, options, [stream(0, modifiers=FLOWS)])
    engine = start_engine(config)
    workers = check(engine, run_trial(engine, SECONDS))
    with engine.connect() as telemetry:
        locks = {row["name"]: row for row in telemetry.table("/linerate/locks")}
    assert set(locks) == {"burn-forwarder-0", "burn-forwarder-1"}
    for number in range(2):
        lock = locks[f"burn-forwarder-{number}"]
        burnt = of_node(workers[f"forwarder-{number}"], "burn-", "clocks")
        # The rest is asking for it to be held, by another thread.
        assert 0.3 * burnt < lock["wait_clocks"] <= burnt
        assert 0 < lock["waits"] <= lock["acquisitions"]


@pytest.mark.parametrize("rx_mode", ["interrupt", "polling"])
@pytest.mark.parametrize("workers", [2, 3])
def test_workers_that_sleep_share_a_cpu(
    start_engine: StartEngine, workers: int, rx_mode: str
) -> None:
    """Whatever CPUs there are, each burns as much as if it had one to itself."""
    clocks = 30_000
    burn = {"clocks": clocks, "how": "sleep"}
    options = forwarder(workers=workers, rx_mode=rx_mode, burn=burn)
    config = card_config({**LINK, "rx_queues": workers}, options, [stream(0, modifiers=FLOWS)])
    engine = start_engine(config)
    outcome = run_trial(engine, SECONDS)
    ledgers = check(engine, outcome)
    together = 0
    for number in range(workers):
        worker = ledgers[f"forwarder-{number}"]
        assert clocks * 0.9 < burnt_per_packet(worker) < clocks * 1.5
        together += of_node(worker, "burn-", "clocks")
    # More than one CPU has: it was slept off.
    assert together > outcome.status["elapsed_us"] / 1e6 * tsc_hz(engine) * workers / 2


@pytest.mark.parametrize(("workers", "asked"), [(1, 5_000), (3, 25_000)])
def test_other_workers_cost(start_engine: StartEngine, workers: int, asked: int) -> None:
    """Cycles a packet rise with the number of workers."""
    burn = {"clocks": 5_000, "contention_clocks": 10_000, "how": "sleep"}
    options = forwarder(workers=workers, rx_mode="interrupt", burn=burn)
    config = card_config({**LINK, "rx_queues": workers}, options, [stream(0, modifiers=FLOWS)])
    engine = start_engine(config)
    ledgers = check(engine, run_trial(engine, SECONDS))
    for number in range(workers):
        assert 0.9 * asked < burnt_per_packet(ledgers[f"forwarder-{number}"]) < 1.5 * asked


def test_one_queue_leaves_the_other_workers_asleep(start_engine: StartEngine) -> None:
    burn = {"clocks": 20_000, "how": "sleep"}
    options = forwarder(workers=3, handoff="off", rx_mode="interrupt", burn=burn)
    engine = start_engine(card_config(LINK, options, [stream(0, modifiers=FLOWS)]))
    workers = check(engine, run_trial(engine, SECONDS))
    assert of_node(workers["forwarder-0"], "burn-", "vectors") > 0
    for name in ("forwarder-1", "forwarder-2"):
        elapsed = workers[name]["tsc"] - workers[name]["started_tsc"]
        # On a machine that is busy it waits for its CPU when it would go to sleep.
        rested = workers[name]["sleep_clocks"] + workers[name]["away_clocks"]
        assert workers[name]["sleep_clocks"] > 0
        assert rested == pytest.approx(elapsed, rel=0.01)


def test_who_works_on_a_packet_burns_for_it(start_engine: StartEngine) -> None:
    """Behind a hand-off it is the worker that took the packet over."""
    burn = {"clocks": 3_000, "how": "sleep"}
    options = forwarder(workers=2, handoff_ring=32, rx_mode="interrupt", burn=burn)
    engine = start_engine(card_config(LINK, options, [stream(0, modifiers=FLOWS)]))
    outcome = run_trial(engine, SECONDS)
    workers = check(engine, outcome)
    assert outcome.losses()["worker-handoff: handoff ring full"] > 0
    taken = of_node(workers["forwarder-1"], "handoff-rx", "vectors")
    assert of_node(workers["forwarder-1"], "burn-", "vectors") == taken > 0
    assert of_node(workers["forwarder-0"], "burn-", "vectors") > 0


@pytest.mark.parametrize("how", WAYS)
def test_pauses_are_counted_as_burnt(start_engine: StartEngine, how: str) -> None:
    burn = {"pause_every_us": 10_000, "pause_for_us": 5_000, "how": how}
    options = forwarder(burn=burn)
    engine = start_engine(card_config(LINK, options, [stream(0, modifiers=FLOWS)]))
    outcome = run_trial(engine, SECONDS)
    worker = check(engine, outcome)["forwarder-0"]
    # A ring of 1024 is full long before the pause ends.
    assert any("rx missed" in place for place in outcome.losses())
    assert of_node(worker, "burn-", "clocks") > 2 * 0.005 * tsc_hz(engine)


@pytest.mark.parametrize("bare_wire", [True, False])
def test_a_slow_tester_is_as_slow_as_asked(start_engine: StartEngine, bare_wire: bool) -> None:
    clocks = 10_000
    rate = {"max": True} if bare_wire else {"percent": 100}
    card = {"link_bps": 0} if bare_wire else {"link_bps": 500_000_000}
    config = card_config(card, None if bare_wire else forwarder(), [stream(0, rate=rate)])
    config["tester"]["burn"] = {"clocks": clocks}
    engine = start_engine(config)
    outcome = run_trial(engine, SECONDS)
    tester = check(engine, outcome)["tester"]
    assert of_node(tester, "tester-burn-t0", "vectors") == outcome.of_kind("sent")
    assert clocks * 0.9 < burnt_per_packet(tester, "tester-burn-") < clocks * 1.5
    # On the tester's clock, which stops while the tester is descheduled.
    elapsed = outcome.status["elapsed_us"] / 1e6
    assert outcome.of_kind("sent") < tsc_hz(engine) / clocks * elapsed * 1.1


def test_nothing_burns_unless_asked(start_engine: StartEngine) -> None:
    engine = start_engine(card_config(LINK, forwarder(), [stream(0, rate={"pps": 20_000})]))
    workers = check(engine, run_trial(engine, SECONDS))
    assert workers
    for runtime in workers.values():
        assert not [node for node in runtime["node"] if "burn" in node]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_stops_while_burning(start_engine: StartEngine, how: str, number: signal.Signals) -> None:
    """A vector takes a quarter of a second here: it is not waited for."""
    burn = {"clocks": 1_000_000, "call_clocks": 100_000_000, "how": how}
    options = forwarder(workers=2, burn=burn)
    engine = start_engine(card_config({**LINK, "rx_queues": 2}, options, [stream(0), stream(1)]))
    folder = folder_of(engine)
    with engine.connect() as telemetry:
        telemetry.ask("/linerate/trial/start,duration_us=60000000,scale_ppm=1000000")
        while telemetry.ask("/linerate/trial")["sent_packets"] == 0:
            time.sleep(0.01)
    os.kill(engine.pid, number)
    assert gone(engine.pid)
    engine.stop()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"burn": {"clocks": -1}}, "forwarder.burn.clocks: expected a whole number"),
        ({"burn": {"cycles": 1}}, "forwarder.burn.cycles: unknown key, expected one of: clocks"),
        ({"burn": {"how": "badly"}}, "forwarder.burn.how: expected one of: spin, sleep"),
        ({"burn": 5}, "forwarder.burn: expected an object"),
        ({"burn": {"pause_for_us": 5}}, "forwarder.burn.pause_every_us: expected how often"),
        ({"mode": "txonly", "burn": {"clocks": 5}}, "forwarder.burn: txonly receives nothing"),
    ],
)
def test_wrong_settings_are_named(changes: dict[str, Any], text: str) -> None:
    assert text in refusal(card_config({}, forwarder(**changes), [stream(0)]))


def test_a_wrong_setting_of_the_tester_is_named() -> None:
    config = card_config({}, forwarder(), [stream(0)])
    config["tester"]["burn"] = {"how": "spin"}
    assert "tester.burn.how: unknown key, expected one of: clocks" in refusal(config)
