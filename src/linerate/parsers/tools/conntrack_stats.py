"""`conntrack -S`: counters of the kernel's flow table, a line per CPU."""

import re
from collections.abc import Iterator

from linerate.model.evidence import Cause, CpuCounters, Evidence, Loss
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    r"\s*cpu=(?P<cpu>\d{1,4})(?P<counters>(?:\s+[a-z_]{2,20}=\d{1,20}){3,20})\s*", re.A
)
FULL: Cause = "flow-table"
CLASH: Cause = "other"


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
    losses = tuple(loss for one in cpus for loss in _losses(one))
    return Evidence(cpus=cpus, losses=losses) if cpus else None


def _losses(one: CpuCounters) -> Iterator[Loss]:
    """Packets without room for their connection, and those whose connection was just made.

    Two first packets of one connection clash: one of them is dropped, which counts as both
    (nf_conntrack_core.c, nf_ct_resolve_clash). An early drop takes an old connection, no packet.
    """
    clashes = one.counters.get("insert_failed", 0)
    full = max(0, one.counters.get("drop", 0) - clashes)
    for name, cause, packets in (("drop", FULL, full), ("insert_failed", CLASH, clashes)):
        if packets:
            yield Loss(
                place=f"conntrack of CPU {one.cpu}: {name}",
                cause=cause,
                packets=packets,
                worker=f"CPU {one.cpu}",
                quote=one.quote,
            )
