"""Linux as the device under test: a namespace of a guest with the NICs d0 and d1, that forwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.nics.bench import MACS
from tests.nics.guest import Guest
from tests.nics.labs import address, mac


@contextmanager
def linux_router(guest: Guest) -> Iterator[Callable[[], int]]:
    """Have the kernel forward between the two, which it drives; yields how many it has so far."""
    found = [f"$(ls {net_of(port)} | tail -n 1)" for port in ("d0", "d1")]
    words = dict(first=found[0], second=found[1], d0=mac("d0"), d1=mac("d1"), **MACS)
    guest.run(ROUTER.format(**words))
    try:
        yield lambda: _forwarded(guest)
    finally:
        guest.run("ip netns delete router; sleep 1")


def _forwarded(guest: Guest) -> int:
    counted = guest.run("ip netns exec router grep Ip: /proc/net/snmp").out
    names, values = (line.split() for line in counted.splitlines())
    return int(dict(zip(names, values, strict=True))["ForwDatagrams"])


def net_of(port: str) -> str:
    """Words for `ls`: where the kernel has the NIC's interface."""
    device = f"/sys/bus/pci/devices/{address(port)}"
    return f"-d {device}/net/* {device}/virtio*/net/* 2>/dev/null | xargs -n 1 basename"


ROUTER = """\
set -e
ip netns add router
first={first} second={second}
for pair in $first,d0,100.64.1 $second,d1,100.64.2; do
    name=${{pair%%,*}} rest=${{pair#*,}}
    ip link set $name netns router name ${{rest%,*}}
    ip -n router address add ${{rest#*,}}.1/30 dev ${{rest%,*}}
    ip -n router link set ${{rest%,*}} up
done
ip -n router link set d0 address {d0}
ip -n router link set d1 address {d1}
ip netns exec router sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6=1
ip -n router neighbor add 100.64.1.2 lladdr {t0} dev d0
ip -n router neighbor add 100.64.2.2 lladdr {t1} dev d1
ip -n router route add 16.0.0.0/24 via 100.64.1.2
ip -n router route add 48.0.0.0/24 via 100.64.2.2
"""
