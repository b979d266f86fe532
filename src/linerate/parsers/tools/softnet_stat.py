"""/proc/net/softnet_stat: a line per CPU, hexadecimal (net/core/net-procfs.c, softnet_seq_show)."""

import re

from linerate.model.evidence import CpuCounters, Evidence, Loss
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_LINE = re.compile(r"^\s*[0-9a-f]{8}(?:\s+[0-9a-f]{8}){8,14}\s*$")
#: A piece of a line, where the command says what it is of.
_PIECE = re.compile(r"^\s*[0-9a-f]{8}(?:\s+[0-9a-f]{8}){2,14}\s*$")
#: By column; 3 to 8 are zero or gone.
_COLUMNS = {
    0: "processed",
    1: "dropped",
    2: "time_squeeze",
    9: "received_rps",
    10: "flow_limit",
    11: "backlog",
}
#: Since Linux 5.10; before, lines of CPUs that are off are left out without a word.
_CPU_COLUMN = 12


@parser("/proc/net/softnet_stat")
def softnet_stat(text: Text) -> Evidence | None:
    """Read the counters of each CPU; of several readings in one file the last one counts."""
    cpus: dict[int, CpuCounters] = {}
    following = 0
    layout = _PIECE if "softnet" in text.whole else _LINE
    for line in text:
        if not layout.match(line.text):
            following = 0 if line.text.strip() else following
            continue
        columns = [int(column, 16) for column in line.text.split()]
        cpu = columns[_CPU_COLUMN] if len(columns) > _CPU_COLUMN else following
        following += 1
        counters = {name: columns[at] for at, name in _COLUMNS.items() if at < len(columns)}
        cpus[cpu] = CpuCounters(cpu=cpu, name="softnet", counters=counters, quote=text.take(line))
    if not cpus:
        return None
    losses = tuple(
        Loss(
            place=f"softnet backlog of CPU {one.cpu}",
            cause="rx-ring",
            packets=one.counters["dropped"],
            worker=f"CPU {one.cpu}",
            quote=one.quote,
        )
        for one in cpus.values()
        if one.counters["dropped"]
    )
    return Evidence(cpus=tuple(cpus.values()), losses=losses)
