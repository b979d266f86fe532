"""Screens of the kernel's XDP samples and xdp-tools: xdp_redirect_cpu's queues between CPUs.

Its figures are of a second each; the last screen counts (samples/bpf/xdp_redirect_cpu_user.c).
"""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import CpuTime, Evidence, Loss, Port, Quote, Ring
from linerate.parsers.numbers import COUNT, count
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    rf"\s*(?P<what>XDP-RX|cpumap-enqueue|cpumap_kthread)\s+(?P<cpu>\d{{1,4}}(?::\d{{1,4}})?|total)"
    rf"\s+(?P<pps>{COUNT})\s+(?P<dropped>{COUNT})(?:\s+(?P<extra>[\d.,]{{1,20}}))?(?:\s.*)?"
)
#: xdp_rxq_info: its total has no column of issues, which are no drops; then the same by rx queue.
_RXQ_TOTAL = re.compile(rf"\s*XDP-RX CPU\s+total\s+(?P<pps>{COUNT})(?:\s+{COUNT})?\s*")
_RXQ_PASSED = re.compile(
    r"\s*(?:XDP-RX CPU\s+\d.*|rx_queue_index\s+\d.*|XDP stats\s.*|RXQ stats\s.*"
    r"|Running XDP on dev:.*|options:.*)"
)


@dataclass(slots=True)
class _Screen:
    """Rows of the last screen, by what they are of."""

    received: tuple[int, Quote] | None = None
    queues: dict[tuple[int, int], tuple[int, int, Quote]] = field(default_factory=dict)
    #: By CPU: how often its thread slept, in a second.
    slept: dict[int, tuple[int, Quote]] = field(default_factory=dict)

    def row(self, match: re.Match[str], quote: Quote) -> None:
        """Keep what a row counts."""
        pps, dropped = count(match["pps"]) or 0, count(match["dropped"]) or 0
        if match["what"] == "XDP-RX" and match["cpu"] == "total":
            self.received = (pps, quote)
        elif match["what"] == "cpumap-enqueue" and ":" in match["cpu"]:
            source, _, destination = match["cpu"].partition(":")
            self.queues[int(source), int(destination)] = (pps, dropped, quote)
        elif match["what"] == "cpumap_kthread" and match["cpu"] != "total" and pps:
            self.slept[int(match["cpu"])] = (count(match["extra"] or "") or 0, quote)


@parser("XDP samples")
def xdp_samples(text: Text) -> Evidence | None:
    """Read what was received, and queues from one CPU to another."""
    if "XDP-RX" not in text.whole and "cpumap" not in text.whole:
        return None
    screen = _Screen()
    for line in text.rows:
        if total := _RXQ_TOTAL.fullmatch(line.text):
            screen.received = (count(total["pps"]) or 0, text.take(line))
        elif match := _ROW.fullmatch(line.text):
            screen.row(match, text.take(line))
    if screen.received is None and not screen.queues:
        return None
    for line in text.rows:
        if _RXQ_PASSED.fullmatch(line.text):
            text.take(line)
    return _evidence(screen)


def _evidence(screen: _Screen) -> Evidence:
    rings, losses = [], []
    for (source, destination), (pps, dropped, quote) in screen.queues.items():
        names = f"CPU {source}", f"CPU {destination}"
        # A row's packets are those that were to go in, dropped ones included.
        rings.append(
            Ring(
                source=names[0],
                destination=names[1],
                enqueued=max(0, pps - dropped),
                dropped=dropped,
                quote=quote,
            )
        )
        if dropped:
            place = f"cpumap queue from {names[0]} to {names[1]}"
            losses.append(Loss(place=place, cause="handoff-ring", packets=dropped, quote=quote))
    ports: tuple[Port, ...] = ()
    if screen.received is not None:
        pps, quote = screen.received
        ports = (Port(name="XDP", rx_packets=pps, rx_pps=pps, quote=quote),)
    busy = tuple(
        CpuTime(cpu=cpu, name="cpumap kthread", busy_percent=100.0, quote=quote)
        for cpu, (slept, quote) in screen.slept.items()
        if not slept
    )
    return Evidence(rings=tuple(rings), losses=tuple(losses), ports=ports, cpu_times=busy)
