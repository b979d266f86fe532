"""Tester `iperf3`: UDP of one size, client behind t0 and server behind t1.

It can't be stepped or paced to the packet, sends one flow, and counts at its sockets: figures that
it does not report (cycles, rings, arrival times) are missing.
"""

import json
import time
from pathlib import Path
from typing import Any

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns import namespaces, programs
from linerate.host.netns.interfaces import NUD_PERMANENT, Interface, control, index_of, statistics
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.lab.links import Ends
from linerate.lab.tester import Offered, register
from linerate.model.ledger import Entry
from linerate.model.suites import DUT_MACS, TESTER_MACS, Loadtest

PROGRAM = "iperf3"
#: Ethernet with FCS, IPv4, UDP (RFC 894, 791, 768); iperf3 sends 16 bytes at least.
HEADERS_BYTES = 18 + 20 + 8
PAYLOAD_BYTES_MIN = 16
PORT = 5201
ADDRESSES = ("100.64.1.2", "100.64.2.2")
GATEWAYS = ("100.64.1.1", "100.64.2.1")
START_SECONDS = 10.0


class Iperf3:
    """A client and a server, as users run them."""

    name = "iperf3"
    limits = "one flow of IPv4, in one direction, is all"

    def prerequisites(self) -> list[Prerequisite]:
        """The program, and privilege to run it in namespaces."""
        lacking = missing_privilege("tester iperf3")
        return lacking + missing_program(PROGRAM, "iperf3", "tester iperf3")

    def offers(self, loadtest: Loadtest) -> bool:
        """One flow of IPv4 in one direction is all that it can send."""
        traffic = loadtest.traffic
        return (traffic.flows, traffic.protocol, loadtest.directions) == ("one", "ipv4", 1)

    def measure(self, ends: Ends, loadtest: Loadtest, seconds: float, routed: bool) -> Offered:
        """Send as fast as it can for so long."""
        ports = _interfaces(ends)
        for here, port in enumerate(ports):
            _address(port, here, routed)
        before = _drops(ports)
        with ownership.temporary_folder("iperf3") as folder:
            report = _run(ports, Path(folder), int(loadtest.traffic.frame_bytes), seconds)
        after = _drops(ports)
        return offered(report, {place: after[place] - before[place] for place in after})


def offered(report: dict[str, Any], drops: dict[str, int]) -> Offered:
    """Read what `iperf3 --json` printed; raises SetupError when it printed something else."""
    if message := report.get("error"):
        raise SetupError(f"iperf3: {message}")
    try:
        end = report["end"]
        total = end["sum"]
        # Since 3.17 the sender's and the receiver's sums are separate; before, only losses were
        # reported.
        sent = int(end.get("sum_sent", total)["packets"] or total["packets"])
        lost = int(total["lost_packets"])
        seconds = float(total["seconds"])
        cpu = end.get("cpu_utilization_percent", {})
    except (KeyError, TypeError, ValueError) as error:
        raise SetupError(f"iperf3 printed no result that this version reads: {error}") from error
    if seconds <= 0:
        raise SetupError(f"iperf3 sent for {seconds:g} s, expected more")
    losses = tuple(
        Entry(place=place, kind="loss", packets=packets) for place, packets in drops.items()
    )
    return Offered(
        sent=(Entry(place="iperf3 t0", kind="sent", packets=sent),),
        received=(*losses, Entry(place="iperf3", kind="received", packets=sent - lost)),
        seconds=seconds,
        sender_cpu_percent=cpu.get("host_total"),
        receiver_cpu_percent=cpu.get("remote_total"),
    )


def _interfaces(ends: Ends) -> tuple[Interface, Interface]:
    first, second = (Interface(end.netns, end.interface) for end in ends.tester)
    if not first.netns or first.netns == second.netns:
        raise SetupError("iperf3 needs interfaces in namespaces: use `wire: veth`")
    return first, second


def _address(port: Interface, here: int, routed: bool) -> None:
    """Give a port an address and a way to the other one's, without ARP.

    Behind a router its next hop is that one. Else the device passes frames that are sent to
    DUT_MACS: the port has the address under which the other one's frames come out.
    """
    there = 1 - here
    with control(port.netns, f"setting up {port.name}") as route:
        index = index_of(route, port)
        own = TESTER_MACS[here] if routed else DUT_MACS[there]
        route.link("set", index=index, address=own)
        route.addr("add", index=index, address=ADDRESSES[here], prefixlen=30)
        neighbor = {"dst": GATEWAYS[here], "lladdr": DUT_MACS[here]}
        route.neigh("add", ifindex=index, state=NUD_PERMANENT, **neighbor)
        route.route("add", dst="default", gateway=GATEWAYS[here], oif=index)


def _drops(ports: tuple[Interface, Interface]) -> dict[str, int]:
    """Packets lost on its own two hosts."""
    udp = _udp_counters(namespaces.read_proc(ports[1].netns, "snmp"))
    return {
        "iperf3 t0: tx dropped by the interface": statistics(ports[0])["tx_dropped"],
        "iperf3 t1: socket full": udp.get("RcvbufErrors", 0),
    }


def _udp_counters(snmp: str) -> dict[str, int]:
    lines = [line.split()[1:] for line in snmp.splitlines() if line.startswith("Udp:")]
    return {name: int(value) for name, value in zip(*lines, strict=False)} if lines else {}


def _run(
    ports: tuple[Interface, Interface], folder: Path, frame_bytes: int, seconds: float
) -> dict[str, Any]:
    payload = max(PAYLOAD_BYTES_MIN, frame_bytes - HEADERS_BYTES)
    log = folder / "server.log"
    cpus = tuple(programs.own_cpus())
    server = [PROGRAM, "--server", "--one-off", "--port", str(PORT), "--forceflush"]
    with log.open("wb") as file:
        process = programs.start_in(ports[1].netns, server, file, cpus)
    try:
        _wait_listening(log)
        client = [PROGRAM, "--client", ADDRESSES[1], "--port", str(PORT), "--udp", "--json"]
        client += [
            "--bitrate",
            "0",
            "--length",
            str(payload),
            "--time",
            str(max(1, round(seconds))),
        ]
        done = programs.run_in(ports[0].netns, client, seconds=seconds + 30)
    finally:
        process.terminate()
        programs.end(process, 2.0)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        output = done.stderr.strip() or "no output"
        raise SetupError(f"iperf3: {output.splitlines()[-1]}") from error
    return dict(report)


def _wait_listening(log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while b"listening" not in log.read_bytes():
        if time.monotonic() > deadline:
            raise SetupError(f"iperf3's server does not start: {programs.last_line(log)}")
        time.sleep(0.02)


register(Iperf3())
