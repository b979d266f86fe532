"""Two hosts in network namespaces, with the engine's router between them."""

import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

TOOLS = (
    "ip", "ethtool", "ping", "traceroute", "tracepath", "arping", "ndisc6", "rdisc6", "iperf3",
    "tshark", "tcpdump",
)  # fmt: skip

needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS),
    reason=f"needs root and {', '.join(TOOLS)}",
)

_numbers = itertools.count()


def run(command: str, check: bool = True, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command.split(), capture_output=True, text=True, timeout=seconds, check=check
    )


@dataclass(frozen=True)
class Host:
    """A namespace with one interface, whose default route is the router."""

    namespace: str
    address: str
    gateway: str
    #: The address is not on eth0 itself but on a VLAN of it, or on one within that: what
    #: `ip link add … type vlan` takes for each, the outermost first.
    vlans: tuple[str, ...] = ()
    #: With prefix length 64; none: the host has no IPv6.
    address6: str | None = None
    gateway6: str | None = None

    def run(
        self, command: str, check: bool = True, seconds: float = 60
    ) -> subprocess.CompletedProcess[str]:
        return run(f"ip netns exec {self.namespace} {command}", check, seconds)

    @contextmanager
    def background(self, command: str) -> Iterator["subprocess.Popen[str]"]:
        """Run beside the test; ended by SIGINT when the test no longer needs it."""
        words = ["ip", "netns", "exec", self.namespace, *command.split()]
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()

    @contextmanager
    def capture(self, path: Path) -> Iterator[None]:
        """Keep what passes eth0."""
        with self.background(f"tcpdump -i eth0 -U -s 0 -w {path}") as dump:
            assert dump.stdout is not None
            while "listening on" not in (line := dump.stdout.readline()):
                assert line, "tcpdump does not start"
            yield

    def configure(self, interface: str) -> None:
        """Name the interface eth0, give it the address, and leave no work to a NIC."""
        self.run(f"ip link set {interface} name eth0")
        device = "eth0"
        self.run("ip link set lo up")
        self.run("ip link set eth0 up")
        for number, vlan in enumerate(self.vlans):
            outer, device = device, f"vlan{number}"
            self.run(f"ip link add link {outer} name {device} type vlan {vlan}")
            self.run(f"ip link set {device} up")
        self.run(f"ip address add {self.address}/24 dev {device}")
        self.run(f"ip route add default via {self.gateway}")
        if self.address6:
            # Without duplicate address detection, which is not what is tested.
            self.run(f"ip address add {self.address6}/64 dev {device} nodad")
            self.run(f"ip -6 route add default via {self.gateway6}")
        # Checksums and segments that a NIC would finish must be finished by the kernel.
        self.run("ethtool -K eth0 tx off rx off tso off gso off gro off", check=False)


def hosts() -> tuple[Host, Host]:
    number = f"{os.getpid()}-{next(_numbers)}"
    return (
        Host(f"lrt-a-{number}", "10.1.0.2", "10.1.0.1"),
        Host(f"lrt-b-{number}", "10.2.0.2", "10.2.0.1"),
    )


def hosts6() -> tuple[Host, Host]:
    """The same with IPv6 beside IPv4."""
    a, b = hosts()
    return (
        replace(a, address6="2001:db8:0:1::2", gateway6="2001:db8:0:1::1"),
        replace(b, address6="2001:db8:0:2::2", gateway6="2001:db8:0:2::1"),
    )


@contextmanager
def namespaces(*of: Host) -> Iterator[None]:
    with ExitStack() as stack:
        for host in of:
            run(f"ip netns add {host.namespace}")
            stack.callback(run, f"ip netns delete {host.namespace}", check=False)
        yield


def kernel_makes(host: Host, kind: str) -> bool:
    """Whether the kernel makes links of a kind that stand on another link, as VLANs do."""
    host.run("ip link add below0 type veth peer name below1")
    try:
        output = host.run(f"ip link add link below0 name above0 type {kind}", check=False)
        return output.returncode == 0
    finally:
        # Interfaces on top of it are deleted with it.
        host.run("ip link delete below0")


@contextmanager
def veth_to(host: Host, name: str) -> Iterator[None]:
    """A veth pair: `name` here, its peer in the host's namespace."""
    run(f"ip link add {name} type veth peer name {name}p")
    try:
        run(f"ip link set {name}p netns {host.namespace}")
        # This end belongs to the engine: the kernel must not answer on it.
        run(f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=1", check=False)
        run(f"ip link set {name} arp off promisc on up")
        run(f"ethtool -K {name} tx off rx off tso off gso off gro off", check=False)
        host.configure(f"{name}p")
        yield
    finally:
        run(f"ip link delete {name}", check=False)
