"""Port drivers of the engine for kernel interfaces (docs/engine-configuration.md)."""

from collections.abc import Iterable
from typing import Any

#: DPDK's drivers for them, and what their devargs call the interface.
_ETHDEV = {
    "af_packet": ("net_af_packet", "iface={interface},qdisc_bypass=1"),
    "af_xdp": ("net_af_xdp", "iface={interface}"),
    "pcap": ("net_pcap", "iface={interface}"),
}
#: Those that move a chosen number of packets with a system call.
WITH_BATCH = ("socket-vector", "io_uring")
INTERFACE_DRIVERS = (
    "socket-single",
    "socket-vector",
    "socket-mmap",
    "libpcap",
    "io_uring",
    *_ETHDEV,
)


#: DPDK's devices that take from a sender no more than what is behind them has room for, by how
#: their names begin, and what they are in a report.
_PUSH_BACK = {
    "net_memif": "memif sockets",
    "net_af_packet": "packet sockets on interfaces",
    "net_af_xdp": "AF_XDP sockets on interfaces",
    "net_tap": "tap interfaces",
}


def pushes_back(device: str) -> bool:
    """Whether a DPDK device leaves what does not fit with the sender, who offers less then."""
    return device.startswith(tuple(_PUSH_BACK))


def kind_of_ports(devices: Iterable[str]) -> str:
    """Kind of the ports in words: `memif sockets`, `real ports`, or both."""
    kinds = (_kind_of_port(device) for device in devices)
    return " and ".join(dict.fromkeys(kinds))


def _kind_of_port(device: str) -> str:
    if ":" in device:
        return "real ports"
    known = (text for name, text in _PUSH_BACK.items() if device.startswith(name))
    return next(known, f"{device.rstrip('0123456789')} devices")


def on_interface(driver: str, interface: str, netns: str, number: int) -> dict[str, Any]:
    """Configure a port on an interface; `number` is another one for each port of a process."""
    there = {"netns": netns} if netns else {}
    if driver not in _ETHDEV:
        return {"driver": driver, "device": interface, **there}
    device, devargs = _ETHDEV[driver]
    return {
        "driver": "ethdev",
        "device": f"{device}{number}",
        "devargs": devargs.format(interface=interface),
        **there,
    }
