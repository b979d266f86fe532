"""`ethtool -S`: a driver's own counters, each driver with its own names."""

import re

from linerate.model.evidence import Cause, Evidence, Loss, Port, Quote
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_HEADER = re.compile(r"^\s*NIC statistics:\s*$")
_COUNTER = re.compile(
    r"^\s*(?P<name>(?:\[\d{1,5}\]:\s*)?[a-z][\w.\-\[\] ]{0,100}?):\s*(?P<value>\d{1,20})\s*$",
    re.ASCII | re.IGNORECASE,
)
_COMMAND = re.compile(r"\bethtool\s+(?:-S|--statistics)\s+(?P<port>[\w.@:-]{1,40})")
#: Packets of a queue: ixgbe, igb, igc, virtio; i40e; mlx5, virtio; bnxt's come in three kinds.
_QUEUE = re.compile(
    r"^(?:rx_queue_(?P<a>\d{1,5})_packets|rx-(?P<b>\d{1,5})\.(?:rx_)?packets"
    r"|rx_?(?P<c>\d{1,5})_packets|queue_(?P<d>\d{1,5})_rx_(?:cnt|packets)"
    r"|\[(?P<e>\d{1,5})\]:\s*rx_[umb]cast_packets)$"
)
#: Without the heading, only a list that has one of these is a card's.
_SURE = frozenset({"rx_packets", "rx_packets_phy", "rx0_packets", "rx_queue_0_packets"})
_LIST_MIN = 4

#: Loss counters by name; duplicates are left out, so that each packet counts once.
#: rx_no_buffer_count (RNBC) is none: such frames may still wait in the card.
_LOSSES: tuple[tuple[Cause, str], ...] = (
    # Intel: MPC, the packet buffer was full as the ring took nothing; RQDPC by queue.
    ("rx-ring", r"rx_missed_errors|rx_missed|rx_no_dma_resources|rx_queue_\d+_drops"),
    # i40e, ice (GLV_RDPC), ena, virtio: no descriptor.
    ("rx-ring", r"(?:port\.)?rx_dropped(?:\.nic)?|rx_drops"),
    # mlx5 counters.rst: the receive queue had no software buffers.
    ("rx-ring", r"rx_out_of_buffer"),
    # mlx5 counters.rst: dropped for lack of buffers on the physical port, the adapter is
    # congested. It does not say by what: the card's rate, or PCIe, which then says so itself.
    ("card-pps", r"rx_discards_phy"),
    # mlx5 counters.rst: receive traffic larger than the PCIe bus.
    ("pcie", r"outbound_pci_buffer_overflow"),
    ("buffers", r"(?:alloc_rx_buff_failed|rx_alloc_buff_failed|rx_buff_alloc_err)"),
    # mlx5 counters.rst: no flow rule wanted them.
    ("configuration", r"rx_steer_missed_packets"),
    ("damaged", r"rx_crc_errors(?:_phy|\.nic)?|(?:port\.)?rx_crc_errors|rx_length_errors"),
    ("tx-ring", r"tx_dropped|tx_queue_dropped|tx_discards_phy"),
)
_CAUSES = tuple((cause, re.compile(rf"^(?:{pattern})$")) for cause, pattern in _LOSSES)


@parser("ethtool -S")
def ethtool_stats(text: Text) -> Evidence | None:
    """Read each list of counters."""
    ports: list[Port] = []
    losses: list[Loss] = []
    name = ""
    head: Line | None = None
    rows: list[tuple[Line, re.Match[str]]] = []
    for line in (*text, Line(0, "-")):
        row = _COUNTER.match(line.text)
        if row is not None and not line.typed:
            rows.append((line, row))
            continue
        if not line.text.strip():
            continue
        if rows:
            _list(text, name or "NIC", head, rows, ports, losses)
            rows, head, name = [], None, ""
        if _HEADER.match(line.text):
            head = line
        elif command := _COMMAND.search(line.text):
            name = command["port"]
    return Evidence(ports=tuple(ports), losses=tuple(losses)) if ports else None


def _list(
    text: Text,
    name: str,
    head: Line | None,
    rows: list[tuple[Line, re.Match[str]]],
    ports: list[Port],
    losses: list[Loss],
) -> None:
    counters = {row["name"]: int(row["value"]) for _, row in rows}
    if head is None and (len(rows) < _LIST_MIN or not _SURE & counters.keys()):
        return
    quotes = {row["name"]: text.take(line) for line, row in rows}
    quote: Quote = next(iter(quotes.values())) if head is None else text.take(head)
    queues: dict[int, int] = {}
    for key, value in counters.items():
        if match := _QUEUE.match(key):
            queue = next(int(group) for group in match.groups() if group is not None)
            queues[queue] = queues.get(queue, 0) + value
        cause = next((cause for cause, pattern in _CAUSES if pattern.match(key)), None)
        if cause is not None and value:
            losses.append(
                Loss(place=f"{name}: {key}", cause=cause, packets=value, quote=quotes[key])
            )

    def first(*names: str) -> int | None:
        return next((counters[one] for one in names if one in counters), None)

    ports.append(
        Port(
            name=name,
            # Frames seen by the card, where it counts them; otherwise those received by the driver.
            rx_packets=first("rx_packets_phy", "port.rx_packets", "rx_packets"),
            tx_packets=first("tx_packets_phy", "port.tx_packets", "tx_packets"),
            rx_bytes=first("rx_bytes_phy", "port.rx_bytes", "rx_bytes"),
            tx_bytes=first("tx_bytes_phy", "port.tx_bytes", "tx_bytes"),
            rx_queues=len(queues) or None,
            queue_packets=queues,
            counters=counters,
            quote=quote,
        )
    )
