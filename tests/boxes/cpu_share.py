"""A process of this host that gets a share of a CPU alone: the kernel's bandwidth control."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PERIOD_US = 10_000
#: Where versions 1 and 2 of control groups are, as systemd and others mount them.
V1 = Path("/sys/fs/cgroup/cpu")
V2 = Path("/sys/fs/cgroup")
#: Weights of a group that goes before all others, within its share.
HEAVIEST = {"cpu.shares": 262_144, "cpu.weight": 10_000}


class CpuShare:
    """A process, and the control group that it is in while it has a share alone."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._top = V1 if (V1 / "cpu.shares").exists() else V2
        self._group = self._top / f"linerate-tests-{pid}"

    def limit(self, percent: int) -> None:
        """Give it that share of a CPU."""
        if self._top == V2:
            (V2 / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
        self._group.mkdir(exist_ok=True)
        quota_us = PERIOD_US * percent // 100
        settings = {"cpu.max": f"{quota_us} {PERIOD_US}"}
        if self._top == V1:
            settings = {"cpu.cfs_period_us": f"{PERIOD_US}", "cpu.cfs_quota_us": f"{quota_us}"}
        (weight,) = (name for name in HEAVIEST if (self._group / name).exists())
        settings |= {weight: f"{HEAVIEST[weight]}", "cgroup.procs": f"{self._pid}"}
        for name, text in settings.items():
            (self._group / name).write_text(text, encoding="ascii")

    def free(self) -> None:
        """Give it all that it can have."""
        if self._group.exists():
            # A process that has ended is in no group.
            with contextlib.suppress(ProcessLookupError):
                (self._top / "cgroup.procs").write_text(f"{self._pid}", encoding="ascii")
            self._group.rmdir()

    def remove_stale(self) -> None:
        """Remove groups of runs that were killed, as their processes were."""
        for group in self._top.glob("linerate-tests-*"):
            if not Path("/proc", group.name.rpartition("-")[2]).exists():
                with contextlib.suppress(OSError):
                    group.rmdir()


@contextmanager
def cpu_share(pid: int) -> Iterator[CpuShare]:
    """Shares of a process, which has all at the end."""
    made = CpuShare(pid)
    made.remove_stale()
    try:
        yield made
    finally:
        made.free()
