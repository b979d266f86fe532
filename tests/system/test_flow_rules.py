"""rte_flow rules on the card: by hand, in testpmd's words, while packets come."""

from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.test_card import check_law
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine
from linerate.engine.telemetry import TelemetryError

FLOW = "ingress pattern eth / ipv4 src is 16.0.0.1 dst is 48.0.0.1 / udp src is 1025 dst is 12"
OTHER = FLOW.replace("1025", "1026")


def start(start_engine: StartEngine, **table: Any) -> Engine:
    """Half of e0's packets are of FLOW, the others of OTHER."""
    streams = [
        stream(
            0,
            rate={"pps": 10_000},
            layers=[
                *stream(0)["layers"][:2],
                {"udp": {"src": port, "dst": 12}},
            ],
        )
        for port in (1025, 1026)
    ]
    # The rings hold all that a trial sends: nothing is lost, however slow the machine.
    card = {"rx_queues": 4, "rx_ring": 8192, "tx_ring": 8192, "flow_table": table}
    return start_engine(card_config(card, {"mode": "io"}, streams))


def ask(engine: Engine, command: str) -> dict[str, Any]:
    with engine.connect() as telemetry:
        answer: dict[str, Any] = telemetry.ask(command)
    return answer


def create(engine: Engine, rule: str, actions: str) -> dict[str, Any]:
    text = f"e0 flow create 0 {rule} / end actions {actions} / end"
    return ask(engine, f"/linerate/flow/create,{text}")


def marked(engine: Engine) -> int:
    return int(ask(engine, "/linerate/port,e0")["rx_marked"])


def received_on(engine: Engine, queue: int) -> int:
    """Count what one rx queue of e0 gave."""
    with engine.connect() as telemetry:
        rows = telemetry.table("/linerate/runtime,forwarder-0")
    return sum(row["vectors"] for row in rows if row["node"] == f"port-rx-e0-{queue}")


@pytest.mark.smoke
def test_marks_and_counts(start_engine: StartEngine) -> None:
    engine = start(start_engine)
    made = create(engine, FLOW, "queue index 2 / mark id 7 / count")
    assert made["accepted"] == 1
    outcome = run_trial(engine, 0.2)
    check_law(outcome)
    half = outcome.of_kind("sent") // 2
    assert marked(engine) == half
    listed = ask(engine, "/linerate/flow/list,e0")
    assert listed["packets"] == [half]
    assert listed["bytes"] == [64 * half]
    assert listed["actions"] == ["actions queue index 2 / mark id 7 / count / end"]
    assert ask(engine, f"/linerate/flow/destroy,e0,{made['id']}")["accepted"] == 1
    check_law(run_trial(engine, 0.1))
    assert marked(engine) == half
    assert ask(engine, "/linerate/flow/list,e0")["rules"] == 0


def test_a_rule_chooses_the_queue(start_engine: StartEngine) -> None:
    engine = start(start_engine)
    create(engine, FLOW, "queue index 2")
    create(engine, OTHER, "rss queues 1 3 end")
    outcome = run_trial(engine, 0.2)
    check_law(outcome)
    half = outcome.of_kind("sent") // 2
    assert received_on(engine, 2) == half
    assert received_on(engine, 1) + received_on(engine, 3) == half


def test_what_a_rule_drops_has_a_place(start_engine: StartEngine) -> None:
    engine = start(start_engine)
    create(engine, OTHER, "drop")
    outcome = run_trial(engine, 0.2)
    check_law(outcome)
    assert outcome.losses() == {"card0 port 0: dropped by flow rule": outcome.of_kind("sent") // 2}


def test_a_reset_takes_rules_without_notice(start_engine: StartEngine) -> None:
    engine = start(start_engine)
    made = create(engine, FLOW, "mark id 7")
    assert ask(engine, "/linerate/card/reset,e0") == {"port": "e0"}
    check_law(run_trial(engine, 0.1))
    assert marked(engine) == 0
    gone = ask(engine, f"/linerate/flow/destroy,e0,{made['id']}")
    assert (gone["accepted"], gone["errno"], gone["type"]) == (0, "ENOENT", "handle")


def test_a_silent_card_never_marks(start_engine: StartEngine) -> None:
    engine = start(start_engine, silent=True)
    assert create(engine, FLOW, "mark id 7")["accepted"] == 1
    check_law(run_trial(engine, 0.1))
    assert marked(engine) == 0


@pytest.mark.parametrize(
    ("actions", "refused"),
    [
        ("jump group 1", {"type": "action", "cause": "action jump", "errno": "ENOTSUP"}),
        ("queue index 9", {"type": "action_conf", "cause": "action queue", "errno": "EINVAL"}),
        ("queue index 1 / drop", {"type": "action", "cause": "action drop", "errno": "EINVAL"}),
    ],
)
def test_a_refusal_says_what_it_stumbled_over(
    start_engine: StartEngine, actions: str, refused: dict[str, str]
) -> None:
    answer = create(start(start_engine), FLOW, actions)
    assert answer["accepted"] == 0
    assert answer["message"]
    assert refused.items() <= answer.items()


def test_without_a_table_the_card_says_so(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({}, {"mode": "io"}, [stream(0)]))
    assert "no flow table" in create(engine, FLOW, "mark id 7")["message"]


def test_a_mistake_is_named_at_its_word(start_engine: StartEngine) -> None:
    engine = start(start_engine)
    with pytest.raises(
        TelemetryError, match=r"column 35: expected an IPv4 address, not \"16.0.0\""
    ):
        ask(engine, "/linerate/flow/validate,e0 ingress pattern eth / ipv4 src is 16.0.0 / end")
    with pytest.raises(TelemetryError, match="expected PORT RULE"):
        ask(engine, "/linerate/flow/validate,e9 ingress pattern end actions drop / end")
