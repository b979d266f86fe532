"""VPP's `show hardware-interfaces` (vnet/interface_cli.c, plugins/dpdk/device/format.c)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Port, Quote
from linerate.parsers.numbers import COUNT, NUMBER, count, number
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_HEAD = re.compile(r"\s*Name\s+Idx\s+Link\s+Hardware\s*")
_ROW = re.compile(
    r"\s*(?P<name>[A-Za-z]\S*)\s+\d{1,6}\s+(?P<link>up|down)\s+(?P<hardware>[A-Za-z]\S*)\s*"
)
_SPEED = re.compile(rf"\s*Link speed:\s+(?:unknown|({NUMBER})\s+([KMGT])bps)\s*")
_MAC = re.compile(r"\s*Ethernet address\s+[0-9a-f:]{17}\s*")
_QUEUES = re.compile(
    r"\s*(?P<way>rx|tx): queues (?P<queues>\d{1,6}) \(max \d+\), desc (?P<size>\d{1,9})\b.*"
)
#: In versions before 19.01.
_OLD_QUEUES = re.compile(
    r"\s*rx queues (\d{1,6}), rx desc (\d{1,9}), tx queues (\d{1,6}), tx desc (\d{1,9})\s*"
)
_PCI = re.compile(
    r"\s*(?:pci:\s.*\baddress|.*\bpci-addr)\s+"
    r"(?P<slot>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})\.0?(?P<function>[0-7])\b.*"
)
#: Versions before 18.04 say the speed in Mbit/s here.
_CARRIER = re.compile(r"\s*carrier (?:up|down)\b(?:.*\bspeed (?P<mbps>\d{1,7})\b)?.*")
#: Settings of a port that are no limits.
_SETTING = re.compile(
    r"\s*(?:netdev\s.*|(?:flags|Devargs|switch info|module|max rx packet len|promiscuous"
    r"|vlan offload|(?:rx|tx) offload (?:avail|active)|rss(?: (?:avail|active))?"
    r"|(?:rx|tx) burst (?:mode|function)|(?:RX|TX) Queues|TX Hash|product name|part number|revision"
    r"|serial number|device flags|capability flags|offload features|stats):.*"
    r"|num-queue-pairs \d+ .*|speed \d+ [KMG]bps|error avf_\S.*)"
)
#: Offloads run over the line's end.
_MORE_OFFLOADS = re.compile(r"\s*(?=[a-z0-9 ]*-)[a-z][a-z0-9-]*(?:\s+[a-z][a-z0-9-]*)*\s*")
_QUEUE_TABLE = re.compile(
    r"\s*(?:queue\s+(?:thread\s+mode|shared\s+thread\(s\))"
    r"|\d+\s+\S+ \(\d+\)\s+\S+|\d+\s+(?:yes|no)\s+[\d,-]+)\s*"
)
_EXTENDED = re.compile(r"\s*extended stats:\s*")
_COUNTER = re.compile(
    r"\s*(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+"
    r"|(?:rx|tx) (?:frames ok|bytes ok|errors|missed|no bufs)"
    # plugins/avf/format.c.
    r"|(?:rx|tx) (?:bytes|unicast|multicast|broadcast|discards)|rx unknown protocol)"
    rf"\s+(?P<count>{COUNT})\s*"
)
_QUEUE = re.compile(r"rx_q(\d{1,5})_?packets")
_DRIVER = re.compile(r"\s*[A-Za-z#][\w /.#()-]*")
_SCALE = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_RATE_MAX_BPS = 10**15


#: `show interface` counts them too, as `rx-miss` and `rx-no-buf` (parsers/files.py).
_LOSSES: dict[str, Cause] = {
    "rx missed": "rx-ring",
    "rx no bufs": "buffers",
    "rx discards": "rx-ring",
    "tx discards": "tx-ring",
}


def _of_avf(counters: dict[str, int]) -> dict[str, int]:
    """Name the sums as DPDK's ports do; a virtual function counts by kind of address."""
    kinds = ("unicast", "multicast", "broadcast")
    for way in ("rx", "tx"):
        found = [counters[f"{way} {kind}"] for kind in kinds if f"{way} {kind}" in counters]
        if found:
            counters[f"{way} frames ok"] = sum(found)
        if f"{way} bytes" in counters:
            counters[f"{way} bytes ok"] = counters.pop(f"{way} bytes")
    return counters


@dataclass(slots=True)
class _Hardware:
    name: str
    up: bool
    quote: Quote
    driver: str = ""
    device: str = ""
    link_bps: int | None = None
    queues: dict[str, int] = field(default_factory=dict)
    descriptors: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    quotes: dict[str, Quote] = field(default_factory=dict)

    def port(self) -> Port:
        main = {
            "rx_packets": "rx frames ok",
            "tx_packets": "tx frames ok",
            "rx_bytes": "rx bytes ok",
            "tx_bytes": "tx bytes ok",
        }
        counters = dict(self.counters)
        if not counters.keys() & set(main.values()):
            counters = _of_avf(counters)
        per_queue = {
            int(match[1]): value
            for name, value in counters.items()
            if (match := _QUEUE.fullmatch(name))
        }
        return Port(
            name=self.name,
            up=self.up,
            driver=self.driver,
            device=self.device,
            link_bps=self.link_bps,
            rx_queues=self.queues.get("rx"),
            tx_queues=self.queues.get("tx"),
            rx_descriptors=self.descriptors.get("rx"),
            tx_descriptors=self.descriptors.get("tx"),
            queue_packets=per_queue,
            counters={name: value for name, value in counters.items() if name not in main.values()},
            quote=self.quote,
            **{ours: counters.get(theirs) for ours, theirs in main.items()},
        )

    def losses(self) -> list[Loss]:
        """Frames that the card had to drop, each with the line that counts them."""
        return [
            Loss(
                place=f"{self.name}: {name}",
                cause=cause,
                packets=self.counters[name],
                quote=self.quotes[name],
            )
            for name, cause in _LOSSES.items()
            if self.counters.get(name)
        ]


@parser("VPP show hardware-interfaces")
def hardware(text: Text) -> Evidence | None:
    """Read each port's link, queues and the card's own counters."""
    found: list[_Hardware] = []
    headed = False
    lines = text.rows
    for line, following in zip(lines, [*lines[1:], None], strict=False):
        if _HEAD.fullmatch(line.text):
            headed = True
            text.take(line)
        # Without a head, three words and a number may be anything.
        elif (match := _ROW.fullmatch(line.text)) and (
            headed or match["name"] == match["hardware"]
        ):
            found.append(_Hardware(match["name"], match["link"] == "up", text.take(line)))
        elif found and _detail(found[-1], line):
            quote = text.take(line)
            if match := _COUNTER.fullmatch(line.text):
                found[-1].quotes[match["name"]] = quote
        elif found and _is_driver(line, following):
            text.take(line)
            found[-1].driver = line.text.strip()
    if not found:
        return None
    return Evidence(
        ports=tuple(port.port() for port in found),
        losses=tuple(loss for port in found for loss in port.losses()),
    )


def _is_driver(line: Line, following: Line | None) -> bool:
    """The driver's name has no key: it is the line above the carrier's state."""
    if line.text.strip() == "local":
        return True
    if following is None or not _DRIVER.fullmatch(line.text):
        return False
    return _CARRIER.fullmatch(following.text) is not None


def _detail(port: _Hardware, line: Line) -> bool:
    """Read one line that belongs to a port; False when it says nothing known."""
    for pattern, read in _DETAILS:
        if match := pattern.fullmatch(line.text):
            read(port, match)
            return True
    known = (_MAC, _SETTING, _MORE_OFFLOADS, _QUEUE_TABLE, _EXTENDED)
    return any(pattern.fullmatch(line.text) for pattern in known)


def _speed(port: _Hardware, match: re.Match[str]) -> None:
    rate = number(match[1]) if match[1] else None
    scaled = rate * _SCALE[match[2]] if rate is not None else None
    port.link_bps = round(scaled) if scaled is not None and scaled <= _RATE_MAX_BPS else None


def _carrier(port: _Hardware, match: re.Match[str]) -> None:
    if match["mbps"] and port.link_bps is None:
        port.link_bps = int(match["mbps"]) * 10**6


def _queues(port: _Hardware, match: re.Match[str]) -> None:
    port.queues[match["way"]] = int(match["queues"])
    port.descriptors[match["way"]] = int(match["size"])


def _old_queues(port: _Hardware, match: re.Match[str]) -> None:
    port.queues = {"rx": int(match[1]), "tx": int(match[3])}
    port.descriptors = {"rx": int(match[2]), "tx": int(match[4])}


def _pci(port: _Hardware, match: re.Match[str]) -> None:
    port.device = f"{match['slot']}.{match['function']}"


def _counter(port: _Hardware, match: re.Match[str]) -> None:
    value = count(match["count"])
    if value is not None:
        port.counters[match["name"]] = value


_DETAILS: tuple[tuple[re.Pattern[str], Callable[[_Hardware, re.Match[str]], None]], ...] = (
    (_SPEED, _speed),
    (_CARRIER, _carrier),
    (_QUEUES, _queues),
    (_OLD_QUEUES, _old_queues),
    (_PCI, _pci),
    (_COUNTER, _counter),
)
