"""The user's own commands: counters by named groups or by a parser of ours, and what is refused."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from linerate.lab.box.access import BoxError
from linerate.lab.box.asked_box import running
from linerate.model import testbed
from linerate.model.box import Command
from linerate.model.loss_causes import cause_of
from linerate.parsers.boxes import Asked, UnreadableError, commands, find

PORTS = {"e0": "ether1", "e1": "ether2"}

#: RouterOS 7, `/interface print stats-detail`, in the form that MikroTik's manual shows.
ROUTEROS = """\
Flags: D - dynamic; X - disabled, R - running; S - slave; P - passthrough
 0  R   name="ether1" last-link-down-time=2022-07-19 12:37:06 last-link-up-time=2022-07-19 12:37:09
        link-downs=2
        rx-byte=205 164 277 tx-byte=147 977 500 rx-packet=158 254 tx-packet=150 156 tx-queue-drop=2
        fp-rx-byte=199 271 067 fp-tx-byte=0 fp-rx-packet=1 473 603 fp-tx-packet=0

 1  R   name="ether2" last-link-down-time=2022-07-19 12:46:06 last-link-up-time=2022-07-19 12:46:07
        link-downs=10
        rx-byte=32 400 148 tx-byte=335 690 764 rx-packet=19 tx-packet=216 509 tx-queue-drop=676
        fp-rx-byte=33 718 434 fp-tx-byte=67 fp-rx-packet=60 037 fp-tx-packet=1
"""
ROUTEROS_PATTERN = r"""(?x)
    name="ether1"[^"]*?\srx-packet=(?P<e0_rx_packets>[\d\ ]+)tx-packet=(?P<e0_tx_packets>[\d\ ]+)
        tx-queue-drop=(?P<e0_lost_tx_queue_drop>[\d\ ]+)
  | name="ether2"[^"]*?\srx-packet=(?P<e1_rx_packets>[\d\ ]+)tx-packet=(?P<e1_tx_packets>[\d\ ]+)
        tx-queue-drop=(?P<e1_lost_tx_queue_drop>[\d\ ]+)
"""

#: Junos, `show interfaces ge-0/0/0 extensive | no-more`.
JUNOS = """\
Physical interface: {name}, Enabled, Physical link is Up
  Traffic statistics:
   Input  bytes  :             16842752                    0 bps
   Output bytes  :                 8124                    0 bps
   Input  packets:               {input}                    0 pps
   Output packets:               {output}                    0 pps
   IPv6 transit statistics:
   Input  packets:                    0
   Output packets:                    0
  Input errors:
    Errors: 0, Drops: 0, Framing errors: 0, Runts: 0, Policed discards: 0, L3 incompletes: 0
  Output errors:
    Carrier transitions: 1, Errors: 0, Drops: {drops}, Collisions: 0, Aged packets: 0
  Logical interface {name}.0 (Index 70) (SNMP ifIndex 513)
    Traffic statistics:
     Input  packets:                    1
     Output packets:                    1
"""


def junos(port: str) -> str:
    return (
        rf"(?s)\AP.*?Input  packets:\s+(?P<{port}_rx_packets>\d+).*?"
        rf"Output packets:\s+(?P<{port}_tx_packets>\d+).*?"
        rf"Output errors:.*?Drops: (?P<{port}_lost_tx_drops>\d+)"
    )


def asked(*given: Command) -> Asked:
    return Asked(ports=PORTS, commands=given)


def counted(given: Asked, *texts: str):
    named = {f"command {number}": text for number, text in enumerate(texts, start=1)}
    return find("commands").counted(named, given)


def test_routeros_is_read_by_one_pattern():
    given = asked(Command(run="/interface print stats-detail", counters=ROUTEROS_PATTERN))
    found = counted(given, ROUTEROS)
    assert found.ports["e0"] == {"rx_packets": 158254, "tx_packets": 150156}
    assert found.ports["e1"] == {"rx_packets": 19, "tx_packets": 216509}
    assert found.losses == {"e0: tx queue drop": 2, "e1: tx queue drop": 676}
    assert cause_of("e1: tx queue drop") == "tx-ring"


def test_junos_is_read_by_a_command_for_each_port():
    given = asked(
        Command(run="show interfaces ge-0/0/0 extensive", counters=junos("e0")),
        Command(run="show interfaces ge-0/0/1 extensive", counters=junos("e1")),
    )
    found = counted(
        given,
        JUNOS.format(name="ge-0/0/0", input=5000, output=7, drops=0),
        JUNOS.format(name="ge-0/0/1", input=9, output=4000, drops=11),
    )
    assert found.ports["e0"] == {"rx_packets": 5000, "tx_packets": 7}
    assert found.ports["e1"] == {"rx_packets": 9, "tx_packets": 4000}
    assert found.losses == {"e0: tx drops": 0, "e1: tx drops": 11}


@pytest.mark.parametrize("text", ["1,234,567", "1 234 567", "1'234'567", "1234567"])
def test_digits_may_be_in_groups(text):
    pattern = r"lost: (?P<lost_by_acl>[\d,' ]+)$"
    losses = commands.read(
        {"command 1": f"lost: {text}"}, asked(Command(run="x", counters=pattern))
    )
    assert losses.losses == {"by acl": 1234567}


def test_all_matches_of_a_counter_are_added_up():
    given = asked(Command(run="x", counters=r"^queue \d+ drops (?P<e1_lost_queue_drops>\d+)"))
    found = commands.read({"command 1": "queue 0 drops 5\nqueue 1 drops 6\n"}, given)
    assert found.losses == {"e1: queue drops": 11}


def test_a_reason_that_is_not_printed_has_lost_nothing():
    given = asked(Command(run="x", counters=r"acl drops (?P<lost_acl>\d+)"))
    assert commands.read({"command 1": "no drops"}, given).losses == {"acl": 0}


def test_a_parser_of_ours_reads_a_command():
    text = (
        "                            RX-packets: 10         RX-dropped: 5\n"
        "   Count               Node              Reason               Severity\n"
        "        17         ip4-input         ip4 ttl <= 1             error\n"
    )
    given = asked(Command(run="show errors", parser="vpp_errors"))
    found = commands.read({"command 1": text}, given)
    assert list(found.losses.values()) == [17]


@pytest.mark.parametrize(
    ("given", "text", "words"),
    [
        (Command(run="x", counters=r"in (?P<e0_rx_packets>\d+)"), "out 5",
         "`x`: its counters match nothing in 1 lines: `out 5`"),
        (Command(run="x", parser="no_such"), "", r"no parser no_such; there are \w+, "),
        (Command(run="x", parser="vpp_errors"), "?", "parser vpp_errors finds nothing of its own"),
        (Command(run="x", counters=r"(?P<e0_rx_packets>\d+) (?P<e0_tx_packets>\d+)"), "1 2",
         r"no command of dut.commands counts e1_rx_packets \(port ether2\)"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(given, text, words):
    with pytest.raises(UnreadableError, match=words):
        counted(asked(given), text)


def test_a_command_that_failed_is_named():
    given = asked(Command(run="show x", counters=r"(?P<lost_acl>\d+)"))
    with pytest.raises(UnreadableError, match="`show x`: it failed"):
        commands.read({}, given)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "no regular expression"),
        (r"\d+", "expected a named group"),
        (r"(?P<packets>\d+)", "expected groups named e0_COUNTER"),
    ],
)
def test_patterns_are_checked_with_the_testbed(pattern, words):
    with pytest.raises(ValidationError, match=words):
        Command(run="x", counters=pattern)


def test_a_testbed_of_an_appliance():
    bed = testbed.parse(
        {
            "wire": "veth",
            "tester": {"interfaces": ["eth1", "eth2"]},
            "dut": {
                "kind": "commands",
                "at": "ssh://admin@router",
                "ports": [{"name": "ether1"}, {"name": "ether2"}],
                "macs": ["02:00:00:00:0e:00", "02:00:00:00:0e:01"],
                "commands": [{"run": "/interface print stats", "counters": r"(?P<lost_x>\d+)"}],
            },
        },
        "file",
    )
    assert bed.dut.is_box
    assert bed.dut.name == "commands"
    assert not find("commands").has_shell


def appliance(answer: Path) -> testbed.Dut:
    pattern = r"in (?P<e0_rx_packets>\d+) (?P<e1_rx_packets>\d+) out (?P<e0_tx_packets>\d+) (?P<e1_tx_packets>\d+)"
    return testbed.Dut.model_validate(
        {
            "kind": "commands",
            "at": "local",
            "ports": [{"name": "ether1"}, {"name": "ether2"}],
            "commands": [
                {"run": f"cat {answer}", "counters": pattern},
                {"run": f"cat {answer}", "counters": r"acl (?P<lost_denied_by_acl>\d+)"},
                {"run": f"cat {answer}"},
            ],
        }
    )


def test_an_appliance_is_asked_before_and_after(tmp_path: Path):
    answer = tmp_path / "answer"
    answer.write_text("in 10 0 out 0 10\nacl 1\n")
    with running(appliance(answer), ()) as box:
        before = box.readings(0)
        box.load_begins(100_000)
        answer.write_text("in 110 0 out 0 100\nacl 11\n")
        after = box.readings(0)
    lost = after.ledger.minus(before.ledger)
    assert lost.losses == {"denied by acl": 10}
    assert after.ports["e0"]["rx_packets"] - before.ports["e0"]["rx_packets"] == 100
    assert after.box is not None
    questions = [one.question for one in after.box.answers if one.moment == "after"]
    assert questions == ["command 1", "command 2", "command 3"]


def test_an_appliance_that_answers_something_else_is_named_in_one_line(tmp_path: Path):
    answer = tmp_path / "answer"
    answer.write_text("% Invalid input\n")
    with (
        running(appliance(answer), ()) as box,
        pytest.raises(BoxError, match="its counters match nothing in 1 lines: `% Invalid input`"),
    ):
        box.readings(0)
