"""`linerate nic probe` on the virtual card, from the command line."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.schemas import valid_result
from tests.system.conftest import StartEngine

from linerate.engine import engine_process

RULE = (
    "flow create 0 ingress pattern eth / ipv4 src is 10.10.10.30 dst is 10.10.10.10 / "
    "tcp src is 50560 dst is 102 / end actions queue index 1 / mark id 1 / end"
)


def probe(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "linerate", "nic", "probe", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=None,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert not [name for name in engine_process.live_engines() if name.startswith("nic-probe")]
    return done


def document(*arguments: str, code: int = 0) -> dict[str, Any]:
    answer: dict[str, Any] = valid_result(
        "nic-probe-rule" if "--rule" in arguments else "nic-probe",
        probe(*arguments, "--json", code=code).stdout,
    )
    return answer


def made(table: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(row["pattern"], row["actions"]) for row in table if row["created"]}


@pytest.mark.smoke
def test_a_card_takes_flows_until_it_is_full() -> None:
    card = 'card:{"capacity": 100, "guaranteed": 100, "programming_us": 0}'
    found = document(card, "--no-frames")
    flows = {
        *("vlan id, ipv4 udp flow", "ipv4 udp flow", "ipv4 tcp flow", "ipv4 sctp flow"),
        *("ipv4 icmp echo", "ipv6 udp flow", "ipv6 tcp flow"),
    }
    actions = {"queue", "mark", "mark+q", "cnt+q", "drop", "rss"}
    assert made(found["table"]) == {(flow, action) for flow in flows for action in actions}
    assert all(row["reason"]["message"] for row in found["table"] if not row["created"])
    rules = found["rules"]
    assert (rules["created"], rules["before_first_refusal"], rules["full"]) == (100, 100, True)
    assert rules["first_refusal"]["errno"] == "ENOSPC"
    assert rules["create"]["count"] == rules["remove"]["count"] == 100


def test_programming_takes_its_time() -> None:
    rules = document("card:x710", "--rule", RULE)["rules"]
    for what in ("create", "remove"):
        assert rules[what]["min_us"] >= 11_000
    assert rules["create"]["count"] == 100


def test_beyond_the_guaranteed_rules_collide() -> None:
    card = 'card:{"capacity": 1000, "guaranteed": 50, "programming_us": 0}'
    rules = document(card, "--no-frames")["rules"]
    assert 50 <= rules["before_first_refusal"] < rules["created"] <= 1000
    assert "collision" in rules["first_refusal"]["message"]


@pytest.mark.parametrize("refused", ["tcp", "mark", "all"])
def test_what_a_card_refuses_is_in_the_table(refused: str) -> None:
    table = document(
        f'card:{{"refuse": "{refused}", "programming_us": 0}}', "--max-rules", "1", "--no-frames"
    )
    rows = made(table["table"])
    if refused == "all":
        assert not rows
        assert table["rules"] is None
    else:
        assert rows
        assert not any(refused in f"{pattern} {actions}" for pattern, actions in rows)


def test_the_table_fits_the_screen() -> None:
    shown = probe("card", "--max-rules", "20").stdout
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "rules that fit: at least 20 (no more were tried)" in shown


def test_one_rule_is_tried() -> None:
    assert probe("card", "--rule", RULE).stdout.startswith("accepted\n")
    refused = probe("card", "--rule", RULE.replace("mark id 1", "jump group 1"), code=1).stdout
    assert "refused: action, action jump" in refused


def test_a_wrong_word_is_pointed_at() -> None:
    output = probe("card", "--rule", RULE.replace("src is 50560", "sorc is 50560"), code=2).stderr
    line, caret, expected = output.splitlines()
    assert line[caret.index("^") :].startswith("sorc")
    assert 'expected src, dst, flags or /, not "sorc"' in expected


def test_a_device_without_rules_says_so() -> None:
    found = document("net_null0", "--max-rules", "1")
    assert found["rules"] is None
    reasons = {row["reason"]["message"] for row in found["table"]}
    assert reasons == {"the device's driver takes no rte_flow rules"}


def test_a_running_engine_is_only_asked(start_engine: StartEngine) -> None:
    # It sleeps until frames come: what polls would leave the probe little of the CPU.
    config = {
        "memory": {"megabytes": 160},
        "cards": [{"name": "card0", "flow_table": {"programming_us": 0}}],
        "ports": [{"name": "e0", "driver": "card", "card": "card0", "index": 0}],
        "forwarder": {"mode": "rxonly", "ports": ["e0"], "rx_mode": "interrupt"},
    }
    running = start_engine(config)
    with running.connect() as telemetry:
        kept = telemetry.ask(f"/linerate/flow/create,e0 {RULE.replace('index 1', 'index 0')}")
        asked = document("e0", "--engine", running.name)
        assert asked["rules"] is None
        assert not made(asked["table"])
        assert any(row["validated"] for row in asked["table"])
        tried = document("e0", "--engine", running.name, "--create", "--max-rules", "30")
        assert tried["rules"]["created"] == 30
        # The rule that stood before stands.
        assert telemetry.ask("/linerate/flow/list,e0")["id"] == [kept["id"]]


def test_no_such_port() -> None:
    assert "'e77': expected card, card:PRESET" in probe("e77", code=2).stderr


def acts(found: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Outcome of each rule that could be made."""
    return {
        (row["pattern"], row["actions"]): row["acts"]["outcome"]
        for row in found["table"]
        if row["acts"] is not None
    }


def test_rules_of_an_honest_card_act() -> None:
    found = document('card:{"capacity": 64, "guaranteed": 64, "programming_us": 0}')
    outcomes = acts(found)
    assert outcomes.keys() == made(found["table"])
    assert set(outcomes.values()) == {"acts"}


@pytest.mark.parametrize(
    ("ignored", "column", "outcome"),
    [
        ("drop", "drop", "does nothing"),
        ("mark", "mark", "does nothing"),
        ("queue", "queue", "does nothing"),
        ("rss", "rss", "does nothing"),
        ("count", "cnt+q", "acts in part"),
        ("ports", "drop", "acts on others"),
    ],
)
def test_a_card_that_lies_is_caught(ignored: str, column: str, outcome: str) -> None:
    card = {"capacity": 8, "guaranteed": 8, "programming_us": 0, "ignore": ignored}
    outcomes = acts(document(f"card:{json.dumps(card)}"))
    assert outcomes["ipv4 udp flow", column] == outcome
    if ignored != "ports":
        others = {found for (_, actions), found in outcomes.items() if ignored[:3] not in actions}
        assert "acts on others" not in outcomes.values()
        assert "acts" in others


def test_a_silent_card_does_nothing() -> None:
    card = '{"capacity": 8, "guaranteed": 8, "programming_us": 0, "silent": true}'
    found = acts(document(f"card:{card}"))
    assert set(found.values()) == {"does nothing"}


def test_without_a_peer_it_says_so() -> None:
    found = document("net_null0", "--max-rules", "1")
    assert acts(found) == {}
    shown = probe("card", "--max-rules", "1", "--no-frames").stdout
    assert "tried with frames" not in shown


def test_a_page_is_written(tmp_path: Path) -> None:
    page = tmp_path / "probe.html"
    probe("card", "--max-rules", "20", "--no-frames", "--html", str(page))
    assert "µs to create a rule" in page.read_text()


@pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in ("ip", "tc", "ethtool")),
    reason="needs root, ip, tc and ethtool",
)
def test_a_kernel_interface_is_left_as_it_was() -> None:
    here, there = f"nk{os.getpid()}a", f"nk{os.getpid()}b"
    link = ["ip", "link"]
    subprocess.run([*link, "add", here, "type", "veth", "peer", "name", there], check=True)
    try:
        for name in (here, there):
            subprocess.run([*link, "set", name, "up"], check=True)
        shown = probe(f"kernel:{here}", "--peer", there, "--max-rules", "20", "--json").stdout
        found: dict[str, Any] = valid_result("nic-probe-kernel", shown)
        filters = subprocess.run(
            ["tc", "qdisc", "show", "dev", here], capture_output=True, text=True, check=True
        ).stdout
    finally:
        subprocess.run([*link, "del", here], check=True)
    assert found["driver"] == "veth"
    assert "clsact" not in filters
    # veth has no flow table: a kernel has flower or not, and says which.
    assert not any(row["in_hw"] for row in found["table"])
    assert all(row["reason"] for row in found["table"] if not row["accepted"])
    tried = [row["acts"]["outcome"] for row in found["table"] if row["acts"] is not None]
    assert set(tried) <= {"acts", "not tried"}


def test_no_such_interface() -> None:
    assert "'nk-none': no such interface" in probe("kernel:nk-none", code=2).stderr
