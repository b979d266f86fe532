"""Places of loss in a real VPP from the path, which linerate itself starts over memif."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from tests.boxes.matrix import PUSHED_BACK, Box, Place

from linerate.base import ownership
from linerate.lab.links import memif
from linerate.model.suites import NETWORKS
from linerate.model.testbed import Testbed, parse

HERE = all(shutil.which(program) for program in ("vpp", "vppctl"))
#: More than a worker forwards, or than its rings hold.
FULL = "10G"
LINK = "2G"
#: SGR escapes (ECMA-48).
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: Rings that are full before a worker of a busy host is back on its CPU.
SMALL_RING_LOG2 = 5
HALF = f"{NETWORKS[1]}.0/25"
BEHIND = f"{NETWORKS[1]}.0/24"
#: Rules that match nothing, before one that permits all: looked at one after the other.
RULES = 1000
_IDLE_RULES = ", ".join(
    f"deny src 10.{number >> 8}.{number & 255}.1/32 dst 10.0.0.1/32" for number in range(RULES)
)


def _acl(rules: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rules on the frames that e0 receives."""
    return (
        (f"set acl-plugin acl {rules}", "set acl-plugin interface e0 input acl 0"),
        ("set acl-plugin interface e0 input acl 0 del", "delete acl-plugin acl index 0"),
    )


def _places() -> tuple[Place, ...]:
    behind = f"{BEHIND} via 100.64.2.2"
    return (
        # A full ring for a moment, of this machine.
        Place("nothing", (), (), PUSHED_BACK, limit="none"),
        Place("no route", (f"ip route del {behind}",), (f"ip route add {behind}",),
              r"^null-node: blackholed packets$"),
        Place("route that drops", (f"ip route add {HALF} via drop",), (f"ip route del {HALF}",),
              r"^null-node: blackholed packets$"),
        Place("route that is unreachable", (f"ip route add {HALF} via null-send-unreach",),
              (f"ip route del {HALF} via null-send-unreach",), r"^null-node: blackholed|unreach"),
        Place("ACL that denies", *_acl(f"deny src 0.0.0.0/0 dst {HALF}, permit src 0.0.0.0/0 dst "
                                       "0.0.0.0/0"), r"^acl-plugin-in-ip4-fa: ACL deny packets$"),
        Place("wrong MAC address", ("set interface mac address e0 02:00:00:00:00:99",),
              ("set interface mac address e0 02:00:00:00:0e:00",),
              r"^ethernet-input: l3 mac mismatch$"),
        Place("TTL 1", (), (), r"^ip4-input: ip4 ttl <= 1$", ttl=1),
        Place("MTU", ("set interface mtu packet 1000 e1",), ("set interface mtu packet 9000 e1",),
              r"^ip4-input: ip4 MTU exceeded and DF set$", frame_bytes=1518,
              dont_fragment=True),
        # An adjacency that is in use outlives its neighbour: a next hop that never was one.
        Place("no neighbour", (f"ip route add {HALF} via 100.64.2.9 e1",),
              (f"ip route del {HALF} via 100.64.2.9 e1",), r"^ip4-(arp|glean): "),
        Place("MPLS label without an entry", ("mpls local-label del 16 eos via 100.64.2.2 e1 "
              "out-labels 17",), ("mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17",),
              r"^mpls-input: MPLS DROP DPO$", labels=True),
        Place("MPLS not enabled", ("set interface mpls e0 disable",),
              ("set interface mpls e0 enable",), r"mpls", labels=True),
    )  # fmt: skip


def _slow_places() -> tuple[Place, ...]:
    """Memif pushes back: a worker that is too slow takes less, and loses nothing."""
    rules, off = _acl(f"{_IDLE_RULES}, permit src 0.0.0.0/0 dst 0.0.0.0/0")
    return (
        Place("1,000 ACL rules", ("set acl-plugin use-hash-acl-matching 0", *rules), off,
              PUSHED_BACK, limit="worker-cpu", says="acl-plugin-in-ip4-fa", load=1.0),
        Place("worker shares its CPU", ("busy begin",), ("busy end",), PUSHED_BACK,
              limit="descheduled", load=1.0),
    )  # fmt: skip


def _small_ring_places() -> tuple[Place, ...]:
    return (
        Place("tx ring of 32", (), (), r"^e1-tx: no free tx slots$", limit="tx-ring", load=1.0),
    )  # fmt: skip


def _answered(words: str) -> str:
    """Answer of the VPP that this process started."""
    (socket,) = Path(tempfile.gettempdir()).glob(f"lr-{ownership.own()}-*-vpp/cli.sock")
    done = subprocess.run(
        ["vppctl", "-s", str(socket), words], check=True, capture_output=True, text=True, timeout=30
    )
    return done.stdout + done.stderr


class _Busy:
    """A loop beside VPP's worker, on its CPU."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, words: str) -> None:
        """`busy begin`, `busy end`, or a line of VPP's."""
        if words == "busy begin":
            cpus = _worker_cpu()
            loop = ["nice", "-n", "-10", sys.executable, "-S", "-c", "while True: pass"]
            self._process = subprocess.Popen(["taskset", "-c", cpus, *loop])
        elif words == "busy end":
            self.end()
        else:
            answer = _answered(words)
            refused = ("unknown input", "error", "failed", "expected", "invalid")
            assert not any(word in answer.lower() for word in refused), f"{words}: {answer}"

    def end(self) -> None:
        """End it, should it run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _worker_cpu() -> str:
    rows = [row.split() for row in _COLOURS.sub("", _answered("show threads")).splitlines()]
    (tid,) = [row[2] for row in rows if len(row) > 2 and row[1].startswith("vpp_wk_")]
    return str(min(os.sched_getaffinity(int(tid))))


@contextmanager
def vpp() -> Iterator[Box]:
    """A router whose two ports are memifs."""
    yield Box("vpp", _testbed(LINK), _Busy().run, _places())


@contextmanager
def vpp_at_full_load() -> Iterator[Box]:
    """The same at more than it forwards."""
    busy = _Busy()
    try:
        yield Box("vpp, full load", _testbed(FULL), busy.run, _slow_places())
    finally:
        busy.end()


@contextmanager
def vpp_with_small_rings() -> Iterator[Box]:
    """The same; what is sent at once does not fit into a ring."""
    with patch.object(memif, "RING_LOG2", SMALL_RING_LOG2):
        yield Box("vpp, small rings", _testbed(FULL), _Busy().run, _small_ring_places())


def _testbed(link: str) -> Testbed:
    return parse({"wire": "memif", "link": link, "dut": {"kind": "vpp"}}, "the matrix")
