"""Counters in a form that no parser knows: quoted, never judged; prose is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_text
from linerate.parsers.loose_counters import loose_counters
from linerate.parsers.text import text_of

UNKNOWN = "frames_lost_for_lack_of_magic: 41253\nframes_ok: 9000000\nthings_seen = 3\n"


def test_what_looks_like_a_loss_is_quoted():
    evidence = evidence_of_text(text_of(UNKNOWN, "x.txt"))
    assert evidence is not None
    found = explain(evidence)
    assert (found.limit, found.confidence) == ("unknown", "low")
    assert "`frames_lost_for_lack_of_magic: 41253` may be a loss, in an unknown form" in (
        found.sentence
    )


@pytest.mark.parametrize(
    "text",
    [
        "We lost 5 packets on Monday, and 3 on Tuesday.\nIt rained.\n",
        "import os\nERRORS = 5\n" + "def f(x):\n    return x\n" * 5,
        "",
        "hello\n",
        "one 1\ntwo 2\n",
    ],
)
def test_prose_and_programs_are_no_counters(text):
    assert loose_counters(text_of(text, "x")) is None


def test_nothing_lost_quotes_nothing():
    found = loose_counters(text_of("widgets: 4\ndrops: 0\nerrors: 0\ngadgets: 7\n", "x"))
    assert found is not None
    assert found.remarks == ()


@given(st.lists(st.tuples(st.sampled_from(["drops", "errors", "seen", "missed"]),
                          st.integers(0, 10**12)), min_size=3))  # fmt: skip
def test_it_never_names_a_limit(rows):
    text = "".join(f"zz_{name}_{number}: {value}\n" for number, (name, value) in enumerate(rows))
    evidence = loose_counters(text_of(text, "x"))
    assert evidence is not None
    assert explain(evidence).limit == "unknown"
