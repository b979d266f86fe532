"""Lines about long work for readers of a pipe; a start that failed leaves nothing."""

from types import SimpleNamespace

import pytest

from linerate.cli.run_into_folder import Piped, never_began
from linerate.model.testbed import Testbed, parse
from linerate.results.store import Run


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(s=100.0)
    monkeypatch.setattr("linerate.cli.run_into_folder.time.monotonic", lambda: now.s)
    return now


def test_a_line_now_and_then(clock, capsys):
    piped = Piped()
    for after_s, step in ((0, "U1"), (9, "U2"), (10, "U3"), (19, "U4"), (31, "B1")):
        clock.s = 100.0 + after_s
        piped.step(step)
    out, err = capsys.readouterr()
    assert not out
    assert err == "linerate: after 10 s: U3\nlinerate: after 31 s: B1\n"


@pytest.mark.parametrize(
    ("changes", "began"),
    [
        ({}, False),
        ({"results": ("one",)}, True),
        ({"ceilings": ("one",)}, True),
        ({"status": "interrupted"}, True),
        ({"testbed": "box"}, True),
    ],
)
def test_what_a_failed_start_is(changes, began):
    box = {
        "wire": "interfaces",
        "tester": {"interfaces": ["a", "b"]},
        "dut": {"kind": "linux", "macs": ["02:00:00:00:0e:00"] * 2,
                "ports": [{"name": "x"}, {"name": "y"}]},
    }  # fmt: skip
    testbed = parse(box, "x") if changes.pop("testbed", None) else Testbed()
    run = {"status": "failed", "results": (), "ceilings": (), "absent": (), "testbed": testbed}
    assert never_began(Run.model_construct(**run | changes)) != began
