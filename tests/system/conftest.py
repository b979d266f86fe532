"""What the system tests share: engines that are always stopped, folders of their own."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from linerate.engine import Engine, Files

_numbers = itertools.count()

StartEngine = Callable[[dict[str, Any]], Engine]


@pytest.fixture
def start_engine(tmp_path: Path) -> Iterator[StartEngine]:
    """Start engines from configurations; all are stopped when the test ends."""
    with ExitStack() as stack:

        def start(config: dict[str, Any]) -> Engine:
            number = next(_numbers)
            named = {"name": f"test-{number}", **config}
            files = Files(tmp_path / f"engine-{number}.json", tmp_path / f"engine-{number}.log")
            return stack.enter_context(Engine(named, files))

        yield start
