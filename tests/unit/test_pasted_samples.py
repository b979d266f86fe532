"""Laws over all published samples: pasting changes none, damage raises nothing."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.mangling import collapse_blanks, damaged, indent, message, read

PASTED = sorted((Path(__file__).parents[1] / "data" / "pasted").glob("*.txt"))
TEXTS = [pytest.param(path.read_text(), id=path.name) for path in PASTED]
FIGURES = ("workers", "losses", "rings", "ports", "testers", "cpu_times", "symbols", "traced_drops")


@pytest.mark.parametrize("content", TEXTS)
def test_something_is_read_and_blanks_change_nothing(content):
    evidence = read(content)
    assert any(getattr(evidence, name) for name in (*FIGURES, "pcie", "cpus", "doubts"))
    for mangle in (collapse_blanks, indent):
        pasted = "\r\n".join(mangle(content.splitlines()))
        assert message(read(pasted), *FIGURES) == message(evidence, *FIGURES)


@pytest.mark.parametrize("content", TEXTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damage_raises_nothing(content, data):
    evidence = read(data.draw(damaged(content)))
    if evidence is not None:
        assert all(loss.packets >= 0 for loss in evidence.losses)
