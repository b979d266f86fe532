"""Tester `testpmd`: txonly behind t0, rxonly behind t1, over net_af_packet.

It sends as fast as it can and counts at its ports. On the CPU of the tester both poll, and take
turns.
"""

import time
from pathlib import Path

from linerate.base import ownership
from linerate.base.drivers import on_interface
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns import programs
from linerate.host.netns.interfaces import Interface, statistics
from linerate.host.netns.privilege import missing_program
from linerate.host.netns.sockets import packet_drops
from linerate.lab.links import End, Ends
from linerate.lab.tester import Offered, register
from linerate.lab.testpmd import BUFFERS, PACKAGE, PROGRAM, Console, Testpmd, port_counters
from linerate.model.ledger import Entry
from linerate.model.suites import DUT_MACS, NETWORKS, Loadtest

FCS_BYTES = 4
#: Packets in flight when the sender stops have arrived by then.
DRAIN_SECONDS = 0.3


class TestpmdTester:
    """Two testpmds: DPDK's tool for seeing what a driver can do."""

    __test__ = False  # pytest would take it for a test class

    name = "testpmd"
    limits = "IPv4 in one direction is all"

    def prerequisites(self) -> list[Prerequisite]:
        """The program."""
        return missing_program(PROGRAM, PACKAGE, "tester testpmd")

    def offers(self, loadtest: Loadtest) -> bool:
        """IPv4 in one direction."""
        return (loadtest.traffic.protocol, loadtest.directions) == ("ipv4", 1)

    def measure(self, ends: Ends, loadtest: Loadtest, seconds: float, _routed: bool) -> Offered:
        """Send as fast as it can for so long."""
        if not ends.tester[0].interface:
            raise SetupError("tester testpmd needs interfaces: use `wire: veth`")
        with (
            ownership.temporary_folder("testpmd") as folder,
            _testpmd(ends.tester[1], "rxonly").running(Path(folder) / "rx.log") as rx,
            _testpmd(ends.tester[0], "txonly", *_frames(loadtest)).running(
                Path(folder) / "tx.log"
            ) as tx,
        ):
            return _measured(ends, rx, tx, seconds)


def _measured(ends: Ends, rx: Console, tx: Console, seconds: float) -> Offered:
    sender = Interface(ends.tester[0].netns, ends.tester[0].interface)
    dropped = statistics(sender)["tx_dropped"]
    rx.ask("start")
    packet_drops(rx.pid)
    began = time.monotonic()
    tx.ask("start")
    time.sleep(seconds)
    tx.ask("stop")
    took = time.monotonic() - began
    time.sleep(DRAIN_SECONDS)
    sent = port_counters(tx.ask("show port stats all")).get(0, {})
    got = port_counters(rx.ask("show port stats all")).get(0, {})
    losses = {
        "testpmd t0: tx errors": sent.get("TX-errors", 0),
        "testpmd t0: tx dropped by the interface": statistics(sender)["tx_dropped"] - dropped,
        "testpmd t1: rx missed (socket full)": sum(packet_drops(rx.pid).values()),
        "testpmd t1: no mbuf": got.get("RX-nombuf", 0),
    }
    handed = sent.get("TX-packets", 0) + sent.get("TX-errors", 0)
    return Offered(
        sent=(Entry(place="testpmd t0", kind="sent", packets=handed),),
        received=(
            *(Entry(place=place, kind="loss", packets=lost) for place, lost in losses.items()),
            Entry(place="testpmd", kind="received", packets=got.get("RX-packets", 0)),
        ),
        seconds=took,
    )


def _frames(loadtest: Loadtest) -> list[str]:
    addresses = f"--tx-ip={NETWORKS[0]}.1,{NETWORKS[1]}.1"
    frame = f"--txpkts={loadtest.traffic.frame_bytes - FCS_BYTES}"
    words = [frame, addresses, f"--eth-peer=0,{DUT_MACS[0]}"]
    return [*words, "--txonly-multi-flow"] if loadtest.traffic.flows == "many" else words


def _testpmd(end: End, mode: str, *words: str) -> Testpmd:
    """One testpmd on one interface, on the lab's own CPU: the tester's."""
    cpu = programs.own_cpus()[0]
    port = on_interface("af_packet", end.interface, end.netns, 0)
    vdev = f"{port['device']},{port['devargs']}"
    return Testpmd(mode, (vdev,), (cpu, cpu), (*BUFFERS, *words), netns=end.netns)


register(TestpmdTester())
