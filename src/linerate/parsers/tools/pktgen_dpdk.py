"""Pktgen-DPDK's screen: rates and packets of each port, in a column each.

Packets count since the start or since `clr`, rates over the last second. Its MBits/s are of L1.
"""

import re
from dataclasses import dataclass, field

from linerate.base import line_rate
from linerate.model.evidence import Evidence, Quote, Tester
from linerate.parsers.numbers import count
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(r"\s*(?P<name>[A-Z][\w/%: .]{1,24}?)\s*:\s+(?P<cells>\S.*)")
_LINK = re.compile(
    r"<(?P<state>UP|DOWN|--Down--)(?:-(?P<mbps>\d{1,7}))?(?:-[FH]D)?>", re.IGNORECASE
)
_CELL = re.compile(r"[\d,]{1,26}(?:/[\d,]{1,26}){0,2}")
#: Rows by name, with the field of each part of a cell.
_ROWS: dict[str, tuple[str, ...]] = {
    "Pkts/s Max/Rx": ("", "rx_pps"),
    "Max/Tx": ("max_tx_pps", "tx_pps"),
    "Pkts/s Rx": ("rx_pps",),
    "Tx": ("tx_pps",),
    "Pkts/s Rx:Tx": ("rx_pps", "tx_pps"),
    "MBits/s Rx/Tx": ("rx_mbps", "tx_mbps"),
    "MBits/s Rx:Tx": ("rx_mbps", "tx_mbps"),
    "Errors Rx/Tx": ("rx_errors", "tx_errors"),
    "Errors Rx/Tx/missed": ("rx_errors", "tx_errors", "missed"),
    "Total Rx Pkts": ("received",),
    "Tx Pkts": ("sent",),
    "Sizes 64": ("of_64_bytes",),
    "64 Bytes": ("of_64_bytes",),
}
#: Rows that say nothing of packets lost.
_PASSED = re.compile(
    r"\s*(?:[-\\|/] )?(?:Ports \d.*|(?:Flags:Port|Port:Flags|Broadcast|Multicast|(?:Rx )?Sizes 64"
    r"|64 Bytes|\d{2,4}-\d{2,4}|Runts/Jumbos|ARP/ICMP Pkts|(?:Rx/Tx|Rx|Tx|Rx:Tx) MBs"
    r"|Max Pkts/s Rx:Tx|Pattern Type|Tx Count/% Rate|Pkt ?Size/Tx Burst|TTL/Port Src/Dest"
    r"|Src/Dest Port|Pkt Type:VLAN ID|802\.1p CoS.*|VxLAN Flg.*|(?:Dst|Src) +(?:IP|MAC) Address"
    r"|VendID/PCI Addr|)\s*:.*|-- Pktgen .*)"
)
#: Shares by which what is received may differ from what is sent in the last second.
_SAME = 0.01


@dataclass(slots=True)
class _Screen:
    """Sums over the ports; a later screen replaces an earlier one."""

    values: dict[str, list[int]] = field(default_factory=dict)
    #: Mbit/s of each port's link; 0 where it is down.
    links: list[int] = field(default_factory=list)
    quote: Quote | None = None

    def sum(self, name: str) -> int | None:
        """All ports together; rates have a column more, with their total."""
        if name not in self.values:
            return None
        return sum(self.values[name][: len(self.links) or self._columns])

    @property
    def _columns(self) -> int:
        """The number of ports by the rows that have no total."""
        return min(len(cells) for cells in self.values.values())

    @property
    def line_percent(self) -> float | None:
        """The fullest link that is sent on; of a test that is over, in its fastest second."""
        sent: list[float] = [float(rate) for rate in self.values.get("tx_mbps", [])]
        if not any(sent) and self.sum("of_64_bytes") == self.sum("received"):
            rates = self.values.get("max_tx_pps", [])
            sent = [line_rate.l1_bits(64) * rate / 1e6 for rate in rates]
        shares = [
            min(100.0, 100.0 * rate / link)
            for rate, link in zip(sent, self.links, strict=False)
            if link
        ]
        return max(shares, default=0.0) or None


@parser("Pktgen-DPDK")
def pktgen_dpdk(text: Text) -> Evidence | None:
    """Read the screen; of several the last one counts."""
    if "MBits/s" not in text.whole and "Total Rx Pkts" not in text.whole:
        return None
    screen, rows = _Screen(), 0
    for line in text.rows:
        match = _ROW.fullmatch(line.text)
        if match is None:
            continue
        name = match["name"]
        if name == "Link State" and (links := [*_LINK.finditer(match["cells"])]):
            text.take(line)
            screen.links = [int(one["mbps"] or 0) for one in links]
        elif name in _ROWS and (cells := _CELL.findall(match["cells"])):
            quote = text.take(line)
            screen.quote = quote if name == "Tx Pkts" or screen.quote is None else screen.quote
            _note(screen, _ROWS[name], cells)
            rows += 1
    if rows < MIN_ROWS or screen.quote is None:
        return None
    for line in text.rows:
        if _PASSED.fullmatch(line.text):
            text.take(line)
    return _evidence(screen, screen.quote)


#: With fewer rows it may be another program's.
MIN_ROWS = 2


def _note(screen: _Screen, names: tuple[str, ...], cells: list[str]) -> None:
    parts = [[count(part) for part in cell.split("/")] for cell in cells]
    for at, name in enumerate(names):
        found = [part[at] for part in parts if len(part) == len(names)]
        known = [value for value in found if value is not None]
        if name and known:
            screen.values[name] = known


def _evidence(screen: _Screen, quote: Quote) -> Evidence:
    sent, received = screen.sum("sent"), screen.sum("received")
    rates = screen.sum("tx_pps"), screen.sum("rx_pps")
    doubts: tuple[Quote, ...] = ()
    if _counted_otherwise(screen):
        why = "the totals differ, and the rates of the last second do not: older than the test"
        doubts = (quote.model_copy(update={"text": f"{quote.text}: {why}"}),)
        sent = received = None
    tester = Tester(
        name="Pktgen",
        sent_packets=sent,
        received_packets=received,
        missed_packets=screen.sum("missed"),
        tx_pps=rates[0] or None,
        rx_pps=rates[1] or None,
        line_percent=screen.line_percent,
        quote=quote,
    )
    return Evidence(testers=(tester,), doubts=doubts)


def _counted_otherwise(screen: _Screen) -> bool:
    """Whether it receives as much as it sends now, and counted something else before."""
    sent, received = screen.sum("sent") or 0, screen.sum("received") or 0
    tx_pps, rx_pps = screen.sum("tx_pps") or 0, screen.sum("rx_pps") or 0
    if not tx_pps or not rx_pps:
        return False
    return abs(tx_pps - rx_pps) <= _SAME * tx_pps and abs(sent - received) > _SAME * sent
