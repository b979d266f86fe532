"""`linerate show …` of a real engine: right after its start, and when it has worked."""

import json

import pytest
from tests.schemas import keeps_to
from tests.system import labs
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine

ROUTER = {
    "mode": "router",
    "router": {
        "interfaces": [
            {"port": "e0", "addresses": ["100.64.1.1/30"]},
            {"port": "e1", "addresses": ["100.64.2.1/30"]},
        ]
    },
}


def show(engine: Engine, table: str, *options: str) -> str:
    return labs.shown("show", table, "--engine", engine.name, *options)


@pytest.fixture
def engine(start_engine: StartEngine) -> Engine:
    """A router without routes: every packet has one place to go."""
    streams = [stream(0, rate={"pps": 10_000})]
    return start_engine(card_config({}, ROUTER, streams))


@pytest.mark.parametrize("table", ["runtime", "errors", "ports", "rings"])
@pytest.mark.smoke("runtime")
def test_every_table_at_any_time(engine: Engine, table: str) -> None:
    for _ in range(2):
        assert show(engine, table).strip()
        keeps_to(f"show-{table}", json.loads(show(engine, table, "--json")))
        run_trial(engine, 0.1)


def test_tables_say_what_happened(engine: Engine) -> None:
    outcome = run_trial(engine, 0.1)
    assert outcome.of_kind("sent") == 1000
    assert outcome.unexplained == 0
    # Errors are sent now and then, and there is no route to the senders either.
    dropped = outcome.grown["ip4-lookup: no route", "loss"]
    assert 1000 < dropped <= 1000 + outcome.of_kind("originated")
    (line,) = [line for line in show(engine, "errors").splitlines() if "no route" in line]
    assert line.split() == [str(dropped), "ip4-lookup", "no", "route", "error"]
    runtime = show(engine, "runtime").splitlines()
    (lookup,) = [line.split() for line in runtime if line.startswith("ip4-lookup")]
    assert lookup[1] == "active"
    assert lookup[3] == str(dropped)
    assert any(line.startswith("port-rx-e0-0 (idle)") for line in runtime)
    assert not any(line.startswith("port-tx-e1 (idle)") for line in runtime)
    (e0,) = [line.split() for line in show(engine, "ports").splitlines() if line.startswith("e0")]
    assert e0[2] == "1,000"


@pytest.mark.parametrize("threading", ["locked", "lock-free"])
def test_rings_between_reader_and_writer(start_engine: StartEngine, threading: str) -> None:
    forwarder = {"mode": "io", "workers": 2, "threading": threading}
    engine = start_engine(card_config({}, forwarder, [stream(0, rate={"pps": 10_000})]))
    outcome = run_trial(engine, 0.1)
    shown = show(engine, "rings")
    lines = [line.split() for line in shown.splitlines()]
    assert lines[1] == ["ring_stats"]
    assert lines[3] == ["src", "dst", "pri", "used", "free", "enqs", "drops", "deqs"]
    handed = {words[2]: words for words in lines[4:] if words[1] == "forwarder-1"}
    assert list(handed) == ["control", "high", "normal"]
    enqueued, dropped, dequeued = map(int, handed["normal"][5:])
    assert (enqueued, dropped, dequeued) == (outcome.of_kind("received"), 0, enqueued)
    assert handed["control"][5:] == handed["high"][5:] == ["0", "0", "0"]
    assert len([words for words in lines[4:] if words[2] == "-"]) > 0
