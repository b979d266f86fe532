"""`top -b`: time of each CPU, and of the kernel's threads for softirqs.

Other threads prove no load: one that polls takes its CPU whole also where no packet comes.
"""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import CpuTime, Evidence
from linerate.parsers.numbers import number
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_BEGIN = re.compile(r"top - .{0,200}load average:.{0,100}")
_SUMMARY = re.compile(r"\s*(?:Tasks|Threads|(?:[KMGT]i?B )?(?:Mem|Swap)\s{0,3}):.{0,200}")
_CPU = re.compile(r"\s*(?:%?Cpu|CPU)(?P<cpu>\d{1,4}|\(s\))\s{0,8}:(?P<shares>.{0,200})")
_SHARE = re.compile(
    r"(\d{1,3}(?:[.,]\d{1,2})?)\s?%?\s?(us|sy|ni|id|wa|hi|si|st|usr|sys|nic|idle|io|irq|sirq)\b",
    re.ASCII,
)
#: BusyBox has words of its own.
_BUSYBOX = {"idle": "id", "io": "wa", "sirq": "si"}
_HEADING = re.compile(r"\s*PID\s+USER\s.*%CPU\s.*COMMAND.*")
_TASK = re.compile(
    r"\s*\d{1,10}\s+\S{1,40}\s+(?:\S{1,20}\s+){5}[A-Z]\s+(?P<busy>\d{1,5}(?:[.,]\d{1,2})?)"
    r"\s+\d{1,3}(?:[.,]\d{1,2})?\s+[\d:.,hd]{1,20}\s+(?P<name>\S.{0,200})",
    re.ASCII,
)
_SOFTIRQ = re.compile(r"ksoftirqd/(?P<cpu>\d{1,4})")


@dataclass(slots=True)
class _Screen:
    """One of the screens that it prints, by CPU."""

    cpus: dict[int | None, CpuTime] = field(default_factory=dict)
    threads: dict[int, CpuTime] = field(default_factory=dict)
    listed: bool = False


@parser("top")
def top(text: Text) -> Evidence | None:
    """Read the last screen: the first one has the time since the start of the machine."""
    screens = [_Screen()]
    for line in text.rows:
        if _BEGIN.fullmatch(line.text):
            text.take(line)
            screens.append(_Screen())
        elif cpu := _CPU.fullmatch(line.text):
            _cpu(text, line, cpu, screens[-1])
        elif len(screens) > 1 and _SUMMARY.fullmatch(line.text):
            text.take(line)
        elif _HEADING.fullmatch(line.text):
            text.take(line)
            screens[-1].listed = True
        elif screens[-1].listed and (task := _TASK.fullmatch(line.text)):
            _task(text, line, task, screens[-1])
        else:
            screens[-1].listed = False
    for screen in reversed(screens):
        cpus = [one for cpu, one in screen.cpus.items() if cpu is not None or len(screen.cpus) == 1]
        if times := (*cpus, *screen.threads.values()):
            return Evidence(cpu_times=times)
    return None


def _cpu(text: Text, line: Line, row: re.Match[str], screen: _Screen) -> None:
    shares = {
        _BUSYBOX.get(name, name): number(value.replace(",", "."))
        for value, name in _SHARE.findall(row["shares"])
    }
    idle = shares.get("id")
    if idle is None:
        return
    cpu = int(row["cpu"]) if row["cpu"].isdecimal() else None
    busy = 100.0 - idle - (shares.get("wa") or 0.0)
    screen.cpus[cpu] = CpuTime(
        cpu=cpu,
        busy_percent=round(min(100.0, max(0.0, busy)), 2),
        softirq_percent=shares.get("si"),
        steal_percent=shares.get("st"),
        quote=text.take(line),
    )


def _task(text: Text, line: Line, row: re.Match[str], screen: _Screen) -> None:
    quote = text.take(line)
    thread = _SOFTIRQ.fullmatch(row["name"].strip().strip("[]"))
    busy = number(row["busy"].replace(",", "."))
    if thread is None or busy is None:
        return
    cpu = int(thread["cpu"])
    screen.threads[cpu] = CpuTime(
        cpu=cpu, name=f"ksoftirqd/{cpu}", busy_percent=min(100.0, busy), quote=quote
    )
