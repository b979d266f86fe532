"""Common fixtures of the system tests: engines that are always stopped, folders of their own."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from linerate.engine.engine_process import Engine, Files

_numbers = itertools.count()

StartEngine = Callable[[dict[str, Any]], Engine]


#: That of an engine's workers, beside which all else gets a tenth of a CPU.
PRIORITY = -10

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`@pytest.mark.smoke("id")` marks the parameters of that id alone."""
    for item in items:
        ids = [word for mark in item.iter_markers("smoke") for word in mark.args]
        callspec = getattr(item, "callspec", None)
        if ids and callspec is not None and callspec.id not in ids:
            item.own_markers = [mark for mark in item.own_markers if mark.name != "smoke"]


@contextmanager
def _as_urgent_as_workers() -> Iterator[None]:
    """Have no test wait ten times as long as it works, while an engine polls on every CPU."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    try:
        yield
    finally:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


@pytest.fixture(autouse=True)
def _own_locks(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests need no CPU to themselves: other runs of this user may be on it."""
    monkeypatch.setenv("LINERATE_LOCKS", str(tmp_path_factory.mktemp("locks")))


@pytest.fixture
def start_engine(tmp_path: Path) -> Iterator[StartEngine]:
    """Start engines from configurations; all are stopped when the test ends."""
    with ExitStack() as stack:

        def start(config: dict[str, Any]) -> Engine:
            number = next(_numbers)
            named = {"name": f"test-{os.getpid()}-{number}", **config}
            files = Files(tmp_path / f"engine-{number}.json", tmp_path / f"engine-{number}.log")
            engine = stack.enter_context(Engine(named, files))
            stack.enter_context(_as_urgent_as_workers())
            return engine

        yield start
