"""Flows that the card looks up, and a card that is slow, refuses, lies or forgets its rules.

Whatever it does, packets go on: the ledger balances, and what is lost is lost because a worker is too slow.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.schemas import valid_result
from tests.system import labs
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import Ledger, Outcome, read_ledger

from linerate.engine.engine_process import Engine, refusal
from linerate.engine.telemetry import Telemetry

FLOWS = 20
#: Long enough for a machine with other work; trials are stopped when they have shown enough.
PATIENCE_SECONDS = 120
Port = dict[str, Any]


def streams() -> list[dict[str, Any]]:
    """One a direction, of the same flows."""
    made = []
    for source in range(2):
        field = "src" if source == 0 else "dst"
        vary = {"field": f"ipv4.{field}", "op": "increment", "min": "16.0.0.1"}
        one = stream(source, rate={"pps": 20_000}, modifiers=[vary | {"max": f"16.0.0.{FLOWS}"}])
        one["layers"][2] = {
            "udp": {"src": 1000, "dst": 2000} if source == 0 else {"src": 2000, "dst": 1000}
        }
        made.append(one)
    return made


def config(flow_table: dict[str, Any] | None, **offload: Any) -> dict[str, Any]:
    forwarder = {
        "mode": "flowtable",
        "flowtable": {"flows": 4096, "idle_ms": 60_000, "offload": offload},
    }
    card = {} if flow_table is None else {"flow_table": flow_table}
    return card_config(card, forwarder, streams())


def read_ports(telemetry: Telemetry) -> dict[str, Port]:
    return {port: telemetry.ask(f"/linerate/offload,{port}") for port in ("e0", "e1")}


class Running:
    """A trial that runs, until it has shown what is waited for."""

    def __init__(self, telemetry: Telemetry, before: Ledger) -> None:
        self.telemetry = telemetry
        self._before = before
        self.outcome = Outcome({}, {})

    def wait(self, what: str, reached: Callable[[dict[str, Port]], bool]) -> dict[str, Port]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not reached(ports := read_ports(self.telemetry)):
            assert time.monotonic() < deadline, f"{what}: {ports}"
            time.sleep(0.05)
        return ports

    def stop(self) -> None:
        self.telemetry.ask("/linerate/trial/stop")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (status := self.telemetry.ask("/linerate/trial"))["state"] != "done":
            assert time.monotonic() < deadline, f"the trial does not end: {status}"
            time.sleep(0.02)
        after = read_ledger(self.telemetry)
        grown = {key: count - self._before.get(key, 0) for key, count in after.items()}
        self.outcome = Outcome(status, grown)


@contextmanager
def running(engine: Engine) -> Iterator[Running]:
    """Forward until the block ends; then check that no packet is unaccounted for."""
    with engine.connect() as telemetry:
        before = read_ledger(telemetry)
        telemetry.ask("/linerate/trial/start,duration_us=600000000,scale_ppm=1000000")
        trial = Running(telemetry, before)
        yield trial
        trial.stop()
    outcome = trial.outcome
    assert outcome.status["drained"] == 1
    assert outcome.unexplained == 0
    # A busy machine may be too slow; nothing else loses packets.
    busy = ("rx missed (ring full)", "no free tx slots")
    assert all(place.endswith(busy) for place in outcome.losses()), outcome.losses()
    assert outcome.of_kind("received") > 0


def message(folder: Path) -> list[str]:
    """Messages of the test's engine about offload."""
    (log,) = folder.glob("engine-*.log")
    lines = log.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "offload" in line or "rules" in line]


def marked(telemetry: Telemetry) -> int:
    answer: dict[str, int] = telemetry.ask("/linerate/flows,top=0,by=packets")
    return answer["marked"]


def all_stand(ports: dict[str, Port]) -> bool:
    return all(port["rules"] == FLOWS for port in ports.values())


def switched_off(ports: dict[str, Port]) -> bool:
    return all(port["state"] == "off" and port["rules"] == 0 for port in ports.values())


@pytest.mark.parametrize("preset", ["x710-patched", "x710"])
@pytest.mark.smoke("x710-patched")
def test_all_flows_are_offloaded(start_engine: StartEngine, tmp_path: Path, preset: str) -> None:
    """At 22 microseconds a rule and at 11 milliseconds."""
    engine = start_engine(config({"preset": preset}))
    with running(engine) as trial:
        ports = trial.wait("every flow has its rules", all_stand)
        first = marked(trial.telemetry)
        labs.wait_for(lambda: marked(trial.telemetry) > first)
        flows = trial.telemetry.ask("/linerate/flows,top=50,by=packets")
        assert flows["bad_marks"] == 0
        assert flows["flows"] == FLOWS
    for port in ports.values():
        assert port["state"] == "on"
        assert port["promoted"] == FLOWS
        assert port["refused"] == port["silent"] == port["lost"] == 0
        assert port["create_ns_min"] >= (22_000 if preset == "x710-patched" else 11_000_000)
    assert message(tmp_path) == []


def test_all_rules_refused(start_engine: StartEngine, tmp_path: Path) -> None:
    engine = start_engine(config({"preset": "x710-patched", "refuse": "all"}))
    with running(engine) as trial:
        ports = trial.wait("both ports are switched off", switched_off)
        assert marked(trial.telemetry) == 0
    for port in ports.values():
        by_type = {key: count for key, count in port.items() if key.startswith("refused_")}
        assert sum(by_type.values()) == port["refused"] == 8
        assert port["promoted"] == 0
        assert port["last_error"]
    lines = message(tmp_path)
    assert len(lines) == 2
    for name, line in zip(("e0", "e1"), sorted(lines), strict=True):
        assert line.startswith(f"port {name}: offload is switched off")
        assert ports[name]["last_error"] in line


def test_marks_never_come(start_engine: StartEngine, tmp_path: Path) -> None:
    engine = start_engine(config({"preset": "x710-patched", "silent": True}))
    with running(engine) as trial:
        ports = trial.wait("both ports are switched off", switched_off)
        assert marked(trial.telemetry) == 0
    for port in ports.values():
        assert port["silent"] == 8
        assert port["promoted"] == FLOWS
    assert len(message(tmp_path)) == 2
    assert all("packets come without their mark" in line for line in message(tmp_path))


def test_port_reset_while_rules_stand(start_engine: StartEngine, tmp_path: Path) -> None:
    """The rules are gone without notice; they are made anew."""
    engine = start_engine(config({"preset": "x710-patched"}))
    with running(engine) as trial:
        trial.wait("every flow has its rules", all_stand)
        # Each rule has shown that it works.
        enough = marked(trial.telemetry) + 2000 * FLOWS
        trial.wait("packets come marked", lambda _: marked(trial.telemetry) > enough)
        trial.telemetry.ask("/linerate/card/reset,e0")
        ports = trial.wait(
            "the rules of e0 were made again",
            lambda ports: ports["e0"]["promoted"] == 2 * FLOWS and all_stand(ports),
        )
    assert ports["e0"]["lost"] == FLOWS
    assert ports["e0"]["state"] == "on"
    assert ports["e1"]["promoted"] == FLOWS
    (line,) = message(tmp_path)
    assert line.startswith("port e0: rules have lost their effect")


def test_a_card_without_rules(start_engine: StartEngine) -> None:
    engine = start_engine(config(None))
    with running(engine) as trial:
        ports = trial.wait("both ports are switched off", switched_off)
    assert "flow table" in ports["e0"]["reason"]


def test_on_again(start_engine: StartEngine) -> None:
    engine = start_engine(config({"preset": "x710-patched"}))
    with running(engine) as trial:
        trial.wait("every flow has its rules", all_stand)
        trial.telemetry.ask("/linerate/offload,off,e0")
        ports = trial.wait("e0 is switched off", lambda ports: ports["e0"]["rules"] == 0)
        assert ports["e0"]["reason"] == "by request"
        assert ports["e1"]["rules"] == FLOWS
        trial.telemetry.ask("/linerate/offload,on,e0")
        trial.wait("every flow has its rules", all_stand)


def test_a_small_table(start_engine: StartEngine, tmp_path: Path) -> None:
    """It is full, which is no failure: nothing is switched off."""
    engine = start_engine(config({"capacity": 8, "guaranteed": 8, "programming_us": 22}))
    with running(engine) as trial:
        ports = trial.wait(
            "the tables are full",
            lambda ports: all(port["rules"] == 8 and port["full"] > 0 for port in ports.values()),
        )
    assert all(port["state"] == "on" for port in ports.values())
    assert message(tmp_path) == []


def test_show_offload(start_engine: StartEngine) -> None:
    engine = start_engine(config({"preset": "x710-patched", "refuse": "mark"}))

    def show(*options: str) -> str:
        return labs.shown("show", "offload", "--engine", engine.name, *options)

    with running(engine) as trial:
        trial.wait("both ports are switched off", switched_off)
    text = show()
    assert "e0    off" in text
    assert "e0: refused by type of error: action" in text
    assert "e1: switched off: rules are refused" in text
    found = valid_result("show-offload", show("--json"))
    assert found["e0"]["refused"] == 8


def test_a_wrong_key_is_named() -> None:
    assert "forwarder.flowtable.offload.rule" in refusal(config({"preset": "x710"}, rule=5))
