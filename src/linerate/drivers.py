"""Port drivers of the engine that a kernel's interface can be given to (docs/engine.md)."""

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


def on_interface(driver: str, interface: str, netns: str, number: int) -> dict[str, Any]:
    """Configure a port on an interface; `number` is another one for each port of a process."""
    if driver not in _ETHDEV:
        return {"driver": driver, "device": interface, "netns": netns}
    device, devargs = _ETHDEV[driver]
    return {
        "driver": "ethdev",
        "device": f"{device}{number}",
        "devargs": devargs.format(interface=interface),
        "netns": netns,
    }
