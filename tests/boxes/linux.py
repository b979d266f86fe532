"""Places of loss in a Linux router, in a network namespace of its own."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.boxes import bpf
from tests.boxes.busy_cpu import BusyCpu
from tests.boxes.matrix import NOTHING, PUSHED_BACK, Box, Place, once_loaded
from tests.system.boxes import Box as Namespace
from tests.system.boxes import linux_box, with_sshd

from linerate.model.suites import NETWORKS, TESTER_MACS
from linerate.model.testbed import parse

LINK = "200M"
#: Addresses of t0, e0 and their like: 100.64.1.2, 100.64.1.1.
_NFT = """nft -f - <<'END'
table inet lost {{
  chain f {{
    type filter hook {hook} priority 0
    {rule}
  }}
}}
END"""
_FLUSH = ("nft flush ruleset",)
#: Neighbour and route that a port loses with its link.
_BACK = (
    f"ip neigh replace 100.64.2.2 lladdr {TESTER_MACS[1]} dev e1 nud permanent",
    f"ip route replace {NETWORKS[1]}.0/24 via 100.64.2.2 dev e1",
)
#: Fewer than the load has.
CONNECTIONS = 64


def rule(text: str, hook: str = "forward") -> tuple[str, ...]:
    """A table with one rule."""
    return (_NFT.format(hook=hook, rule=text),)


def _routes(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (f"ip route add {word} 48.0.0.0/25",), (f"ip route del {word} 48.0.0.0/25",)


def places() -> tuple[Place, ...]:
    """Losses of a kernel that routes between e0 and e1, whatever its ports are."""
    behind = f"{NETWORKS[1]}.0/24 via 100.64.2.2 dev e1"
    neighbour = f"ip neigh replace 100.64.2.2 lladdr {TESTER_MACS[1]} dev e1 nud permanent"
    back = (neighbour, f"ip route replace {behind}")
    return (
        Place("nothing", (), (), NOTHING, limit="none"),
        Place("nothing, at full load", (), (), NOTHING, limit="line", load=1.0),
        Place("nft: rule that drops one address", rule(f"ip daddr {NETWORKS[1]}.5 counter drop"),
              _FLUSH, r"^nft lost f: rule \d+ drops$", limit="configuration"),
        Place("nft: rule that drops at random",
              rule("numgen random mod 10 == 0 counter drop"), _FLUSH, r"^nft lost f: rule"),
        Place("nft: named counter", (
            "nft add table inet lost; nft add counter inet lost gone",
            "nft 'add chain inet lost f { type filter hook forward priority 0; }'",
            "nft add rule inet lost f counter name gone drop"), _FLUSH, r"^nft lost f: rule"),
        Place("nft: rule without a counter", rule("numgen random mod 10 == 0 drop"), _FLUSH,
              "unexplained", says="nft lost f"),
        Place("nft: policy drop", (
            "nft add table inet lost",
            "nft 'add chain inet lost f { type filter hook forward priority 0; policy drop; }'"),
            _FLUSH, "unexplained", says="policy drop"),
        # Not on the packets of ssh.
        Place("nft: rule before routing",
              rule('iifname "e0" numgen random mod 4 == 0 counter drop', "prerouting"),
              _FLUSH, r"^nft lost f: rule"),
        Place("nft: rate limit", rule("limit rate over 1000/second counter drop"), _FLUSH,
              r"^nft lost f: rule"),
        Place("route: blackhole", *_routes("blackhole"), "unexplained", says="blackhole"),
        Place("route: unreachable", *_routes("unreachable"), "unexplained", says="unreachable"),
        Place("route: prohibit", *_routes("prohibit"), "unexplained", says="prohibit"),
        Place("route: none", (f"ip route del {behind}",), (f"ip route add {behind}",), "no route"),
        Place("forwarding off", ("sysctl -qw net.ipv4.ip_forward=0",),
              ("sysctl -qw net.ipv4.ip_forward=1",), "forwarding is off"),
        Place("reverse path filter", ("sysctl -qw net.ipv4.conf.e0.rp_filter=1",
                                      f"ip route del {NETWORKS[0]}.0/24"),
              ("sysctl -qw net.ipv4.conf.e0.rp_filter=0",
               f"ip route add {NETWORKS[0]}.0/24 via 100.64.1.2 dev e0"), "rp_filter"),
        Place("wrong MAC address", ("ip link set e0 address 02:00:00:00:00:99",),
              ("ip link set e0 address 02:00:00:00:0e:00",
               f"ip neigh replace 100.64.1.2 lladdr {TESTER_MACS[0]} dev e0 nud permanent",
               f"ip route replace {NETWORKS[0]}.0/24 via 100.64.1.2 dev e0"), "another MAC"),
        Place("MPLS without its module", (), (), "no protocol takes it", labels=True),
        Place("TTL", rule("ip ttl set 1", "prerouting"), _FLUSH, "TTL exceeded"),
        Place("MTU", ("ip link set e1 mtu 1400", *rule("ip frag-off set 0x4000", "prerouting")),
              ("ip link set e1 mtu 1500", *_FLUSH), "longer than the MTU", frame_bytes=1518),
        Place("no neighbour", ("ip neigh del 100.64.2.2 dev e1",), back, "unexplained",
              says="100.64.2.2"),
        Place("tc: token bucket", ("tc qdisc add dev e1 root tbf rate 5mbit burst 5k limit 5k",),
              ("tc qdisc del dev e1 root",), "tc queue tbf"),
        Place("tc: short queue behind a shaper", (
            "tc qdisc add dev e1 root handle 1: tbf rate 5mbit burst 5k limit 50k",
            "tc qdisc add dev e1 parent 1:1 pfifo limit 2"),
            ("tc qdisc del dev e1 root",), "tc queue tbf"),
    )  # fmt: skip


def _further_places(programs: Path, t0: str) -> tuple[Place, ...]:
    """Programs of the kernel's, its tables, and links."""
    table = "sysctl -qw net.netfilter.nf_conntrack_max={}"
    down = "ip link set e1 down"
    return (
        Place("XDP: program that drops at random",
              (f"ip link set dev e0 xdpdrv pinned {programs}/xdp",),
              ("ip link set dev e0 xdpdrv off",), r"^e0: XDP program drops$"),
        Place("XDP: the same without the driver",
              (f"ip link set dev e0 xdpgeneric pinned {programs}/xdp",),
              ("ip link set dev e0 xdpgeneric off",), "unexplained", says="XDP program"),
        Place("tc: filter that drops at random",
              ("tc qdisc add dev e0 clsact",
               f"tc filter add dev e0 ingress bpf da pinned {programs}/tc"),
              ("tc qdisc del dev e0 clsact",), r"^e0: tc filter or policer drops$"),
        Place("tc: filter on the way out",
              ("tc qdisc add dev e1 clsact",
               f"tc filter add dev e1 egress bpf da pinned {programs}/tc"),
              ("tc qdisc del dev e1 clsact",), r"^e1: tc filter or policer drops$"),
        Place("conntrack: table full",
              (f"host: {table.format(CONNECTIONS)}", *rule("ct state new counter")),
              (*_FLUSH, f"host: {table.format(_conntrack_max())}"), r"^conntrack: no room",
              says="table of connections"),
        # A veth polls what a port without segmentation offload sends.
        Place("threaded NAPI, its CPU shared",
              (f"host: ethtool -K {t0} tso off", "ethtool -K e0 gro on", "echo 1 > /sys/class/net/e0/threaded", "busy napi/e0-"),
              ("busy end", "echo 0 > /sys/class/net/e0/threaded", "ethtool -K e0 gro off",
               f"host: ethtool -K {t0} tso on"),
              PUSHED_BACK, limit="descheduled", load=1.0, seconds_min=4.0),
        Place("link that goes down", (once_loaded("e1", down),), ("ip link set e1 up", *_BACK),
              r"^e1: |^ip: no route$|^unexplained$", limit="link", invalid="link down since"),
    )  # fmt: skip


def _conntrack_max() -> str:
    """Connections that this host's kernel has room for."""
    return Path("/proc/sys/net/netfilter/nf_conntrack_max").read_text(encoding="ascii").strip()


@contextmanager
def linux() -> Iterator[Box]:
    """A router in a network namespace, asked there."""
    with linux_box() as made, _box(made) as box:
        yield box


@contextmanager
def linux_over_ssh() -> Iterator[Box]:
    """The same router, asked over ssh."""
    searched = os.environ["PATH"]
    with (
        tempfile.TemporaryDirectory(prefix="boxes-ssh-") as folder,
        linux_box() as made,
        with_sshd(made, Path(folder) / "ssh") as reached,
    ):
        os.environ |= reached.environment
        try:
            with _box(reached) as box:
                yield box
        finally:
            os.environ["PATH"] = searched


@contextmanager
def _box(made: Namespace) -> Iterator[Box]:
    busy = BusyCpu()

    def run(command: str) -> None:
        kind, _, rest = command.partition(" ")
        if kind == "busy":
            busy.end() if rest == "end" else busy.begin_beside(rest)
            return
        inside = ["ip", "netns", "exec", made.namespace]
        words = ["sh", "-c", command.removeprefix("host: ")]
        words = words if command.startswith("host: ") else [*inside, *words]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=30)
        assert not done.returncode, f"{command}: {done.stderr}"

    with bpf.pinned() as programs:
        try:
            yield Box("linux", parse(made.testbed(link=LINK), "the matrix"), run,
                      (*places(), *_further_places(programs, made.here[0])))  # fmt: skip
        finally:
            busy.end()
