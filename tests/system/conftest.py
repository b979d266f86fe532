"""What the system tests share: engines that are always stopped, folders of their own."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from linerate.engine import Engine, Files

_numbers = itertools.count()

StartEngine = Callable[[dict[str, Any]], Engine]


SUMMARY = pytest.StashKey[list[str]]()


@pytest.fixture
def summary(request: pytest.FixtureRequest) -> list[str]:
    """Lines for the end of pytest's report."""
    return request.config.stash.setdefault(SUMMARY, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have to say, whether they passed or not."""
    lines = terminalreporter.config.stash.get(SUMMARY, [])
    if lines:
        terminalreporter.write_sep("=", "limits injected, and limits named")
    for line in lines:
        terminalreporter.write_line(line)


@pytest.fixture
def start_engine(tmp_path: Path) -> Iterator[StartEngine]:
    """Start engines from configurations; all are stopped when the test ends."""
    with ExitStack() as stack:

        def start(config: dict[str, Any]) -> Engine:
            number = next(_numbers)
            named = {"name": f"test-{os.getpid()}-{number}", **config}
            files = Files(tmp_path / f"engine-{number}.json", tmp_path / f"engine-{number}.log")
            return stack.enter_context(Engine(named, files))

        yield start
