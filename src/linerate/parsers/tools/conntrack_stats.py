"""`conntrack -S`: counters of the kernel's flow table, a line per CPU."""

import re

from linerate.model.evidence import CpuCounters, Evidence, Loss
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    r"\s*cpu=(?P<cpu>\d{1,4})(?P<counters>(?:\s+[a-z_]{2,20}=\d{1,20}){3,20})\s*", re.A
)
#: Packets that found no room; others are invalid, or searched again.
_LOST = ("drop", "early_drop", "insert_failed")


@parser("conntrack -S")
def conntrack_stats(text: Text) -> Evidence | None:
    """Read the counters of each CPU; of several readings the difference counts."""
    readings = Readings()
    for line in text.rows:
        if row := _ROW.fullmatch(line.text):
            reading, quote = Reading(), text.take(line)
            for pair in row["counters"].split():
                name, _, digits = pair.partition("=")
                reading.note(name, int(digits), quote)
            readings.add(str(int(row["cpu"])), reading)
    cpus = tuple(
        CpuCounters(cpu=int(cpu), name="conntrack", counters=one.counters, quote=one.where)
        for cpu, one in readings.counted()
    )
    losses = tuple(
        Loss(
            place=f"conntrack of CPU {one.cpu}: {name}",
            cause="flow-table",
            packets=one.counters[name],
            worker=f"CPU {one.cpu}",
            quote=one.quote,
        )
        for one in cpus
        for name in _LOST
        if one.counters.get(name)
    )
    return Evidence(cpus=cpus, losses=losses) if cpus else None
