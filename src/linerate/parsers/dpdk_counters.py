"""Counters of DPDK's ports, in the words of each of its programs: rte_eth_stats and xstats.

`show port stats` says `RX-missed`, telemetry `imissed`, the extended statistics `rx_missed_errors`:
one counter. A driver's own counters (xstats) say what the generic ones do not.
"""

import re
from collections.abc import Iterator

from linerate.model.evidence import Cause, Loss, Port
from linerate.parsers import driver_counters
from linerate.parsers.readings import Reading

#: Names of the same packets. RX-dropped is imissed since `start`, TX-dropped the packets that
#: rte_eth_tx_burst() did not take.
_LOSSES: tuple[tuple[Cause, tuple[str, ...]], ...] = (
    ("rx-ring", ("RX-missed", "imissed", "rx_missed_errors", "RX-dropped")),
    ("damaged", ("RX-errors", "ierrors", "rx_errors")),
    ("buffers", ("RX-nombuf", "rx_nombuf", "rx_mbuf_allocation_errors")),
    ("tx-ring", ("TX-dropped",)),
    ("other", ("TX-errors", "oerrors", "tx_errors")),
)
_GENERIC = frozenset(name for _, names in _LOSSES for name in names)
_CRC = ("rx_crc_errors", "rx_crc_errors_phy", "rx_phy_crc_errors")
#: A driver's counters that imissed and oerrors are made of, or that say no more than they do.
_AGAIN: frozenset[Cause] = frozenset(("rx-ring", "tx-ring", "other", "buffers", "damaged"))
#: A port's own buffer, before the rings that imissed is about.
_OF_PORT = re.compile(
    r"rx_discards_phy|rx_phy_discard_packets|rx_prio\d_(?:buf_)?discards?(?:_packets)?"
)
_QUEUE = re.compile(r"rx_q(?:ueue_)?(\d{1,5})_?(?:good_)?packets|q_ipackets\[(\d{1,5})\]")


def port_of(
    name: str, reading: Reading, queues: tuple[int | None, int | None] = (None, None)
) -> Port:
    """Return a port with these counters, and the numbers of its rx and tx queues where known."""
    counters = reading.counters

    def first(*names: str) -> int | None:
        return next((counters[one] for one in names if one in counters), None)

    of_queues = {
        int(match[1] or match[2]): value
        for key, value in counters.items()
        if (match := _QUEUE.fullmatch(key))
    }
    return Port(
        name=name,
        rx_packets=first("RX-packets", "ipackets", "rx_good_packets"),
        tx_packets=first("TX-packets", "opackets", "tx_good_packets"),
        rx_bytes=first("RX-bytes", "ibytes", "rx_good_bytes"),
        tx_bytes=first("TX-bytes", "obytes", "tx_good_bytes"),
        # The first show after the start has nothing to compare with, and says 0.
        rx_pps=first("Rx-pps") or None,
        tx_pps=first("Tx-pps") or None,
        rx_queues=queues[0],
        tx_queues=queues[1],
        queue_packets=of_queues,
        counters=counters,
        quote=reading.where,
    )


def losses_of(name: str, reading: Reading) -> Iterator[Loss]:
    """Packets lost at a port, each once."""
    counters, quotes = reading.counters, reading.quotes

    def lost(counter: str, cause: Cause, packets: int) -> Iterator[Loss]:
        if packets > 0:
            place = f"{name}: {counter}"
            yield Loss(place=place, cause=cause, packets=packets, quote=quotes[counter])

    found = False
    for cause, names in _LOSSES:
        # The name that was printed last counts.
        known = [one for one in names if one in counters]
        counter = max(known, key=lambda one: quotes[one].line, default=None)
        if counter is None:
            continue
        found = found or cause != "tx-ring"
        packets = counters[counter]
        if cause == "damaged":
            crc = next((one for one in _CRC if counters.get(one)), None)
            if crc is not None:
                yield from lost(crc, "damaged", counters[crc])
                packets -= counters[crc]
        yield from lost(counter, cause, packets)
    for one in driver_counters.lost({k: v for k, v in counters.items() if k not in _GENERIC}):
        if not found or one.cause not in _AGAIN or _OF_PORT.fullmatch(one.name):
            yield from lost(one.name, one.cause, one.packets)
