"""Time of a Linux box's CPUs within a window, by what they did, and time that they have no word of.

A guest whose hypervisor takes its CPU away and does not report it sees neither steal nor idle time:
its timer does not tick then, and its clock goes on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from linerate.model.box import Answer, texts
from linerate.parsers.boxes import Question

#: Unit of /proc/stat, whatever the kernel's own clock (proc(5), USER_HZ).
TICKS_PER_SECOND = 100
#: Columns of a CPU in /proc/stat.
TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
#: Clock and times are not of one moment, and times are rounded: fewer ticks are not missed, nor any
#: within a shorter window.
MISSING_SHARE_MIN = 0.1
WINDOW_SECONDS_MIN = 1.0
_UPTIME = re.compile(r"(\d{1,12}\.\d{2}) \d{1,15}\.\d{2}\n")

QUESTION = Question("stat", "cat /proc/uptime /proc/stat")


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks of one CPU between two answers."""

    times: dict[str, int]
    #: Those that its clock had, and its times have not.
    missing: int
    #: Line of the later answer.
    line: int

    @property
    def all(self) -> int:
        """Ticks of the window."""
        return sum(self.times.values()) + self.missing

    def percent(self, *names: str) -> float:
        """Share of the window."""
        return 100.0 * sum(self.times[name] for name in names) / self.all

    @property
    def stolen_percent(self) -> float:
        """Share of the window in which its hypervisor had the CPU, reported or not."""
        return 100.0 * (self.times["steal"] + self.missing) / self.all


def between(first: Sequence[Answer], last: Sequence[Answer]) -> dict[int, Ticks]:
    """By CPU, what it did between two batches of answers."""
    early, late = (texts(one).get(QUESTION.name, "") for one in (first, last))
    before = _cpu_times(early)
    began, ended = _uptime(early), _uptime(late)
    seconds = ended - began if began is not None and ended is not None else 0.0
    return {
        cpu: _ticks({name: times[name] - before[cpu][0][name] for name in TIMES}, line, seconds)
        for cpu, (times, line) in _cpu_times(late).items()
        if cpu in before
    }


def _ticks(times: dict[str, int], line: int, seconds: float) -> Ticks:
    window = round(seconds * TICKS_PER_SECOND)
    missing = window - sum(times.values())
    known = seconds >= WINDOW_SECONDS_MIN and missing >= MISSING_SHARE_MIN * window
    return Ticks(times, missing if known else 0, line)


def _uptime(text: str) -> float | None:
    """Seconds since the box started, by its clock; None in answers without them."""
    match = _UPTIME.match(text)
    return float(match[1]) if match else None


def _cpu_times(text: str) -> dict[int, tuple[dict[str, int], int]]:
    """By CPU of /proc/stat: its times in ticks, and the line that says them."""
    found: dict[int, tuple[dict[str, int], int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if len(words) > len(TIMES) and words[0].startswith("cpu") and words[0][3:].isdecimal():
            values = words[1 : len(TIMES) + 1]
            if all(value.isdecimal() for value in values):
                times = dict(zip(TIMES, map(int, values), strict=True))
                found[int(words[0][3:])] = (times, number)
    return found
