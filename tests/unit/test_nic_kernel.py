"""`linerate nic probe kernel:…`: tc and ethtool, against a kernel that is a dictionary."""

import io
import json
import re
from subprocess import CompletedProcess

import pytest
from rich.console import Console

from linerate.base.published import plain
from linerate.experiments.nic_probe import kernel_probing
from linerate.experiments.nic_probe.kernel_port import KernelPort, reason
from linerate.experiments.nic_probe.kernel_sender import _with_tag
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_frames import FRAMES
from linerate.model.flow_rule_matching import matches
from linerate.model.kernel_rules import BEHIND, COLUMNS, PATTERNS, PRIORITY
from linerate.report import kernel_probe

EACH = 8
TEXTS = {one.name: one.text for one in flow_rule_patterns.PATTERNS}
BY_FLOWER = {one.flower: one.name for one in PATTERNS}
BY_NTUPLE = {one.ntuple: one.name for one in PATTERNS if one.ntuple}
NO_HARDWARE = "RTNETLINK answers: Operation not supported\nWe have an error talking to the kernel\n"


def done(code=0, out="", err=""):
    return CompletedProcess([], code, out, err)


class Kernel:
    """One interface; `faults` are what it does not as it says."""

    each = EACH

    def __init__(self, *faults, hardware=True, ntuple=True):
        self.faults = faults
        self.hardware = hardware
        self.has_ntuple = ntuple
        self.clsact = False
        self.filters = {}
        self.rules = {}
        self.hits = {}
        self.made = 0
        self.many = []

    def __call__(self, _netns, command, text="", seconds=30.0):
        program, *words = command
        return (self._tc if program == "tc" else self._ethtool)(words, text)

    def _tc(self, words, text):
        if words[0] == "qdisc":
            return self._qdisc(words[1])
        if words[:2] == ["-b", "-"]:
            self.many += text.splitlines()
            self.filters[PRIORITY] = self.many[-1]
            return done()
        if "show" in words:
            if "prio" not in words:
                return done(out="\n".join(self.filters.values()))
            return done(out=json.dumps(self._shown(int(words[-1]))))
        priority = int(words[words.index("prio") + 1])
        if words[1] == "del":
            return done(0 if self.filters.pop(priority, None) else 2)
        return self._add(priority, " ".join(words[words.index("protocol") + 1 :]))

    def _qdisc(self, verb):
        if verb == "show":
            return done(out="qdisc clsact ffff: parent ffff:fff1" if self.clsact else "")
        self.clsact = verb == "add"
        return done()

    def _add(self, priority, rule):
        assert self.clsact
        if "skip_sw" in rule and not self.hardware:
            return done(2, err=NO_HARDWARE)
        if "queue_mapping" in rule:
            return done(2, err="Error: Conflict between queue and class.\nWe have an error")
        self.filters[priority] = rule
        self.hits[priority] = 0
        return done()

    def _shown(self, priority):
        if priority not in self.filters:
            return []
        in_hw = "skip_sw" in self.filters[priority]
        stats = {"packets": self.hits.get(priority, 0)}
        options = {"in_hw" if in_hw else "not_in_hw": True, "actions": [{"stats": stats}]}
        return [{"protocol": "ip"}, {"protocol": "ip", "options": options}]

    def _ethtool(self, words, _text):
        if words[0] == "-i":
            return done(out="driver: fake\nversion: 1\n")
        if words[0] == "-n":
            rows = (f"Filter: {number}\n\tRule Type: UDP\n\tSrc IP addr: {rule}\n"
                    for number, rule in self.rules.items())  # fmt: skip
            return done(out="4 RX rings available\n" + "\n".join(rows))
        if words[2] == "delete":
            return done(0 if self.rules.pop(int(words[3]), None) else 1)
        if not self.has_ntuple:
            return done(1, err="rmgr: Cannot insert RX class rule: Operation not supported\n")
        self.made += 1
        self.rules[self.made] = " ".join(words[3:])
        return done(out=f"Added rule with ID {self.made}\n")

    def _for(self, frame, text, names):
        pattern = names[max((one for one in names if text.startswith(f"{one} ")), key=len)]
        wide = "wide" in self.faults and frame.protocol == "udp"
        return wide or matches(TEXTS[pattern], frame) is True

    def round(self, frames):
        came = {}
        for frame in frames:
            hardware = [(rule, BY_NTUPLE, "action -1") for rule in self.rules.values()]
            ours = self.filters.get(PRIORITY, "")
            if "skip_sw" in ours:
                hardware.append((ours, BY_FLOWER, "action drop"))
            if "idle" not in self.faults and any(
                drop in rule and self._for(frame, rule, names) for rule, names, drop in hardware
            ):
                continue
            came[frame.name] = EACH
            hit = "skip_hw" in ours and self._for(frame, ours, BY_FLOWER)
            self.hits[PRIORITY] = self.hits.get(PRIORITY, 0) + EACH * hit
            if BEHIND in self.filters and not (
                hit and "drop" in ours and "leaks" not in self.faults
            ):
                self.hits[BEHIND] += EACH
        return came


def probed(kernel, sender=True):
    port = KernelPort("eth0", kernel)
    found = kernel_probing.probe(port, kernel if sender else None, 50, lambda *_: None)
    assert (kernel.filters, kernel.rules) == ({}, {})
    return found, {(c.pattern.name, c.way, c.action): c for c in found.cells}


def shown(found):
    file = io.StringIO()
    kernel_probe.show(Console(file=file, width=80), found)
    text = file.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 80
    return text


def test_patterns_have_their_words():
    assert {one.name for one in PATTERNS} <= TEXTS.keys()
    assert len({one.flower for one in PATTERNS}) == len(PATTERNS)
    assert len(COLUMNS) == 10


def test_a_driver_that_keeps_its_word():
    kernel = Kernel()
    found, cells = probed(kernel)
    assert kernel.clsact is False
    assert (found.driver, found.leftovers) == ("fake", 0)
    for way in ("tc skip_hw", "tc skip_sw", "ntuple"):
        assert cells["ipv4 udp flow", way, "drop"].acting.outcome == "acts", way
    assert cells["ipv4 udp flow", "tc skip_hw", "pass"].acting.outcome == "acts"
    assert cells["ipv4 udp flow", "tc skip_sw", "drop"].in_hw is True
    assert cells["ipv4 udp flow", "tc skip_hw", "drop"].in_hw is False
    assert cells["mpls label", "ntuple", "drop"].refused == kernel_probing.NO_SUCH_RULE
    assert cells["eth dst", "tc skip_hw", "queue"].refused == "Conflict between queue and class"
    assert [(one.way, one.rules) for one in found.rates] == [("tc skip_hw", 50), ("tc skip_sw", 50)]
    assert len(set(kernel.many)) == 100
    text = shown(found)
    assert "rules of the kernel on eth0, driver fake" in text
    assert "50 rules made by one tc -b" in text
    document = plain(kernel_probe.output(found))
    assert document["table"][0]["acts"] == {"outcome": "acts", "detail": ""}


def test_hardware_that_takes_and_ignores():
    found, cells = probed(Kernel("idle"))
    for way in ("tc skip_sw", "ntuple"):
        one = cells["ipv4 udp flow", way, "drop"].acting
        assert (one.outcome, one.detail) == ("does nothing", "0 of 24 dropped")
    assert cells["ipv4 udp flow", "tc skip_hw", "drop"].acting.outcome == "acts"
    assert "idle" in shown(found)


def test_rules_that_others_feel():
    found, cells = probed(Kernel("wide"))
    for way in ("tc skip_sw", "ntuple"):
        one = cells["ipv4 tcp flow", way, "drop"].acting
        assert one.outcome == "acts on others"
        assert "felt by: " in one.detail
    counted = cells["ipv4 tcp flow", "tc skip_hw", "drop"].acting
    assert counted.outcome == "acts on others"
    assert re.search(r"\d+ packets more", counted.detail)
    assert "wide" in shown(found)


def test_a_filter_that_counts_and_lets_pass():
    _, cells = probed(Kernel("leaks"))
    one = cells["ipv4 udp flow", "tc skip_hw", "drop"].acting
    assert (one.outcome, one.detail) == ("acts in part", "24 of 24 counted, 0 dropped")


def test_a_kernel_driver_without_hardware_rules():
    found, cells = probed(Kernel(hardware=False, ntuple=False), sender=False)
    assert cells["ipv4", "tc skip_sw", "drop"].refused == "Operation not supported"
    assert cells["ipv4 udp flow", "ntuple", "drop"].refused == (
        "Cannot insert RX class rule: Operation not supported"
    )
    assert cells["ipv4", "tc skip_hw", "drop"].acting.detail == kernel_probing.NO_PEER
    assert "not tried, " in shown(found)


def test_what_a_killed_probe_left_is_removed():
    kernel = Kernel()
    kernel.clsact = True
    kernel.filters[PRIORITY] = "ip flower skip_hw action drop"
    kernel.rules[7] = "198.18.0.1 mask: 0.0.0.0"
    kernel.rules[8] = "192.0.2.1 mask: 0.0.0.0"
    with KernelPort("eth0", kernel).prepared() as leftovers:
        assert leftovers == 2
    assert kernel.rules == {8: "192.0.2.1 mask: 0.0.0.0"}
    assert kernel.filters == {}
    assert kernel.clsact is False


def test_others_filters_stay():
    kernel = Kernel()
    kernel.clsact = True
    kernel.filters[10] = "ip flower action drop"
    with KernelPort("eth0", kernel).prepared() as leftovers:
        assert leftovers == 0
    assert kernel.clsact
    assert list(kernel.filters) == [10]


def test_nothing_is_left_when_interrupted():
    kernel = Kernel()
    port = KernelPort("eth0", kernel)

    def step(_text, done_):
        if done_ == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kernel_probing.probe(port, None, 5, step)
    assert (kernel.filters, kernel.clsact) == ({}, False)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Error: TC classifier not found.\nWe have an error talking to the kernel\n",
         "TC classifier not found"),
        (NO_HARDWARE, "Operation not supported"),
        ('Unknown action "skbedit"\n', 'Unknown action "skbedit"'),
        ("", "no reason given"),
        ("odd\nlines\n", "odd"),
    ],
)  # fmt: skip
def test_reasons_are_the_kernels_words(text, line):
    assert reason(text) == line


def test_a_tag_that_the_kernel_took_off_is_put_back():
    tagged = next(frame for frame in FRAMES if frame.name == "VLAN 100").encode()
    untagged = tagged[:12] + tagged[16:]
    auxdata = (0x10).to_bytes(4, "little") + bytes(12) + (100).to_bytes(2, "little") + bytes(2)
    assert _with_tag(untagged, [(263, 8, auxdata)]) == tagged
    assert _with_tag(untagged, []) == untagged
