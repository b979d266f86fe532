"""Skips for a busy host: justified by this module's own count of CPU time, never by the product's.

A test that measures may find no valid trial where other programs have the CPUs. Only the product
would say so, a product that calls every trial invalid would pass: so the CPU time of other
programs is counted here too. In CI (`CI=true`) such a skip is a failure: see conftest.py.
"""

import os
import resource
import time
from pathlib import Path
from typing import NoReturn

import pytest

#: Begins the reason of each skip for a busy host.
HOST_BUSY = "host busy"
#: Other programs had at least this much of all CPUs.
BUSY_PERCENT = 5.0

_TICKS = os.sysconf("SC_CLK_TCK")
#: Columns of /proc/stat: idle and iowait are no use; guest time is in user and nice already.
_USED = (0, 1, 2, 5, 6, 7)


def _used_seconds(stat: str) -> float:
    """CPU time of all programs, and what a hypervisor took."""
    columns = stat.split("\n", 1)[0].split()[1:]
    return sum(int(columns[number]) for number in _USED if number < len(columns)) / _TICKS


def _own_seconds() -> float:
    """CPU time of this process and of what it started and has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class HostWatch:
    """Share of the CPUs that other programs used since this was made."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._stat = proc / "stat"
        self._began = self._now()

    def _now(self) -> tuple[float, float, float]:
        return time.monotonic(), _used_seconds(self._stat.read_text()), _own_seconds()

    def others_percent(self) -> float:
        """All that was used, without what this process and its ended children used."""
        elapsed, used, own = (
            now - before for now, before in zip(self._now(), self._began, strict=True)
        )
        cpus = os.cpu_count() or 1
        return 100 * max(0.0, used - own) / max(elapsed * cpus, 1e-9)

    def no_result(self, why: str) -> NoReturn:
        """Skip where the host was busy; fail where it was idle."""
        others = self.others_percent()
        if others < BUSY_PERCENT:
            pytest.fail(f"{why}; yet other programs used {others:.1f} % of the CPUs only")
        pytest.skip(f"{HOST_BUSY}: other programs used {others:.0f} % of the CPUs; {why}")
