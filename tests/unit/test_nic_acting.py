"""Whether flow rules act: which frames a pattern is for, and what a NIC that lies is caught at."""

import io
import re
from collections import Counter

import pytest
from rich.console import Console
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.sctp import SCTP

from linerate.base.published import plain
from linerate.experiments.nic_probe import acting, peered
from linerate.experiments.nic_probe.opening import TargetError
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_acting import FLAG, Arrived, Seen
from linerate.model.flow_rule_frames import FRAMES
from linerate.model.flow_rule_matching import matches
from linerate.model.flow_rule_results import Answer, Cell, Filling, Refusal
from linerate.report import nic_page, nic_probe
from linerate.report.document import Figure
from linerate.report.render import html

EACH = 4
BY_NAME = {frame.name: frame for frame in FRAMES}
TEXTS = {one.name: one.text for one in flow_rule_patterns.PATTERNS}
BUSY = Refusal("EBUSY", "none", "", "not now")


class Nic:
    """A link to a NIC with a flow table as rte_flow means it, but for its `faults`."""

    each = EACH
    no_tags = ""

    def __init__(self, *faults, queues=4):
        self.faults = faults
        self.queues = queues
        self.standing = {}
        self.made = 0
        self.rounds = 0

    @property
    def rules(self):
        return self

    def validate(self, _rule):
        return Answer(1)

    def create(self, rule):
        if "refuses" in self.faults:
            return Answer(1, BUSY)
        self.made += 1
        self.standing[self.made] = rule
        return Answer(1, rule=self.made)

    def destroy(self, rule):
        del self.standing[rule]
        return Answer(1)

    def flush(self):
        self.standing.clear()
        return Answer(1)

    def _matches(self, pattern, frame):
        if "any port" in self.faults:
            pattern = re.sub(r"(udp|tcp|sctp) [^/]*", r"\1 ", pattern)
        return matches(pattern, frame) is True

    def send(self, rule):
        assert self.standing.keys() == ({rule} if rule is not None else set())
        self.rounds += 1
        came, counted = {}, 0
        text = self.standing.get(rule, "")
        pattern, _, actions = text.removeprefix("ingress pattern ").partition(" / end actions ")
        for number, frame in enumerate(FRAMES):
            if frame.name in self.faults:
                continue
            took = [w for w in ("mark", "flag", "queue", "drop", "count") if w in actions]
            if not rule or not self._matches(pattern, frame):
                took = []
            took = [word for word in took if f"ignores {word}" not in self.faults]
            counted += EACH * ("count" in took)
            if "drop" in took or ("loses" in self.faults and took):
                continue
            queue = number % self.queues
            if "queue" in took:
                queue = int(re.findall(r"queues? (?:index )?(\d+)", actions)[0])
            mark = 1 if "mark" in took else FLAG if "flag" in took else None
            came[frame.name] = [Arrived(queue, mark, EACH)]
        if "unsteady" in self.faults and self.rounds % 2 == 0:
            came.pop("udp", None)
        return Seen(came, 0, counted + ("counts more" in self.faults) if rule else None)


def outcomes(nic):
    cells = [
        Cell(pattern, actions, None, None, created=True)
        for pattern in flow_rule_patterns.PATTERNS
        for actions in flow_rule_patterns.ACTIONS
    ]
    found = acting.tried(cells, nic, lambda _text, _done: None)
    assert nic.standing == {}
    return {(cell.pattern.name, cell.actions.name): cell.acting for cell in found}, found


def counts(found):
    return Counter(one.outcome for one in found.values())


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.name)
def test_frames_are_what_they_say(frame):
    data = frame.encode()
    assert len(data) == 96
    parsed = Ether(data)
    kinds = [kind for kind, _ in frame.headers]
    names = {"Ethernet": "eth", "802.1Q": "vlan", "MPLS": "mpls", "IP": "ipv4", "IPv6": "ipv6"}
    layers = [names.get(layer().name, layer().name.lower()) for layer in parsed.layers()]
    assert layers[: len(kinds)] == kinds
    assert (MPLS in parsed, SCTP in parsed) == ("mpls" in kinds, "sctp" in kinds)
    for layer in (IP, UDP, TCP, ICMP):
        if layer in parsed:
            was = parsed[layer].chksum
            del parsed[layer].chksum
            assert Ether(parsed.build())[layer].chksum == was


def test_each_pattern_is_for_some_frames_and_not_for_others():
    assert len({frame.encode() for frame in FRAMES}) == len(BY_NAME) == len(FRAMES)
    for name, text in TEXTS.items():
        answers = {matches(text, frame) for frame in FRAMES}
        assert True in answers, name
        assert (False in answers) == (name != "eth"), name


@pytest.mark.parametrize(
    ("pattern", "frames"),
    [
        ("eth dst", ["MAC …:01"]),
        ("eth type", ["type 0x88b5"]),
        ("vlan id, ipv4 udp flow", ["udp in VLAN 100"]),
        ("mpls label", ["udp behind label 16", "udp from .2 behind label 16"]),
        ("mpls, ipv4 addresses", ["udp behind label 16"]),
        ("ipv4 tos", ["udp with TOS 0x2e"]),
        ("ipv4 tcp flow, flags", ["tcp SYN"]),
        ("ipv4 tcp flow", ["tcp", "tcp SYN"]),
        ("udp dst mask", ["udp to port 1100"]),
        ("udp dst range", ["udp to port 1100", "udp to port 1300"]),
        ("ipv4 icmp echo", ["icmp echo"]),
        ("ipv6 tcp flow", ["ipv6 tcp"]),
    ],
)
def test_a_pattern_is_for_these_alone(pattern, frames):
    assert [f.name for f in FRAMES if matches(TEXTS[pattern], f)] == frames


def test_tagged_frames_are_left_open():
    assert matches(TEXTS["ipv4 udp flow"], BY_NAME["udp in VLAN 100"]) is None
    assert matches(TEXTS["ipv4 udp flow"], BY_NAME["udp to port 13 in VLAN 100"]) is False
    assert matches(TEXTS["eth"], BY_NAME["VLAN 100"]) is True


def test_a_nic_that_keeps_its_word():
    found, _ = outcomes(Nic())
    assert counts(found) == {
        "acts": 24 * 7,
        "not tried": 24 * 2,
    }
    assert {one.detail for one in found.values()} == {"", "the action has no effect of its own"}


@pytest.mark.parametrize("word", ["mark", "drop", "count", "queue", "flag"])
def test_an_action_that_is_taken_and_ignored(word):
    found, cells = outcomes(Nic(f"ignores {word}"))
    column = {"mark": "mark", "drop": "drop", "count": "cnt+q", "queue": "queue", "flag": "flag+q"}
    outcome = "acts in part" if word in ("count", "flag") else "does nothing"
    assert found["ipv4 udp flow", column[word]].outcome == outcome
    if word != "queue":
        assert found["ipv4 udp flow", "queue"].outcome == "acts"
    mixed = found["ipv4 udp flow", "mark+q"]
    assert mixed.outcome == ("acts in part" if word in ("mark", "queue") else "acts")
    if word == "mark":
        assert re.fullmatch(r"0 of 12 marked, 12 of 12 moved to queue \d", mixed.detail)
    file = io.StringIO()
    console = Console(file=file, width=80)
    nic_probe.print_table(console, cells)
    nic_probe.print_acting(console, cells)
    shown = file.getvalue()
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert ("idle" if outcome == "does nothing" else "part") in shown
    assert "168 rules tried with frames: " in shown


def test_a_rule_that_acts_on_others():
    found, cells = outcomes(Nic("any port"))
    wide = found["ipv4 udp flow", "drop"]
    assert wide.outcome == "acts on others"
    assert wide.detail == (
        "12 of 12 dropped; felt by: udp from port 1026, udp to port 13, udp to port 1100 and 2 more"
    )
    assert found["ipv4 icmp echo", "drop"].outcome == "acts"
    rows = plain(nic_probe.probe_output("p", cells, None))["table"]
    row = next(r for r in rows if (r["pattern"], r["actions"]) == ("ipv4 udp flow", "drop"))
    assert row["acts"] == {"outcome": "acts on others", "detail": wide.detail}


def test_a_counter_must_be_exact():
    found, _ = outcomes(Nic("counts more"))
    # Tagged frames, for which drivers differ, leave no room where there are none.
    assert found["ipv4 tcp flow", "cnt+q"].outcome == "acts on others"
    assert "9 of 8 counted" in found["ipv4 tcp flow", "cnt+q"].detail
    assert found["ipv4 udp flow", "cnt+q"].outcome == "acts"


def test_a_rule_that_loses_what_it_is_for():
    found, _ = outcomes(Nic("loses"))
    assert (
        found["ipv4 udp flow", "mark"].detail
        == "0 of 12 marked, lost: udp, udp with TOS 0x2e, udp with TTL 1"
    )
    assert found["ipv4 udp flow", "drop"].outcome == "acts"


def test_one_queue_is_none_to_choose():
    found, _ = outcomes(Nic(queues=1))
    assert found["ipv4 udp flow", "queue"].detail == "the port has one rx queue: none to choose"
    assert found["ipv4 udp flow", "rss"].outcome == "not tried"
    assert found["ipv4 udp flow", "mark+q"].outcome == "acts"
    assert found["ipv4 udp flow", "drop"].outcome == "acts"


def test_what_does_not_arrive_can_not_be_tried():
    found, _ = outcomes(Nic("tcp SYN"))
    missing = found["ipv4 tcp flow, flags", "drop"]
    assert (missing.outcome, missing.detail) == (
        "not tried",
        "no frame that it is for arrives without it",
    )
    assert found["ipv4 tcp flow", "drop"].outcome == "acts"


def test_tags_that_say_nothing_are_not_tried():
    nic = Nic("ignores drop")
    nic.no_tags = "displaced"
    found, _ = outcomes(nic)
    assert found["vlan id", "drop"].detail == "displaced"
    assert found["ipv4 udp flow", "drop"].outcome == "does nothing"


def test_what_is_refused_later_is_not_tried():
    found, _ = outcomes(Nic("refuses"))
    assert found["ipv4 udp flow", "queue"].detail.startswith("refused with queue index ")
    assert set(counts(found)) == {"not tried"}


def test_a_verdict_must_hold_twice():
    found, _ = outcomes(Nic("unsteady"))
    assert "two rounds differ" in found["ipv4 udp flow", "mark"].detail
    assert counts(found)["acts on others"] == 0


class Interrupted(Nic):
    """Interrupted by its user, in the fourth round."""

    def send(self, rule):
        if self.rounds == 3:
            raise KeyboardInterrupt
        return super().send(rule)


def test_nothing_is_left_when_interrupted():
    nic = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        outcomes(nic)
    assert nic.standing == {}


def sender(target, peer):
    found = peered.peer_of(target, peer)
    assert found is not None
    return found


def test_who_sends():
    assert sender("card:x710", None)["driver"] == "wire"
    assert peered.peer_of("0000:05:00.0", None) is None
    tap = {"driver": "socket-single", "device": "tap7", "qdisc_bypass": False}
    assert sender("net_tap0,iface=tap7", None) == tap
    assert peered.peer_of("0000:05:00.0", "05:00.1") == {
        "driver": "ethdev",
        "device": "0000:05:00.1",
    }
    assert sender("0000:05:00.0", "eth1")["device"] == "eth1"
    memif = sender("net_memif0,role=server", "net_memif1,role=client")
    assert memif["devargs"] == "role=client"
    with pytest.raises(TargetError, match="--peer"):
        peered.peer_of("card", "eth1")


def test_a_page_has_the_rules_and_the_curve():
    found, cells = outcomes(Nic("ignores drop"))
    filling = Filling("rule", 100, 100, create_ns=list(range(22_000, 22_100)))
    document = nic_page.document("card", cells, filling)
    (curve,) = [one for one in document.sections if isinstance(one, Figure)]
    assert curve.plot is not None
    assert curve.plot["data"][0]["x"] == list(range(0, 100, 10))
    assert curve.plot["data"][1]["y"][-1] == 22.099
    page = html.page(document).html
    assert "are taken and do nothing" in page
    assert page.count("idle") >= 24
    assert "create-by-occupancy" in page
    assert list(nic_page.curve(Filling("rule", 1, 1, create_ns=[5]))) == []
    assert found["eth", "drop"].outcome == "does nothing"
