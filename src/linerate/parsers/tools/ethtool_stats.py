"""`ethtool -S`: a driver's own counters, each driver with its own names.

Whole lists, what `grep` left of them (with the file or the interface before each line), and
several lists of one interface, of which the difference counts.
"""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Loss, Port
from linerate.parsers import driver_counters
from linerate.parsers.numbers import count
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import ROW_MAX_CHARS, Line, Text
from linerate.parsers.tools import parser

_HEADER = re.compile(r"^\s*NIC statistics:\s*$")
_COMMAND = re.compile(
    r"\bethtool\s{1,8}(?:-S|--statistics)\s{1,8}(?P<port>[\w.@:-]{1,40}[\w.@-])"
    r"|\bethtool_-S_(?P<file>[\w.@-]{1,40})"
)
_NAME = re.compile(
    r"(?:\[\w{1,5}\]:? ?|[rt]xq\d{1,5}: )?[a-z][\w.\-\[\] #/]{0,100}", re.ASCII | re.IGNORECASE
)
#: vmxnet3 names a queue, then its counters.
_OF_QUEUE = re.compile(r"(?P<way>[TR]x) Queue#")
#: Names that people give interfaces; anything else before a counter is a file's.
_INTERFACE = re.compile(
    r"(?:eth|en[opsxP]?|em|ib|bond|br|wl|ww|veth|vlan|lan|wan|mlx|ixgbe|i40e|igb|team|tap|tun|sw|xe"
    r"|ge|net|p\d{1,3}p)\d[\w.@-]{0,30}|en[opsxP]\w{1,30}|(?:lan|wan)"
)
_EXTENSION = re.compile(r"\.(?:txt|log|out)$")
#: A counter's prefix in be2net's list.
_RX_RING = re.compile(r"[rt]xq\d{1,5}")
#: Counters of DPDK's drivers: another tool's list.
_DPDK = re.compile(r"[rt]x_good_(?:packets|bytes)|[rt]x_q\d{1,5}_?(?:packets|bytes|errors)")
_DPDK_HEADING = re.compile(r"NIC (?:extended )?statistics for port|xstats", re.IGNORECASE)
#: Packets of a queue: ixgbe, igb, igc, virtio; i40e; ice, mlx5, virtio; ena; bnxt's come in three
#: kinds, as do vmxnet3's.
_QUEUE = re.compile(
    r"(?P<way>[rt]x)_queue_(?P<a>\d{1,5})_packets|(?P<way2>[rt]x)-(?P<b>\d{1,5})\.(?:[rt]x_)?packets"
    r"|(?P<way3>[rt]x)_?(?P<c>\d{1,5})_packets|queue_(?P<d>\d{1,5})_(?P<way4>[rt]x)_(?:cnt|packets)"
    r"|\[(?P<e>\d{1,5})\]: (?P<way5>[rt]x)_[umb]cast_packets"
    r"|(?P<way6>[rt]x)q(?P<f>\d{1,5}) [umb]cast pkts [rt]x"
    r"|(?P<way7>[rt]x)q(?P<g>\d{1,5}): [rt]x_pkts"
)
#: Without the heading, only a list that has one of these is a card's.
_SURE = frozenset({"rx_packets", "rx_packets_phy", "rx0_packets", "rx_queue_0_packets"})
_LIST_MIN = 4
#: They go up and down: no counters.
_GAUGE = re.compile(r"\w*(?:_available|_utilization|_mode|_usecs|temperature|_ifindex|_speed)")
#: i40e, ice count these of the port.
_KINDS = ("unicast", "multicast", "broadcast")
#: Words of which one is in each list, or in the command before it.
_WORDS = ("NIC statistics", "rx_", "tx_", "Queue#", "_exceeded", "ethtool -S")
#: Longer lines have no counter.
_ROW_MAX_CHARS = 300


@dataclass(slots=True)
class _List:
    """Lines of one list, until something else comes."""

    head: Line | None = None
    dpdk: bool = False
    #: Words before its counters: a file or an interface.
    before: str = ""
    queue: str = ""
    rows: dict[str, tuple[Line, int]] = field(default_factory=dict)


@dataclass(slots=True)
class _Lists:
    """All lists of a text, and the interfaces that the last command asked for."""

    text: Text
    #: DPDK prints counters by the same names.
    with_dpdk: bool
    readings: Readings = field(default_factory=Readings)
    current: _List = field(default_factory=_List)
    ports: list[str] = field(default_factory=list)
    unnamed: int = 0

    def end(self) -> None:
        """Keep the list that is now over, if it is a card's."""
        ended, self.current = self.current, _List()
        if not self._is_of_card(ended):
            return
        reading = Reading(quote=None if ended.head is None else self.text.take(ended.head))
        for name, (line, value) in ended.rows.items():
            reading.note(name, value, self.text.take(line))
        self.readings.add(self._name(ended, reading), reading)
        if len(self.ports) > 1:
            self.ports.pop(0)

    def _is_of_card(self, ended: _List) -> bool:
        if not ended.rows or ended.dpdk or any(map(_DPDK.fullmatch, ended.rows)):
            return False
        if ended.head is not None or self.ports:
            return True
        if len(ended.rows) >= _LIST_MIN and _SURE & ended.rows.keys():
            return True
        return not self.with_dpdk and any(map(driver_counters.is_loss, ended.rows))

    def _name(self, ended: _List, reading: Reading) -> str:
        file = _EXTENSION.sub("", ended.before.rsplit("/", 1)[-1])
        if command := _COMMAND.search(file):
            return command["file"] or command["port"]
        if _INTERFACE.fullmatch(file):
            return file
        if self.ports:
            return self.ports[0]
        # Without a name, a list of the same counters that went on counting is the same card's.
        name = _unnamed(self.unnamed)
        if name in self.readings:
            known = self.readings.last(name).counters
            both = known.keys() & reading.counters.keys()
            fewer = any(reading.counters[key] < known[key] for key in both)
            if fewer or (both and known.keys() != reading.counters.keys()):
                self.unnamed += 1
        return _unnamed(self.unnamed)


@parser("ethtool -S")
def ethtool_stats(text: Text) -> Evidence | None:
    """Read each list of counters; of several lists of one interface the difference counts."""
    whole = text.whole
    if not any(word in whole for word in _WORDS):
        return None
    lists = _Lists(text, with_dpdk="testpmd" in whole or "rx_good_packets" in whole)
    for line in text:
        content = line.text.strip()
        if not content:
            continue
        row = None if line.typed or len(content) > _ROW_MAX_CHARS else _row(content)
        if row is not None:
            _counter(lists, line, *row)
            continue
        if lists.current.rows:
            lists.end()
        if _HEADER.match(content):
            lists.current = _List(head=line)
        elif len(content) <= ROW_MAX_CHARS:
            lists.ports = [one["port"] or one["file"] for one in _COMMAND.finditer(content)]
            lists.current = _List(dpdk=_DPDK_HEADING.search(content) is not None)
    lists.end()
    return _evidence(lists.readings)


def _row(content: str) -> tuple[str, str, int] | None:
    """Words before a counter, its name and its value."""
    named, colon, digits = content.rpartition(":")
    value = count(digits.strip()) if colon else None
    if value is None:
        return None
    before, _, name = named.rstrip().rpartition(":")
    if before and before.endswith("]"):
        before, _, ring = before.rpartition("[")
        name = f"[{ring}: {name.strip()}"
        before = before.rstrip().removesuffix(":")
    if _RX_RING.fullmatch(before):
        before, name = "", f"{before}: {name.strip()}"
    before, name = before.strip(), " ".join(name.split())
    if _NAME.fullmatch(name) is None or " " in before:
        return None
    # `grep -n` puts the line's number there.
    return ("" if before.isdecimal() else before, name, value)


def _counter(lists: _Lists, line: Line, before: str, name: str, value: int) -> None:
    current = lists.current
    if queue := _OF_QUEUE.fullmatch(name):
        current.queue = f"{queue['way'].lower()}q{value} "
        name = f"{current.queue}number"
    elif current.queue:
        name = current.queue + name
    if name in current.rows or (current.rows and before != current.before):
        lists.end()
        lists.current = _List(head=current.head, queue=current.queue)
    lists.current.before = before
    lists.current.rows[name] = (line, value)


def _unnamed(number: int) -> str:
    return "NIC" if number == 0 else f"NIC {number + 1}"


def _evidence(readings: Readings) -> Evidence | None:
    ports: list[Port] = []
    losses: list[Loss] = []
    for name, reading in readings.counted(gauges=_GAUGE):
        ports.append(port_of(name, reading))
        losses += [
            Loss(
                place=f"{name}: {lost.name}",
                cause=lost.cause,
                packets=lost.packets,
                quote=reading.quotes[lost.name],
            )
            for lost in driver_counters.lost(reading.counters)
        ]
    return Evidence(ports=tuple(ports), losses=tuple(losses)) if ports else None


def port_of(name: str, reading: Reading) -> Port:
    """Return a port with the counters of a driver's list."""
    counters = reading.counters
    queues: dict[str, dict[int, int]] = {"rx": {}, "tx": {}}
    for key, value in counters.items():
        if match := _QUEUE.fullmatch(key):
            found = [group for group in match.groups() if group is not None]
            way = queues[next(one for one in found if not one.isdecimal())]
            queue = int(next(one for one in found if one.isdecimal()))
            way[queue] = way.get(queue, 0) + value

    def first(*names: str) -> int | None:
        return next((counters[one] for one in names if one in counters), None)

    def packets(way: str) -> int | None:
        # Frames seen by the card, where it counts them; otherwise those received by the driver.
        total = first(f"{way}_packets_phy", f"port.{way}_packets")
        kinds = [first(f"port.{way}_{kind}", f"{way}_{kind}.nic") for kind in _KINDS]
        if kinds[0] is None:
            # tg3, bnx2, bnx2x, qede.
            kinds = [first(f"{way}_{kind}_packets") for kind in ("ucast", "mcast", "bcast")]
        if total is None and kinds[0] is not None:
            total = sum(filter(None, kinds))
        atlantic = {"rx": "InPackets", "tx": "OutPackets"}[way]
        total = first(f"{way}_packets", atlantic) if total is None else total
        return sum(queues[way].values()) if total is None and queues[way] else total

    return Port(
        name=name,
        rx_packets=packets("rx"),
        tx_packets=packets("tx"),
        rx_bytes=first("rx_bytes_phy", "port.rx_bytes", "rx_bytes"),
        tx_bytes=first("tx_bytes_phy", "port.tx_bytes", "tx_bytes"),
        rx_queues=len(queues["rx"]) or None,
        queue_packets=queues["rx"],
        counters=counters,
        quote=reading.where,
    )
