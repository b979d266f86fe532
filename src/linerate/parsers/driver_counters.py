"""Counters of network drivers that stand for lost packets, each driver with its own names.

`ethtool -S` prints them, and DPDK's extended statistics. Where a driver counts the same packets
under several names, or once for the port and once for each queue, one of the names counts: the one
that says most.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from linerate.model.evidence import Cause

_RX_QUEUE = r"rx_?(?:queue_)?\d{1,5}_"
#: bnxt, bnx2x: a counter of one ring.
_RING = r"\[\d{1,5}\]: "


class _Group(NamedTuple):
    """Names for the same packets; a name belongs to the first group that it fits."""

    cause: Cause
    names: tuple[str, ...]
    #: The group counts only beside a counter of this name.
    beside: str = ""


#: rx_no_buffer_count (RNBC of Intel's) is none: such frames may still wait in the card. Events are
#: none either: empty rings (ena), stopped queues, allocations that were tried again.
_GROUPS = (
    # A cloud's allowances (ENA: queued or dropped), rate limits of a virtio device.
    _Group("shaper", ("bw_in_allowance_exceeded",)),
    _Group("shaper", ("bw_out_allowance_exceeded",)),
    _Group("shaper", ("pps_allowance_exceeded",)),
    _Group("shaper", ("conntrack_allowance_exceeded",)),
    _Group("shaper", ("linklocal_allowance_exceeded",)),
    _Group("shaper", (rf"{_RX_QUEUE}hw_ratelimit_packets",)),
    _Group("shaper", (r"tx_?(?:queue_)?\d{1,5}_hw_ratelimit_packets",)),
    # Intel: MPC, the packet buffer was full as the ring took nothing; r8169, stmmac.
    _Group("rx-ring", ("rx_missed_errors|rx_missed", "mmc_rx_fifo_overflow", "rx_overflow_cntr")),
    # i40e, ice, iavf of DPDK; ixgbe of DPDK by priority; bnxt of DPDK.
    _Group("rx-ring", ("rx_dropped_packets", r"rx_priority\d_dropped", "rx_discard_pkts")),
    # virtio: packets that the driver gave up; the ring's are counted by the device.
    _Group("other", (rf"{_RX_QUEUE}drops",), beside=rf"{_RX_QUEUE}kicks"),
    _Group("rx-ring", (rf"{_RX_QUEUE}hw_drop_overruns",)),
    # ixgbe; igb, igc (RQDPC), veth by queue; the kernel's sum of them.
    _Group(
        "rx-ring", ("rx_no_dma_resources", rf"{_RX_QUEUE}drops", "rx_fifo_errors|rx_over_errors")
    ),
    # i40e, ice: the port's own buffer was full; the ring of its function took nothing.
    _Group("rx-ring", (r"port\.rx_(?:dropped|discards)|rx_dropped\.nic",)),
    _Group("rx-ring", ("rx_dropped", r"veb\.rx_discards"), beside=r"port\.\w+|\w+\.nic"),
    _Group("rx-ring", ("rx_drops",), beside=r"queue_\d{1,5}_rx_\w+"),
    _Group("rx-ring", ("rx_overruns",)),
    # mlx5 counters.rst: the receive queue had no buffer of the driver's.
    _Group("rx-ring", ("rx_out_of_buffer",)),
    # The same: the card's own buffer on the port was full. Neither says why: a CPU that is late,
    # a small ring, the card or PCIe.
    _Group(
        "rx-ring",
        ("rx_discards_phy|rx_phy_discard_packets", r"rx_prio\d_(?:buf_)?discards?(?:_packets)?"),
    ),
    _Group("rx-ring", ("dev_internal_queue_oob",)),
    # bnxt, bnx2x, tg3.
    _Group(
        "rx-ring",
        (
            rf"{_RING}rx_(?:discards|discard_pkts|drops)",
            "rx_discards|rx_stat_discard",
            "rx_total_discard_pkts",
            r"rx_discard_pkts_cos\d",
            "rx_brb_discard|rx_fw_discards",
        ),
    ),
    _Group("rx-ring", ("rx_ftq_discards",)),
    # sfc, qede, be2net, cxgb4, atlantic, enic, nfp.
    _Group("rx-ring", (r"(?:port_)?rx_nodesc_drops(?:_cnt)?", "no_buff_discards", "rx_no_bufs")),
    _Group(
        "rx-ring", (r"(?:port_)?rx_pm_discard_\w{1,40}", r"(?:port_)?rx_overflow", "brb_discards")
    ),
    _Group("rx-ring", (r"(?:rxq\d{1,5}: )?rx_drops_no_(?:pbuf|txpb|erx_descr|tpre_descr|frags)",)),
    _Group("rx-ring", (r"(?:rx_)?bg\d_frames_dropped", "InDroppedDma", "dev_rx_discards")),
    # mvneta, mvpp2.
    _Group("rx-ring", ("rx_overrun|rx_fifo_overrun|rx_ppv2_overrun",)),
    _Group("rx-ring", (r"rxq_\d{1,5}_queue_full_drops", "rx_discard")),
    # mlx4, by queue.
    _Group("other", (r"rx\d{1,5}_dropped",)),
    # vmxnet3, gve, mana.
    _Group("rx-ring", (r"rxq\d{1,5} pkts rx (?:OOB|out of buf)",)),
    _Group("rx-ring", (r"rx_no_buffers_posted\[\d{1,5}\]", r"rx_queue_drop_cnt\[\d{1,5}\]")),
    _Group("rx-ring", ("hc_rx_discards_no_wqe",)),
    # mlx5 counters.rst: more was received than the PCIe bus took.
    _Group("pcie", ("outbound_pci_buffer_overflow",)),
    _Group("buffers", ("alloc_rx_buff_failed|rx_alloc_buff_failed|rx_buff_alloc_err",)),
    _Group("buffers", (rf"{_RING}rx_skb_alloc_discard", "rx_skb_alloc_discard")),
    _Group("buffers", (rf"{_RING}rx_oom_discards", "rx_total_oom_discards")),
    _Group("buffers", (r"rxq_\d{1,5}_packets_bm_drops|rx_ppv2_bm_drop",)),
    # hv_netvsc.
    _Group("buffers", ("tx_no_memory",)),
    _Group("tx-ring", ("vf_tx_dropped",)),
    _Group("buffers", ("rx_no_memory", r"\[hw\] rx nobuffer discards")),
    # mlx5 counters.rst: no flow rule wanted them. An XDP program drops by what it was made for.
    _Group("configuration", ("rx_steer_missed_packets",)),
    _Group(
        "configuration",
        (
            "rx_xdp_drops?",
            rf"{_RX_QUEUE}xdp_drops?|queue_\d{{1,5}}_rx_xdp_drop",
            r"rx_xdp_drop\[\d{1,5}\]",
        ),
    ),
    _Group("configuration", ("rx_if_down_packets",)),
    _Group("configuration", ("(?:mftag|mac)_filter_discards|rx_drops_mtu",)),
    # gve: frames above the largest that it receives; damaged ones.
    _Group("configuration", (r"rx_drops_packet_over_mru\[\d{1,5}\]",)),
    _Group("damaged", (r"rx_drops_invalid_checksum\[\d{1,5}\]",)),
    _Group("link", (r"port\.tx_dropped_link_down|tx_dropped_link_down\.nic|tx_link_down_dropped",)),
    _Group(
        "damaged",
        (
            r"(?:port\.)?rx_crc_errors(?:_phy|\.nic)?|rx_phy_crc_errors",
            "rx_fcs_err_frames|rx_fcs_errors|bad_crc_event|mmc_rx_crc_error|align_errors",
        ),
    ),
    _Group("damaged", (r"(?:port\.)?rx_length_errors(?:\.nic)?",)),
    _Group("tx-ring", ("tx_dropped|tx_drops", "tx_queue_dropped", r"tx\d{1,5}_dropped")),
    _Group("tx-ring", ("tx_discards_phy",)),
    _Group(
        "tx-ring",
        (rf"{_RING}tx_discards", "tx_stat_discard", "tx_total_discard_pkts", "tx_no_space"),
    ),
    _Group("tx-ring", ("rx_xdp_tx_full", r"rx\d{1,5}_xdp_tx_full")),
    _Group("tx-ring", ("tx_xdp_full", r"tx\d{1,5}_xdp_full")),
    _Group("tx-ring", (r"tx_queue_\d{1,5}_xdp_(?:xmit_errors|tx_drops)",)),
    # They don't say where, or why.
    _Group("other", ("rx_dropped|rx_drops", r"rx_dropped_pkt\[\d{1,5}\]")),
    # vmxnet3, in the kernel and in DPDK.
    _Group("other", (r"rxq\d{1,5} (?:drv dropped rx total|pkts rx err)",)),
    _Group("other", (r"rx_q\d{1,5}_drop_total",)),
    _Group("other", (r"tx_q\d{1,5}_drop_total", "tx_dropped_packets")),
    _Group("other", (r"txq\d{1,5} (?:drv dropped tx total|pkts tx discard)",)),
    _Group("other", ("hc_rx_pkt_drop_phy|rx_pkt_drop_phy",)),
)
_COMPILED = tuple(
    (group, tuple(re.compile(name) for name in group.names), re.compile(group.beside))
    for group in _GROUPS
)
_ANY = re.compile("|".join(name for group in _GROUPS for name in group.names))


class Lost(NamedTuple):
    """A counter of lost packets."""

    name: str
    cause: Cause
    packets: int


def is_loss(name: str) -> bool:
    """Say whether a counter of that name stands for lost packets with some driver."""
    return _ANY.fullmatch(name) is not None


def lost(counters: Mapping[str, int]) -> list[Lost]:
    """Return the packets lost, each counted once."""
    candidates = [name for name in counters if is_loss(name)]
    found: list[Lost] = []
    claimed: set[str] = set()
    for group, patterns, beside in _COMPILED:
        alternatives = [
            [name for name in candidates if name not in claimed and pattern.fullmatch(name)]
            for pattern in patterns
        ]
        if not any(alternatives):
            continue
        if group.beside and not any(beside.fullmatch(name) for name in counters):
            continue
        claimed.update(name for names in alternatives for name in names)
        most = max(alternatives, key=lambda names: sum(counters[name] for name in names))
        found += [Lost(name, group.cause, counters[name]) for name in most if counters[name]]
    return found
