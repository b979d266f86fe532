"""Hooks of all tests: in CI a test that was skipped because the host was busy is a failure."""

import os
from collections.abc import Generator

import pytest
from tests.host import HOST_BUSY


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
