"""Losses put into a Linux box at one place each: the ledger has them there, the verdict names it."""

from pathlib import Path

import pytest
from tests.boxes.linux import linux
from tests.boxes.runner import run_places
from tests.system.boxes import needs_boxes

pytestmark = needs_boxes
#: A choice of all places (`python -m tests.boxes`), one a layer.
PLACES = ("one address", "without a counter", "blackhole", "route: none", "MAC", "TTL", "bucket")


@pytest.mark.smoke("blackhole")
@pytest.mark.parametrize("name", PLACES)
def test_a_loss_is_located(name: str, tmp_path: Path) -> None:
    with linux() as box:
        (found,) = run_places(box, tmp_path, 0.5, lambda _text: None, name)
    assert found.lost > 0
    assert found.right, (found.elsewhere, found.verdict.sentence)
    assert not found.invented


def test_an_idle_box_loses_nothing(tmp_path: Path) -> None:
    with linux() as box:
        (found,) = run_places(box, tmp_path, 0.5, lambda _text: None, "nothing, at full")
    assert (found.lost, found.unexplained, found.elsewhere) == (0, 0, {})
