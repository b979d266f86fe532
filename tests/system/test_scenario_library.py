"""The library of scenarios on boxes of this host: set up right, every frame is as expected; a mistake
in the set-up is found before anything is measured.

The machine may be too busy for a rate; the frames of a check are few, and each is compared.
"""

import json
from typing import Any

import pytest
from tests.system import labs

from linerate.host.netns.privilege import missing_privilege
from linerate.model.scenario import load, names

pytestmark = pytest.mark.skipif(bool(missing_privilege("scenarios")), reason="needs root")

BOXES = [
    pytest.param(name, box, id=f"{name}-{box}")
    for name in names()
    for box in load(name).scenario.boxes
]
REFUSED = 2
#: Programs and features that a host may lack, by what a refusal of them has in it.
LACKS = (
    "apt-get install",
    "needs what this kernel has not",
    "needs a kernel with",
    "run it as root",
    "has no MPLS",
)
#: The machine was too busy, which says nothing of the scenario.
BUSY = ("too busy for a check", "no answer within")


def _checked(name: str, box: str, *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a check; what this host lacks is no failure."""
    with labs.lab("scenario", "check", name, "--box", box, "--wait", *words) as lab:
        printed, wrong = lab.communicate(timeout=300)
    assert "Traceback" not in wrong, wrong
    lacking = lab.returncode == REFUSED and any(one in wrong for one in LACKS)
    if lacking or any(one in wrong for one in BUSY):
        pytest.skip(wrong.strip().splitlines()[0])
    return lab.returncode, printed, wrong


@pytest.mark.parametrize(("name", "box"), BOXES)
@pytest.mark.smoke("acl-kernel")
def test_a_planted_mistake_is_caught(name: str, box: str) -> None:
    """It is named as the file says that it must be."""
    mistake = load(name).scenario.boxes[box].mistake
    assert mistake is not None
    code, printed, wrong = _checked(name, box, "--plant")
    assert code == 0, printed + wrong
    assert "FAULT" in printed
    assert "linerate: caught: " in wrong
    assert mistake.says in printed + wrong


@pytest.mark.parametrize(("name", "box"), BOXES)
def test_a_box_that_is_set_up_right_passes(name: str, box: str) -> None:
    """Every frame is received as the file says."""
    code, printed, wrong = _checked(name, box, "--json")
    assert code == 0, printed + wrong
    result: dict[str, Any] = json.loads(printed)["result"]
    assert result["passed"]
    for one in result["checks"]:
        assert one["sent"] > 0
        assert not one["mistakes"]
