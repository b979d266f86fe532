"""/proc/interrupts: which CPU answered which interrupt, how often."""

import re

from linerate.model.evidence import CpuCounters, Evidence
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_HEADER = re.compile(r"^\s*CPU\d{1,5}(?:\s+CPU\d{1,5})*\s*$")
#: `grep` puts the file's name before a row, and takes the heading away.
_ROW = re.compile(
    r"^\s*(?:/proc/interrupts:\s*)?(?P<irq>\d{1,6}|[A-Z][A-Z0-9]{1,5}):\s+(?P<rest>\d.*)$"
)
_COUNT = re.compile(r"\d{1,20}", re.ASCII)
#: Counts, then words of an interrupt controller: a row without the heading.
_HEADLESS = re.compile(
    r"(?P<counts>\d{1,20}(?:\s+\d{1,20}){1,1023})\s+(?:(?:IR-)?(?:PCI|IO|ITS|DMAR|HYPERV|EVT|xen|GIC|dw)"
    r"[\w-]{0,30}).*",
    re.ASCII,
)
#: Chip, and number and kind on it: `PCI-MSI 524288-edge`, `GICv3 23 Level`.
_CHIP = re.compile(
    r"^\S+(?:\s\S+)?\s+(?:\d+-\w+|\d+\s+(?:Edge|Level)|(?:Edge|Level))\s+(?P<name>\S.*)$"
)


@parser("/proc/interrupts")
def proc_interrupts(text: Text) -> Evidence | None:
    """Read the counts of each interrupt on each CPU; those that never came are left out."""
    found: dict[tuple[str, int], CpuCounters] = {}
    cpus: list[int] = []
    understood = False
    for line in text:
        if _HEADER.match(line.text):
            cpus = [int(name[3:]) for name in line.text.split()]
            text.take(line)
        elif row := _ROW.match(line.text):
            known = cpus or _counted_cpus(row["rest"])
            if known:
                understood |= _row(text, line, row, known, found)
        elif line.text.strip():
            cpus = []
    return Evidence(cpus=tuple(found.values())) if understood else None


def _counted_cpus(rest: str) -> list[int]:
    """CPUs of a row without the heading: as many as it has counts."""
    row = _HEADLESS.fullmatch(rest)
    return list(range(len(row["counts"].split()))) if row else []


def _row(
    text: Text,
    line: Line,
    row: re.Match[str],
    cpus: list[int],
    found: dict[tuple[str, int], CpuCounters],
) -> bool:
    """Read one interrupt; ERR and MIS have one count for all CPUs, which belongs to none."""
    tokens = row["rest"].split()
    counts = []
    for token in tokens[: len(cpus)]:
        if not _COUNT.fullmatch(token):
            break
        counts.append(int(token))
    if len(counts) < len(cpus) and len(tokens) > 1:
        return False
    quote = text.take(line)
    if len(counts) < len(cpus):
        return True
    message = " ".join(tokens[len(cpus) :])
    chip = _CHIP.match(message)
    name = f"{row['irq']}: {chip['name'] if chip else message}".rstrip(": ")
    for cpu, count in zip(cpus, counts, strict=True):
        if count:
            found[name, cpu] = CpuCounters(
                cpu=cpu, name=name, counters={"interrupts": count}, quote=quote
            )
    return True
