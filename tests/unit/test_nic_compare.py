"""`linerate nic compare`: what a driver or firmware gained and lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.model.flow_rule_results import Filling
from linerate.results.nic_probes import NicProbe, NicProbeError, difference, read_nic_probe

REASON = {"errno": "ENOTSUP", "type": "item", "cause": "item mpls", "message": "no such item"}


def tried(pattern, created, reason=None, actions="mark"):
    return {"pattern": pattern, "actions": actions, "validated": created, "created": created,
            "reason": reason}  # fmt: skip


def probe(*table, **rules):
    return {"port": "0000:05:00.0", "table": list(table), "rules": rules or None}


def times(median, p99):
    return {"median_us": median, "p99_us": p99}


BEFORE = probe(
    tried("eth", False, REASON), tried("ipv4", True), tried("mpls", False, REASON),
    created=512, full=True, before_first_refusal=500, create=times(11000.0, 12000.0),
    remove=times(20.0, 30.0),
)  # fmt: skip
AFTER = probe(
    tried("eth", True), tried("ipv4", False, REASON),
    tried("mpls", False, REASON | {"message": "never"}),
    created=2048, full=True, before_first_refusal=500, create=times(22.0, 12000.0),
    remove=times(21.0, 30.0),
)  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(name, document):
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return path

    return write


def test_what_was_gained_and_lost(linerate, written):
    # One of an earlier release, and one in an envelope.
    enveloped = {"schema": "nic-probe", "version": 2, "result": AFTER}
    old, new = written("old.json", BEFORE), written("new.json", enveloped)
    done = linerate("nic", "compare", str(old), str(new), "--json")
    assert (done.returncode, done.stderr) == (1, "")
    document = json.loads(done.stdout)["result"]
    changes = {one["pattern"]: one["change"] for one in document["rules"]}
    assert changes == {"eth": "gained", "ipv4": "lost", "mpls": "another reason"}
    figures = {one["name"]: one["factor"] for one in document["figures"]}
    assert figures == {"rules that fit": 4.0, "create, median µs": 0.002}
    shown = linerate("nic", "compare", str(old), str(new)).stdout
    assert "3 rules tried in both: 1 gained, 1 lost, 1 another reason" in shown
    assert linerate("nic", "compare", str(new), str(new)).returncode == 0


def acted(outcome, detail=""):
    acts = {"outcome": outcome, "detail": detail}
    return probe(tried("ipv4", True, actions="drop") | {"acts": acts})


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("acts", "does nothing", "lost"),
        ("does nothing", "acts", "gained"),
        ("acts on others", "does nothing", "acts otherwise"),
        ("acts", "acts", None),
        ("acts", "not tried", None),
    ],
)
def test_a_rule_that_acts_no_more(linerate, written, before, after, change):
    old = written("old.json", acted(before))
    new = written("new.json", acted(after, "0 of 8 dropped"))
    done = linerate("nic", "compare", str(old), str(new), "--json")
    assert done.returncode == (change == "lost")
    rules = json.loads(done.stdout)["result"]["rules"]
    assert [one["change"] for one in rules] == ([change] if change else [])
    if change == "lost":
        assert rules[0]["before"] == "created, acts"
        assert rules[0]["after"] == "created, does nothing (0 of 8 dropped)"
    # A probe of an earlier release sent no frames.
    without = written("oldest.json", probe(tried("ipv4", True, actions="drop")))
    assert linerate("nic", "compare", str(without), str(new)).returncode == 0


def test_a_report_names_its_releases(linerate, written):
    def report(firmware, probed):
        driver = {"driver": "i40e", "firmware-version": firmware}
        return {"summary": [], "driver": driver, "host": {"kernel": "6.1"}, "probe": probed}

    old, new = written("a.json", report("6.01", BEFORE)), written("b.json", report("9.20", BEFORE))
    done = linerate("nic", "compare", str(old), str(new), "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)["result"]
    assert document["versions"] == [{"name": "firmware-version", "before": "6.01", "after": "9.20"}]
    assert document["rules"] == []


@pytest.mark.parametrize(
    "document", [[], {}, {"port": "p"}, {"port": "p", "table": []}, {"probe": None}, 3]
)
def test_what_is_no_probe_is_refused(written, document):
    with pytest.raises(NicProbeError, match="no probe of a NIC: expected what"):
        read_nic_probe(written("x.json", document))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.booleans())))
def test_a_probe_differs_from_itself_in_nothing(cells):
    table = [tried(name, made, None if made else REASON, act) for name, act, made in cells]
    made = NicProbe.model_validate(probe(tried("eth", True), *table))
    found = difference(made, made)
    assert (found.rules, found.figures, found.versions) == ((), (), ())


def test_times_by_occupancy_are_all_of_them():
    filling = Filling("rule", 100, create_ns=list(range(95)))
    parts = filling.create_by_occupancy()
    assert [start for start, _ in parts] == list(range(0, 95, 10))
    assert sum(part.count for _, part in parts) == 95
    assert [part.max for _, part in parts][:2] == [9, 19]
    assert Filling("rule", 100).create_by_occupancy() == ()
