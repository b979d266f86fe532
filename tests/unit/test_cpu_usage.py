"""CPU time of workers between two readings."""

import pytest

from linerate.lab.cpu_usage import Use


class At:
    """A tester whose worker has spent this much in the kernel."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def kernel_seconds(self) -> dict[str, float]:
        return {"tester": self.seconds}

    lock_wait_seconds = kernel_seconds

    def workers(self) -> list[object]:
        return []

    def moments(self) -> dict[str, float]:
        return {}


@pytest.mark.parametrize(("spent", "percent"), [(0.25, 50.0), (0.51, 100.0)])
def test_no_share_is_more_than_the_whole(monkeypatch, spent, percent):
    now = iter((10.0, 10.5))
    monkeypatch.setattr("linerate.lab.cpu_usage.time.monotonic", lambda: next(now))
    before = Use(At(3.0))  # type: ignore[arg-type]
    used = Use(At(3.0 + spent)).since(before)  # type: ignore[arg-type]
    assert used.kernel_percent == used.lock_wait_percent == {"tester": percent}
