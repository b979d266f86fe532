"""Drops between the ports of Open vSwitch: coverage/show, and the lookups of dpctl/show."""

import re

from linerate.model.evidence import Evidence, Loss
from linerate.model.loss_causes import cause_of
from linerate.parsers.ovs_counters import COVERAGE, PIPELINE, datapath_place
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    r"\s*(?P<name>[a-z]\w{2,60})\s+(?:[\d.]{1,20}/sec\s+){1,4}total:\s*(?P<count>\d{1,20})\s*"
)
_PASSED = re.compile(
    r"\s*(?:Event coverage, avg rate over last:.*|\d{1,6} events never hit"
    r"|flows: \d{1,10}|masks: hit:\d.*|cache: hit:\d.*|caches:|masks-cache: size:\d{1,10})\s*"
)
_LOOKUPS = re.compile(
    r"\s*lookups: hit:(?P<hit>\d{1,20}) missed:(?P<missed>\d{1,20}) lost:(?P<lost>\d{1,20})\s*",
    re.IGNORECASE,
)
_DATAPATH = re.compile(r"\s*\w{1,20}@[\w.-]{1,40}:\s*")
#: Batches that ports gave: at least as many packets.
_BATCHES = "netdev_received"
#: A share of the packets that is too small to be worth a word.
_FEW = 0.001


@parser("Open vSwitch coverage")
def ovs_coverage(text: Text) -> Evidence | None:
    """Read drops since the start; of two readings the difference counts."""
    if "total:" not in text.whole and "ookups:" not in text.whole:
        return None
    readings = Readings()
    _read_events(text, readings)
    _read_lookups(text, readings)
    if not readings:
        return None
    for line in text.rows:
        if _PASSED.fullmatch(line.text):
            text.take(line)
    losses: list[Loss] = []
    for name, one in readings.counted():
        losses += _of_coverage(one) if name == "coverage" else _of_lookups(name, one)
    return Evidence(losses=tuple(losses))


def _read_events(text: Text, readings: Readings) -> None:
    reading = Reading()
    for line in text.rows:
        if match := _ROW.fullmatch(line.text):
            if match["name"] in reading.counters:
                readings.add("coverage", reading)
                reading = Reading()
            reading.note(match["name"], int(match["count"]), text.take(line))
    readings.add("coverage", reading)


def _read_lookups(text: Text, readings: Readings) -> None:
    head: Line | None = None
    for line in text.rows:
        if _DATAPATH.fullmatch(line.text):
            head = line
        elif lookups := _LOOKUPS.fullmatch(line.text):
            datapath = "datapath" if head is None else text.take(head).text.rstrip(":")
            quote, one = text.take(line), Reading()
            for name in ("hit", "missed", "lost"):
                one.note(name, int(lookups[name]), quote)
            readings.add(datapath, one)


def _of_coverage(one: Reading) -> list[Loss]:
    least = one.counters.get(_BATCHES, 0)
    return [
        Loss(
            place=_place(name),
            cause=cause_of(_place(name)),
            packets=packets,
            quote=one.quotes[name],
        )
        for name, packets in one.counters.items()
        if COVERAGE.match(f"{name} total: 0") and packets > _FEW * least
    ]


def _place(name: str) -> str:
    if name == PIPELINE:
        return "openflow: a flow that drops, or no flow"
    return datapath_place(name)


def _of_lookups(name: str, one: Reading) -> list[Loss]:
    """Packets without a flow that user space did not take in time: its queue was full."""
    lost, looked_up = one.counters["lost"], sum(one.counters.values())
    if lost <= _FEW * looked_up:
        return []
    quote = one.quotes["lost"]
    return [Loss(place=f"{name}: upcall lost", cause="other", packets=lost, quote=quote)]
