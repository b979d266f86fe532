"""The address of a NIC's interface: kept while DPDK has the NIC, and given back with it.

Some devices (vmxnet3) keep the address that was set last; after an engine that was killed, their
kernel driver takes that for their own.
"""

from linerate.host.doctor.host_view import Host, UnknownError
from linerate.host.doctor.journal import RepairError
from linerate.host.doctor.nics import interfaces


def read_mac(host: Host, address: str) -> str:
    """Return that of a NIC's only interface; empty when it has none, or several."""
    names = interfaces(host, address)
    return (host.read(f"/sys/class/net/{names[0]}/address") or "") if len(names) == 1 else ""


def give_back(host: Host, address: str, mac: str) -> None:
    """Give the NIC's interface this address, if it has another; raises RepairError."""
    if not mac or read_mac(host, address) in ("", mac):
        return
    (name,) = interfaces(host, address)
    host.forget()
    try:
        host.need_output("ip", "link", "set", "dev", name, "address", mac)
    except UnknownError as error:
        raise RepairError(f"{name} has another address than before, {mac}: {error}") from error
