"""Laws of the parsers of packet graphs, over what pasting does to an output."""

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.mangling import damaged, mangled, message, read

DATA = Path(__file__).parents[1] / "data"
CASES = sorted(
    path
    for start in ("cx5", "i226v", "riot", "vpp")
    for path in (DATA / "cases").glob(f"{start}*.txt")
)
PATHS = [*CASES, *sorted((DATA / "made").glob("*.txt"))]
CONTENTS = [path.read_text() for path in PATHS]
TEXTS = [pytest.param(path.read_text(), id=path.name) for path in PATHS]
FIGURES = ("workers", "losses", "rings", "ports", "doubts", "unread")


def test_there_are_cases():
    assert len(CASES) >= 9


@pytest.mark.parametrize("content", TEXTS)
@given(data=st.data())
@settings(max_examples=40)
def test_pasting_changes_nothing(content, data):
    pasted = data.draw(mangled(content))
    assert message(read(pasted), *FIGURES) == message(read(content), *FIGURES)


@pytest.mark.parametrize(("first", "second"), list(permutations(CASES, 2)))
def test_one_output_after_another(first, second):
    together = read(first.read_text() + second.read_text())
    for name in ("workers", "losses", "rings", "ports"):
        separate = [
            *getattr(read(first.read_text()), name),
            *getattr(read(second.read_text()), name),
        ]
        alike = {(part.quote.text, type(part).__name__) for part in separate}
        assert {(part.quote.text, type(part).__name__) for part in getattr(together, name)} == alike
    assert together.unread == ()


@given(data=st.data(), content=st.sampled_from(CONTENTS))
@settings(max_examples=300)
def test_damage_raises_nothing(data, content):
    text = data.draw(damaged(content))
    evidence = read(text)
    if evidence is not None:
        assert all(loss.packets >= 0 for loss in evidence.losses)


@given(content=st.text(max_size=400))
def test_any_text_raises_nothing(content):
    read(content)
