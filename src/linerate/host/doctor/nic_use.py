"""Use of a NIC by the host, which it would lose with the driver."""

import ipaddress
import json
from collections.abc import Iterator

from linerate.host.doctor.host_view import Host
from linerate.host.doctor.nics import interfaces

#: TCP_ESTABLISHED, and sshd's port, as /proc/net/tcp writes them.
_ESTABLISHED = "01"
_SSH = "0016"
_DEFAULT = "default"


def uses(host: Host, address: str) -> tuple[str, ...]:
    """Say each use of the NIC at a PCI address in some words; none: it may be taken."""
    return tuple(
        dict.fromkeys(use for name in interfaces(host, address) for use in _of(host, name))
    )


def _of(host: Host, interface: str) -> Iterator[str]:
    routes = _routes(host, interface)
    if routes:
        which = "the default route is" if _DEFAULT in routes else "routes are"
        yield f"{which} over {interface}"
    own = _addresses(host, interface)
    yield from (f"{interface} has address {address}" for address in own)
    for address in own:
        if sessions := _sessions(host, address):
            yield f"{sessions} ssh session{'s' * (sessions != 1)} over {interface}"
    if master := host.target(f"/sys/class/net/{interface}/master"):
        yield f"{interface} is part of {master}"
    for name in host.names(f"/sys/class/net/{interface}"):
        # A bridge or bond is above its ports, too, and was named.
        if name.startswith("upper_") and name.removeprefix("upper_") != master:
            yield f"{name.removeprefix('upper_')} is on {interface}"


def _routes(host: Host, interface: str) -> set[str]:
    """Destinations of its routes; link-local ones of IPv6 come by themselves."""
    found = set()
    for line in (host.read("/proc/net/route") or "").splitlines()[1:]:
        fields = line.split()
        if fields[:1] == [interface]:
            everywhere = fields[1:2] == fields[7:8] == ["00000000"]
            found.add(_DEFAULT if everywhere else " ".join(fields[1:2]))
    for line in (host.read("/proc/net/ipv6_route") or "").splitlines():
        fields = line.split()
        if len(fields) >= 10 and fields[9] == interface and fields[0][:2] not in ("fe", "ff"):
            found.add(_DEFAULT if fields[1] == "00" else fields[0])
    return found


def _addresses(host: Host, interface: str) -> tuple[str, ...]:
    """Addresses of an interface, as `ip` lists them; without it those of IPv6 alone."""
    try:
        listed = json.loads(host.output("ip", "-j", "address", "show") or "[]")
        own = [one for one in listed if one.get("ifname") == interface]
        known = [each["local"] for one in own for each in one.get("addr_info", ())]
        return tuple(address for address in known if not address.startswith("fe80"))
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()


def _sessions(host: Host, address: str) -> int:
    """Count established sessions of our sshd at an address."""
    try:
        here = _as_proc(address)
    except ValueError:
        return 0
    lines = (host.read("/proc/net/tcp6" if ":" in address else "/proc/net/tcp") or "").splitlines()
    # An sshd that listens on IPv6 and IPv4 has IPv4 clients there.
    if ":" not in address:
        mapped = "0000000000000000FFFF0000" + here
        lines += (host.read("/proc/net/tcp6") or "").replace(mapped, here).splitlines()
    fields = (line.split() for line in lines)
    return sum(
        len(each) > 3 and each[1] == f"{here}:{_SSH}" and each[3] == _ESTABLISHED for each in fields
    )


def _as_proc(address: str) -> str:
    """Write an address as /proc/net/tcp does on a little-endian machine."""
    packed = ipaddress.ip_address(address).packed
    words = (packed[at : at + 4][::-1] for at in range(0, len(packed), 4))
    return "".join(word.hex().upper() for word in words)
