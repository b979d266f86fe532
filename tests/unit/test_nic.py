"""`linerate nic probe`: what is tried, how it is counted, and that nothing is left behind."""

import io

import pytest
from rich.console import Console

from linerate.base.published import plain
from linerate.experiments.nic_probe import opening, probing
from linerate.experiments.nic_probe.probing import FULL_AFTER, REMOVED_SINGLY
from linerate.experiments.nic_probe.rules import RuleTextError
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_results import Answer, Batch, Refusal, times
from linerate.model.loss_causes import cause_of
from linerate.report import nic_probe

FULL = Refusal("ENOSPC", "unspecified", "", "the flow table is full")
NO_JUMP = Refusal("ENOTSUP", "action", "action jump", "no jumps " + "at all " * 20)


class Nic:
    """Takes a limited number of rules, none with a jump.

    Creating takes as many ns as there are rules.
    """

    def __init__(self, capacity, refuse_on_create=()):
        self.capacity = capacity
        self.refuse_on_create = refuse_on_create
        self.standing = {}
        self.made = 0
        self.flushed = 0

    def validate(self, rule):
        return Answer(1, NO_JUMP if "jump" in rule else None)

    def create(self, rule):
        assert rule not in self.standing.values(), "twice the same flow"
        if len(self.standing) >= self.capacity or any(w in rule for w in self.refuse_on_create):
            return Answer(5, FULL)
        self.made += 1
        self.standing[self.made] = rule
        return Answer(len(self.standing), rule=self.made)

    def destroy(self, rule):
        return Answer(3, None if self.standing.pop(rule, None) else FULL)

    def flush(self):
        self.flushed += 1
        self.standing.clear()
        return Answer(9)


def no_step(_text, _done):
    pass


def nth(number):
    flow = flow_rule_patterns.nth_flow(flow_rule_patterns.PATTERNS[12].text, number)
    return flow_rule_patterns.rule(flow, "mark id 1")


def summed_up(ns):
    found = times(ns)
    assert found is not None
    return found


def best_of(cells):
    found = probing.best(cells)
    assert found is not None
    return found.pattern.name, found.actions.name


def configured(target, queues=None):
    found = opening.config_of(target, queues)
    assert found is not None
    return found


def printed(print_it, *arguments):
    file = io.StringIO()
    print_it(Console(file=file, width=80), *arguments)
    return file.getvalue()


@pytest.mark.parametrize("name", flow_rule_patterns.FLOWS)
def test_flows_are_all_different(name):
    pattern = next(one.text for one in flow_rule_patterns.PATTERNS if one.name == name)
    assert (
        len({flow_rule_patterns.nth_flow(pattern, number) for number in range(100_000)}) == 100_000
    )


def test_every_name_is_there_once():
    for words in (flow_rule_patterns.PATTERNS, flow_rule_patterns.ACTIONS):
        assert (
            len({word.name for word in words}) == len({word.text for word in words}) == len(words)
        )
    known = {one.name for one in flow_rule_patterns.PATTERNS}
    assert set(flow_rule_patterns.FLOWS) <= known
    assert set(flow_rule_patterns.FLOW_ACTIONS) <= {one.name for one in flow_rule_patterns.ACTIONS}


def test_ranks_are_nearest():
    summed = summed_up([40, 10, 30, 20])
    assert (summed.min, summed.median, summed.p99, summed.max) == (10, 20, 40, 40)
    assert summed_up(list(range(1, 201))).p99 == 198
    assert times([]) is None


def test_filling_finds_the_capacity_and_removes_all():
    nic = Nic(70)
    filling = probing.fill(nic, nth, 1000, no_step, flush=False)
    assert (filling.created, filling.before_first_refusal, filling.full) == (70, 70, True)
    assert filling.first_refusal == FULL
    assert (len(filling.create_ns), len(filling.remove_ns)) == (70, 70)
    assert nic.standing == {}
    assert nic.flushed == 0


def test_filling_is_bounded():
    nic = Nic(10_000)
    filling = probing.fill(nic, nth, REMOVED_SINGLY + 5, no_step, flush=True)
    assert (filling.created, filling.before_first_refusal, filling.full) == (
        REMOVED_SINGLY + 5,
        None,
        False,
    )
    assert len(filling.remove_ns) == REMOVED_SINGLY
    assert (nic.standing, nic.flushed) == ({}, 1)


def test_a_refusal_in_between_does_not_end_it():
    nic = Nic(1000, refuse_on_create=(" src is 198.18.158.",))
    filling = probing.fill(nic, nth, 500, no_step, flush=False)
    assert filling.created == 500
    assert filling.before_first_refusal == 1
    assert not filling.full
    assert FULL_AFTER > 1


@pytest.mark.parametrize("flush", [False, True])
def test_nothing_is_left_when_interrupted(flush):
    nic = Nic(1000)

    def interrupt(_text, done):
        if done == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probing.fill(nic, nth, 1000, interrupt, flush=flush)
    assert nic.standing == {}
    assert nic.flushed == flush


def test_one_rule_many_times():
    nic = Nic(1)
    filling = probing.repeat(nic, nth(0), no_step)
    assert len(filling.create_ns) == len(filling.remove_ns) == probing.REPEATS
    assert nic.standing == {}
    refused = probing.repeat(Nic(0), nth(0), no_step)
    assert (refused.created, refused.first_refusal) == (0, FULL)


def test_asking_makes_nothing():
    nic = Nic(1000)
    cells = probing.table(nic, probing.ask, no_step)
    assert nic.made == 0
    assert len(cells) == len(flow_rule_patterns.PATTERNS) * len(flow_rule_patterns.ACTIONS)
    assert probing.best(cells) is None
    shown = printed(nic_probe.print_table, cells)
    assert "valid" in shown
    assert "yes  " not in shown


def test_the_table_says_why_and_fits_the_screen():
    nic = Nic(1000, refuse_on_create=("drop",))
    cells = probing.table(nic, probing.make, no_step)
    assert nic.standing == {}
    shown = printed(nic_probe.print_table, cells)
    assert max(len(line) for line in shown.splitlines()) <= 80
    row = next(line for line in shown.splitlines() if line.startswith("ipv4 udp flow"))
    assert row.split()[3:] == ["yes"] * 5 + ["a!", "yes", "b", "yes"]
    assert f"b {len(flow_rule_patterns.PATTERNS)}× action, action jump: no jumps" in shown
    assert best_of(cells) == ("ipv4 udp flow", "mark+q")
    document = plain(nic_probe.probe_output("card", cells, None))["table"]
    refused = [row for row in document if row["reason"] and row["actions"] == "drop"]
    assert all(row["validated"] and not row["created"] for row in refused)


def test_the_best_rule_is_one_that_was_made():
    cells = probing.table(Nic(9, refuse_on_create=("mark", "udp")), probing.make, no_step)
    assert best_of(cells) == ("ipv4 tcp flow", "queue")


def test_filling_is_printed():
    shown = printed(nic_probe.print_filling, probing.fill(Nic(70), nth, 999, no_step, flush=True))
    assert "rules that fit: 70 before one was refused, 70 in all" in shown
    assert "the flow table is full (ENOSPC)" in shown
    assert "create" in shown
    assert "remove" in shown
    shown = printed(nic_probe.print_filling, probing.fill(Nic(70), nth, 9, no_step, flush=True))
    assert "at least 9 (no more were tried)" in shown


def test_reasons_have_letters():
    assert [nic_probe.letter(n) for n in (0, 25, 26, 27, 52, 701, 702)] == [
        *("a", "z", "aa", "ab", "ba", "zz", "aaa")
    ]


@pytest.mark.parametrize("column", [1, 20, 90, 180, 201])
def test_the_caret_stands_beneath_the_word(column):
    text = "".join(chr(ord("!") + index % 90) for index in range(200))
    line, caret, message = RuleTextError(text, column, "expected more").shown().splitlines()
    assert len(line) <= 80
    assert message == "expected more"
    at = caret.index("^")
    if column <= len(text):
        assert line[at] == text[column - 1]
    else:
        assert at == len(line)


def test_what_port_names():
    table = configured("card:x710")["cards"][0]["flow_table"]
    assert table == {"preset": "x710"}
    table = configured('card:{"capacity": 5}')["cards"][0]["flow_table"]
    assert table == {"capacity": 5} == configured('{"capacity": 5}', 2)["cards"][0]["flow_table"]
    port = configured("net_tap0,iface=x,mac=fixed", 2)["ports"][0]
    assert (port["device"], port["devargs"], port["rx_queues"]) == (
        "net_tap0",
        "iface=x,mac=fixed",
        2,
    )
    for device, whole in (
        ("0000:05:00.0", "0000:05:00.0"),
        ("05:00.1", "0000:05:00.1"),
        ("net_null0", "net_null0"),
    ):
        assert configured(device)["ports"][0]["device"] == whole
    assert opening.config_of("e0", None) is None


@pytest.mark.parametrize(
    ("target", "message"), [("card:x800", "expected x710, x710-patched or JSON"), ("{]", "JSON")]
)
def test_what_port_can_not_name(target, message):
    with pytest.raises(opening.TargetError, match=message):
        opening.config_of(target, None)


def test_what_a_rule_drops_is_configured():
    assert cause_of("card0 port 0: dropped by flow rule") == "configuration"


def test_a_batch_stands_beside_the_rules_made_one_by_one():
    filling = probing.fill(Nic(70), nth, 9, no_step, flush=True)
    filling.batch = Batch(1024, 1000, 1000, 10_000_000, 5_000_000)
    shown = printed(nic_probe.print_filling, filling)
    assert "asynchronous rte_flow API: 1,000 rules at 100,000 a second" in shown
    assert "removed at 200,000" in " ".join(shown.split())
    assert plain(nic_probe.filling_output(filling))["batch"]["create_per_s"] == 100_000
    none = Refusal("ENOTSUP", "unspecified", "", "the device's driver has none")
    filling.batch = Batch(0, 0, 0, 0, 0, none)
    shown = printed(nic_probe.print_filling, filling)
    assert "asynchronous rte_flow API: none (the device's driver has none)" in shown


class AsyncAlone:
    """Takes rules in batches, and none by itself."""

    def __init__(self, refusal=None):
        self.refusal = refusal

    def batch(self, _rule, count):
        return Batch(64, count, count, 1_000_000, 1_000_000, self.refusal)


def test_a_device_may_have_the_asynchronous_api_alone():
    cells = probing.table(Nic(0), probing.make, no_step)
    filling = probing.batch_alone(AsyncAlone(), cells, 1000)
    shown = printed(nic_probe.print_filling, filling)
    assert "rules that fit: 0 before one was refused, 0 in all" in shown
    assert "the flow table is full" in shown
    assert "1,000 rules at 1,000,000 a second" in shown
    assert probing.batch_alone(AsyncAlone(FULL), cells, 1000) is None
