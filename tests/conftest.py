"""Hooks of all tests: SIGINT ends what they start, and in CI one that a busy host skipped fails."""

import os
import signal
from collections.abc import Generator

import pytest
from tests.host import HOST_BUSY


def pytest_configure() -> None:
    """Let SIGINT end what tests start: a shell's background job ignores it, and so would they."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return busy_is_failure(report) if os.environ.get("CI", "") not in ("", "false") else report


def busy_is_failure(report: pytest.TestReport) -> pytest.TestReport:
    """Fail what was skipped for a busy host: CI has a host of its own, and must show a result."""
    if report.skipped and isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        if HOST_BUSY in reason:
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: {reason} (a failure in CI)"
    return report
