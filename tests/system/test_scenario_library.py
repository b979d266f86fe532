"""The library of scenarios: on each box a mistake in the set-up is found before anything is measured.

The machine may be too busy for a rate; the frames of a check are few, and each is compared.
"""

import os

import pytest
from tests.system import labs

from linerate.model.scenario import load, names

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

#: Exit codes of a check: the planted mistake was caught; a program, or a part of the kernel, lacks.
CAUGHT, LACKING = 0, 2
#: The machine was too busy, which says nothing of the scenario.
BUSY = ("measures there", "too busy for a check", "no answer within")


def _boxes() -> list[object]:
    """Each scenario's boxes that have a mistake; those after the first are for the full run."""
    return [
        pytest.param(name, box, id=f"{name}-{box}", marks=[pytest.mark.slow] if number else [])
        for name in names()
        for number, box in enumerate(
            box for box, spec in load(name).scenario.boxes.items() if spec.mistake is not None
        )
    ]


def _checked(name: str, *words: str) -> tuple[int, str]:
    with labs.lab("scenario", "check", name, *words) as lab:
        printed, wrong = lab.communicate(timeout=300)
    text = printed + wrong
    assert "Traceback" not in text, text
    if lab.returncode == LACKING or any(words in text for words in BUSY):
        pytest.skip(text.strip().splitlines()[0])
    return lab.returncode, text


@pytest.mark.parametrize(("name", "box"), _boxes())
@pytest.mark.smoke("acl-kernel")
def test_a_planted_mistake_is_caught(name: str, box: str) -> None:
    code, text = _checked(name, "--box", box, "--plant")
    assert code == CAUGHT, text
    mistake = load(name).scenario.boxes[box].mistake
    assert mistake is not None
    assert mistake.says in text


@pytest.mark.slow
@pytest.mark.parametrize(("name", "box"), _boxes())
def test_a_box_that_is_set_up_passes(name: str, box: str) -> None:
    code, text = _checked(name, "--box", box)
    assert code == 0, text
