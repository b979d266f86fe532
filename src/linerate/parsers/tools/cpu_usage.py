"""`mpstat -P ALL` and `sar -u -P ALL`: time of each CPU, in a row each interval.

Their stamps have 12 or 24 hours; of the first kind AM or PM is left before the CPU.
"""

import re

from linerate.model.evidence import CpuTime, Evidence, Quote
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_BEFORE = r"\s*(?:(?P<average>Average|Summary):\s+)?(?:\d\d:\d\d:\d\d\s+)?(?:[AP]M\s+)?"
_HEADING = re.compile(_BEFORE + r"CPU(?P<columns>(?:\s+%[a-z_]{2,10}){3,12})\s*")
_ROW = re.compile(
    _BEFORE + r"(?P<cpu>all|\d{1,4})(?P<values>(?:\s+\d{1,3}[.,]\d{1,2}){3,12})\s*", re.ASCII
)
_MACHINE = re.compile(r"\s*Linux \S+ \([^()]{1,100}\)\s+\S+\s+_\w+_\s+\(\d{1,5} CPU\)\s*")
#: Where a row comes from: an average over all intervals counts more than one of them.
_Found = tuple[bool, CpuTime]


@parser("mpstat, sar -u")
def cpu_usage(text: Text) -> Evidence | None:
    """Read each CPU's time: its average, or else its last interval."""
    found: dict[int | None, _Found] = {}
    columns: list[str] = []
    for line in text.rows:
        if heading := _HEADING.fullmatch(line.text):
            names = heading["columns"].split()
            columns = names if "%idle" in names else []
            if columns:
                text.take(line)
        elif _MACHINE.fullmatch(line.text):
            text.take(line)
        elif (row := _ROW.fullmatch(line.text)) and columns:
            values = [float(value.replace(",", ".")) for value in row["values"].split()]
            if len(values) != len(columns):
                continue
            cpu = None if row["cpu"] == "all" else int(row["cpu"])
            quote = text.take(line)
            average = row["average"] is not None
            if average or cpu not in found or not found[cpu][0]:
                shares = dict(zip(columns, values, strict=True))
                found[cpu] = average, _time(cpu, shares, quote)
    # The whole machine says less than each CPU.
    cpus = [one for cpu, (_, one) in found.items() if cpu is not None or len(found) == 1]
    return Evidence(cpu_times=tuple(cpus)) if cpus else None


def _time(cpu: int | None, shares: dict[str, float], quote: Quote) -> CpuTime:
    """One row; a CPU that waits for a disk has time to spare."""
    busy = 100.0 - shares["%idle"] - shares.get("%iowait", 0.0)
    return CpuTime(
        cpu=cpu,
        busy_percent=round(min(100.0, max(0.0, busy)), 2),
        softirq_percent=shares.get("%soft"),
        steal_percent=shares.get("%steal"),
        quote=quote,
    )
