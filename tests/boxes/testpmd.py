"""Debian's dpdk-testpmd: over packet sockets in a network namespace, and over memifs."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from tests.boxes.busy_cpu import BusyCpu
from tests.boxes.cpu_share import cpu_share
from tests.boxes.matrix import NOTHING, PUSHED_BACK, Box, Place, once_loaded
from tests.system import foreign_testpmd
from tests.system.foreign_testpmd import CPUS, TestpmdBox

from linerate.lab.links import memif
from linerate.model.testbed import parse

LINK = "50M"
#: Packets that the program still holds at the end are then a small part.
FASTER_LINK = "200M"
MEMIF_LINK = "300M"
#: More than it forwards.
FULL = "20G"
#: Frames of a packet socket's ring, and descriptors of a memif's, that bursts fill.
RING = ",blocksz=4096,framesz=2048,framecnt={}"
FEW_FRAMES = 4
#: The socket's ring holds what comes in 1.7 ms, less than another's turn on the CPU.
SOME_FRAMES = 128
SMALL_RING_LOG2 = 5
#: Packets that the program keeps, for so long, and buffers: fewer than that.
KEPT = 2048
FLUSH_MS = 5
FEW_BUFFERS = 1025
SOCKET_FULL = r"^e0: packet socket full"
#: The kernel sends no more from a ring with a frame that is too long, and the driver waits for it.
MTU_LOST = r"^e1: not sent by the kernel|^e0: packet socket full|^unexplained$"
#: Per cent of one CPU.
QUOTA_PERCENT = 50
#: Places that this host can't make.
LEFT_OUT = {
    "wrong MAC address": "neither af_packet nor memif filters addresses",
    "flow rule that drops": "neither af_packet nor memif takes rules of rte_flow",
}


def _mode(name: str) -> tuple[str, ...]:
    return ("stop", f"set fwd {name}", "start")


def _mtu(length: int) -> tuple[str, ...]:
    return ("stop", f"port config mtu 1 {length}", "start")


def _places() -> tuple[Place, ...]:
    return (
        Place("nothing", (), (), NOTHING, limit="none"),
        Place("nothing, mode io", _mode("io"), _mode("mac"), NOTHING, limit="none"),
        Place("nothing, mode macswap", _mode("macswap"), _mode("mac"), NOTHING, limit="none"),
        Place("nothing, mode csum", _mode("csum"), _mode("mac"), NOTHING, limit="none"),
        # A burst at a full ring, of this machine.
        Place("nothing, at full load", (), (), PUSHED_BACK, limit="line", load=1.0),
        Place("mode rxonly", _mode("rxonly"), _mode("mac"), "unexplained", limit="unexplained",
              says="rx packets of the device's ports"),
        Place("mode icmpecho", _mode("icmpecho"), _mode("mac"), "unexplained",
              limit="unexplained", says="rx packets of the device's ports"),
        Place("not started", ("stop",), ("start",), SOCKET_FULL, limit="rx-ring"),
        # Its ring takes some, and then no more, which nothing counts. What is in the ring is sent
        # once the link is up: the last place.
        Place("link that goes down", (f"sh: {once_loaded('e1', 'ip link set e1 down')}",),
              ("sh: ip link set e1 up",), r"^e1: |^unexplained$", limit="link", says="link down",
              invalid="link down since"),
    )  # fmt: skip


def _slow_places() -> tuple[Place, ...]:
    """A CPU of which it has a part."""
    return (
        Place("quota of its control group", (f"quota {QUOTA_PERCENT}",), ("quota end",), SOCKET_FULL,
              limit="descheduled", load=1.0, seconds_min=4.0),
        Place("CPU that another has too", ("busy begin",), ("busy end",), SOCKET_FULL,
              limit="descheduled", load=1.0, seconds_min=4.0),
    )  # fmt: skip


def _mtu_places() -> tuple[Place, ...]:
    return (
        Place("MTU", _mtu(1000), _mtu(1500), MTU_LOST, says="MTU 1000", frame_bytes=1518),
    )  # fmt: skip


@contextmanager
def _running(kind: str, made: TestpmdBox, link: str, places: tuple[Place, ...]) -> Iterator[Box]:
    busy = BusyCpu()
    with cpu_share(made.pid) as share:

        def run(words: str) -> None:
            """`busy begin`, `busy end`, `quota PERCENT`, `quota end`, or a command of testpmd's."""
            kind, _, rest = words.partition(" ")
            if kind == "busy":
                busy.end() if rest == "end" else busy.begin(CPUS[1])
            elif kind == "quota":
                share.free() if rest == "end" else share.limit(int(rest))
            else:
                made.ask(words)

        try:
            yield Box(kind, parse(made.testbed(link), "the matrix"), run, places, LEFT_OUT)
        finally:
            busy.end()


@contextmanager
def testpmd() -> Iterator[Box]:
    """Packet sockets of a usual size."""
    with (
        foreign_testpmd.over_packet_sockets() as made,
        _running("testpmd", made, LINK, _places()) as box,
    ):
        yield box


@contextmanager
def testpmd_at_full_load() -> Iterator[Box]:
    """Smaller ones, with more than it forwards on a part of a CPU."""
    with (
        foreign_testpmd.over_packet_sockets(options=RING.format(SOME_FRAMES)) as made,
        _running("testpmd, full load", made, LINK, _slow_places()) as box,
    ):
        yield box


@contextmanager
def testpmd_with_an_mtu() -> Iterator[Box]:
    """The same, whose second port is given a small MTU."""
    with (
        foreign_testpmd.over_packet_sockets() as made,
        _running("testpmd", made, LINK, _mtu_places()) as box,
    ):
        yield box


@contextmanager
def testpmd_with_small_rings() -> Iterator[Box]:
    """Packet sockets that hold a few frames."""
    places = (
        Place(f"ring of {FEW_FRAMES} frames", (), (), SOCKET_FULL,
              limit="rx-ring", load=1.0),
    )  # fmt: skip
    with (
        foreign_testpmd.over_packet_sockets(options=RING.format(FEW_FRAMES)) as made,
        _running("testpmd, small rings", made, LINK, places) as box,
    ):
        yield box


@contextmanager
def testpmd_without_buffers() -> Iterator[Box]:
    """It keeps packets for a while, and has fewer buffers than it wants to keep."""
    app = (f"--total-num-mbufs={FEW_BUFFERS}", "--mbcache=0", *_kept(60_000))
    places = (
        Place("no buffers", (), (), SOCKET_FULL, limit="rx-ring", load=1.0),
    )  # fmt: skip
    with (
        foreign_testpmd.over_packet_sockets("noisy", app=app) as made,
        _running("testpmd, few buffers", made, FASTER_LINK, places) as box,
    ):
        yield box


@contextmanager
def testpmd_over_memif() -> Iterator[Box]:
    """Memifs push back: what the program does not take is not lost."""
    places = (
        Place("nothing", (), (), PUSHED_BACK, limit="none", load=0.1),
        Place("nothing, mode io", _mode("io"), _mode("mac"), PUSHED_BACK, limit="none", load=0.1),
        Place("mode rxonly", _mode("rxonly"), _mode("mac"), "unexplained", limit="unexplained",
              says="rx packets of the device's ports"),
    )  # fmt: skip
    with (
        foreign_testpmd.over_memifs() as made,
        _running("testpmd-memif", made, MEMIF_LINK, places) as box,
    ):
        yield box


@contextmanager
def testpmd_over_memif_at_full_load() -> Iterator[Box]:
    """More than it takes."""
    places = (
        Place("quota of its control group", (f"quota {QUOTA_PERCENT}",), ("quota end",), PUSHED_BACK,
              limit="descheduled", load=1.0, seconds_min=4.0),
        Place("CPU that another has too", ("busy begin",), ("busy end",), PUSHED_BACK,
              limit="descheduled", load=1.0, seconds_min=4.0),
    )  # fmt: skip
    with (
        foreign_testpmd.over_memifs() as made,
        _running("testpmd-memif, full load", made, FULL, places) as box,
    ):
        yield box


@contextmanager
def testpmd_over_small_memifs() -> Iterator[Box]:
    """It sends what it kept at once: no ring has room for it, and neither it nor memif counts."""
    app = ("--total-num-mbufs=16384", *_kept(FLUSH_MS))
    places = (
        Place(f"tx ring of {1 << SMALL_RING_LOG2}", (), (), "unexplained", limit="unexplained",
              says="rx packets of the device's ports"),
    )  # fmt: skip
    with (
        patch.object(memif, "RING_LOG2", SMALL_RING_LOG2),
        foreign_testpmd.over_memifs("noisy", app=app) as made,
        _running("testpmd-memif, small rings", made, MEMIF_LINK, places) as box,
    ):
        yield box


def _kept(flush_ms: int) -> tuple[str, ...]:
    """Options of the mode that keeps packets for a while."""
    return (
        f"--noisy-tx-sw-buffer-size={KEPT}",
        f"--noisy-tx-sw-buffer-flushtime={flush_ms}",
    )


#: By kind, as `--kinds` names it.
BOXES = {
    "testpmd": testpmd,
    "testpmd-full": testpmd_at_full_load,
    "testpmd-mtu": testpmd_with_an_mtu,
    "testpmd-small-rings": testpmd_with_small_rings,
    "testpmd-few-buffers": testpmd_without_buffers,
    "testpmd-memif": testpmd_over_memif,
    "testpmd-memif-full": testpmd_over_memif_at_full_load,
    "testpmd-memif-small": testpmd_over_small_memifs,
}
