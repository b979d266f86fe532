"""Readers of boxes' answers: any text is read, or refused in one line."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linerate.model.box import Answer, BoxAnswers, Command
from linerate.parsers.boxes import Asked, UnreadableError, box_evidence, kinds

RECORDED = sorted((Path(__file__).parents[1] / "data/boxes").glob("*/*.json"))
BOXES = [BoxAnswers.model_validate_json(path.read_text(encoding="utf-8")) for path in RECORDED]
SAMPLES = sorted({answer.text[:3000] for box in BOXES for answer in box.answers if answer.text})
PORTS = {"e0": "p0", "e1": "p1"}
COMMANDS = (
    Command(run="a", counters=r"(?P<e0_rx_packets>\d+)\s(?P<e0_tx_packets>\d+)\s(?P<lost_x>\w+)"),
    Command(run="b", counters=r"(?P<e1_rx_packets>\S+)\s(?P<e1_tx_packets>[\d,]+)"),
    Command(run="c", parser="ethtool_stats"),
)
ASKED = Asked(ports=PORTS, commands=COMMANDS)
#: Pieces of which answers are made, in any order.
PIECES = st.sampled_from([line for text in SAMPLES for line in text.splitlines()])
MADE = st.lists(PIECES | st.text(max_size=30), max_size=12).map("\n".join)


@st.composite
def answers(draw: st.DrawFn) -> str:
    """An answer as recorded, cut or with a few characters changed; or any lines."""
    text = draw(st.sampled_from(SAMPLES) | MADE)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        put = draw(st.text(max_size=8) | st.sampled_from(["[]", "{}", "null", "9" * 25, "-1", "x"]))
        text = text[:start] + put + text[end:]
    return text


def test_all_kinds_are_there():
    assert {"linux", "ovs", "testpmd", "grout", "commands"} <= kinds().keys()


@pytest.mark.parametrize("name", sorted(kinds()))
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_any_text_is_read_or_refused(name: str, data: st.DataObject):
    kind = kinds()[name]
    questions = [question.name for question in kind.counters(ASKED)] or ["command 1", "command 2"]
    texts = {question: data.draw(answers()) for question in questions}
    refused = None
    try:
        counted = kind.counted(texts, ASKED)
    except UnreadableError as error:
        refused = str(error)
    if refused is not None:
        assert len(refused.splitlines()) == 1
        return
    for counters in (*counted.ports.values(), counted.losses, counted.consumed):
        assert all(type(value) is int for value in counters.values())


@pytest.mark.parametrize("name", sorted(kinds()))
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_any_text_at_load_makes_evidence(name: str, data: st.DataObject):
    kind = kinds()[name]
    asked = [(at, one.name) for at in (1, 2_000_000) for one in kind.at_load(ASKED)]
    asked += [(0, "cpuinfo"), (0, "nft"), (0, "ip route")]
    given_answers = tuple(
        Answer(
            moment="load" if at else "facts", question=question, command="", asked_us=at,
            took_us=1, text=data.draw(answers()),
        )
        for at, question in asked
    )  # fmt: skip
    box = BoxAnswers(kind=name, at="local", ports=PORTS, answers=given_answers)
    for worker in box_evidence(box).workers:
        assert worker.spare_percent is None or -0.01 <= worker.spare_percent <= 100.01


def test_a_kind_of_a_later_version_says_nothing():
    assert box_evidence(BoxAnswers(kind="later", at="local", ports=PORTS)).workers == ()
