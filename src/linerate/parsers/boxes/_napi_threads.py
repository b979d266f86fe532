"""The kernel's threads that poll a port's queues where NAPI is threaded: their waits for a CPU."""

from collections.abc import Iterable, Iterator

from linerate.model.box import Answer, texts
from linerate.model.evidence import Quote, Worker
from linerate.parsers.boxes import Question, _scheduling

#: A line of each (net/core/dev.c: `napi/eth1-8193`), as the kernel's scheduler counts it.
QUESTION = Question(
    "napi threads",
    "cat /proc/uptime; for c in $(grep -ls '^napi/' /proc/[0-9]*/comm); do "
    'read -r n < $c && read -r r < ${c%comm}schedstat && echo "$n $r"; done; true',
)
#: One that runs, or waits, for less of a window does not forward.
BUSY_PERCENT = 10.0


def workers(
    first: tuple[Answer, ...], last: tuple[Answer, ...], ports: Iterable[str]
) -> Iterator[Worker]:
    """Those of some ports between two answers, that were busy or waited."""
    early, late = (texts(one).get(QUESTION.name, "") for one in (first, last))
    seconds = (last[0].asked_us - first[0].asked_us) / 1e6
    of_ports = tuple(f"napi/{port}-" for port in ports)
    for name, one in _scheduling.waited(early, late, seconds).items():
        if name.startswith(of_ports) and one.ran_percent + one.percent >= BUSY_PERCENT:
            quote = Quote(source=QUESTION.name, line=1, text=f"{name} {one.text}")
            yield Worker(name=name, seconds=seconds, waited_percent=one.percent, quote=quote)
