"""Shared part of all devices that are the kernel's own forwarding: CPUs, counters, time."""

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from linerate.base.errors import SetupError
from linerate.host import machine
from linerate.host.netns.interfaces import Interface, statistics
from linerate.lab.dut import Place
from linerate.lab.links import Ends
from linerate.model.ledger import Entry, NodeTime, PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.measurement.flows import Counters
from linerate.model.suites import DUT_PORTS

#: The kernel's counters of an interface that are losses. Not `rx_dropped`: what finds the
#: backlog full is refused to the sender, who counts it.
_LOSSES = {
    "tx_dropped": "tx dropped by the interface",
    "tx_errors": "tx errors",
    "rx_errors": "rx errors",
}

MoreLosses = Callable[[], dict[str, int]]


def interfaces(ends: Ends) -> tuple[Interface, Interface]:
    """The device's two interfaces; raises SetupError on a wire that has none."""
    if ends.dut is None or not all(end.interface for end in ends.dut):
        raise SetupError("the kernel forwards between interfaces: use `wire: veth`")
    first, second = (Interface(end.netns, end.interface) for end in ends.dut)
    return first, second


def steer_to(cpus: tuple[int, ...], where: Iterable[Interface]) -> None:
    """Have the kernel receive on these CPUs, not on the sender's (receive packet steering)."""
    mask = sum(1 << cpu for cpu in cpus)
    # Words of 32 bits, the highest first.
    words = [f"{mask >> at & 0xFFFFFFFF:08x}" for at in range(0, max(mask.bit_length(), 1), 32)]
    text = ",".join(reversed(words))
    for interface in where:
        script = f"echo {text} > /sys/class/net/{interface.name}/queues/rx-0/rps_cpus"
        # /sys shows the interfaces of the namespace in which it was mounted: `ip netns exec` does.
        command = ["ip", "netns", "exec", interface.netns, "sh", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SetupError(f"cannot steer {interface.text} to CPU {cpus}: {done.stderr.strip()}")


@dataclass(frozen=True, slots=True)
class KernelForwarding:
    """Two interfaces between which the kernel forwards."""

    ports: tuple[Interface, Interface]
    place: Place
    more_losses: MoreLosses

    def readings(self, tsc_hz: int) -> Reading:
        """Counters of the interfaces, and of what forwards."""
        ports: dict[str, Counters] = {}
        losses: dict[str, int] = {}
        for name, interface in zip(DUT_PORTS, self.ports, strict=True):
            ports[name] = counters = statistics(interface)
            for counter, words in _LOSSES.items():
                losses[f"kernel {name}: {words}"] = counters[counter]
        losses |= self.more_losses()
        entries = tuple(
            Entry(place=place, kind="loss", packets=packets) for place, packets in losses.items()
        )
        return Reading(
            ledger=PacketLedger(entries=entries),
            workers=self._workers(tsc_hz, sum(port["rx_packets"] for port in ports.values())),
            ports=ports,
        )

    def workers(self, tsc_hz: int) -> tuple[WorkerReading, ...]:
        """Time that its CPUs were in softirq, where they are not the tester's too."""
        if self.place.shared:
            return ()
        packets = sum(statistics(port)["rx_packets"] for port in self.ports)
        return self._workers(tsc_hz, packets)

    def ledger(self) -> PacketLedger:
        """Nothing: some of its counters are asked of programs."""
        return PacketLedger()

    def _workers(self, tsc_hz: int, packets: int) -> tuple[WorkerReading, ...]:
        if self.place.shared:
            return ()
        known = machine.cpu_seconds()
        return tuple(
            _worker(cpu, known[cpu], tsc_hz, packets // len(self.place.cpus))
            for cpu in self.place.cpus
        )


def _worker(cpu: int, spent: machine.CpuSeconds, tsc_hz: int, packets: int) -> WorkerReading:
    """One CPU: its softirq is the device, what is idle is spare, threads are off the device's."""
    softirq, idle, away = (
        round(seconds * tsc_hz)
        for seconds in (spent.softirq, spent.idle, spent.steal + spent.threads)
    )
    total = round(spent.total * tsc_hz)
    return WorkerReading(
        name=f"kernel-cpu{cpu}",
        cpu=cpu,
        tid=0,
        role="forwarder",
        tsc_hz=tsc_hz,
        tsc=total,
        loops=0,
        overhead_clocks=total - softirq - idle - away,
        away_clocks=away,
        sleep_clocks=idle,
        nodes={"softirq": NodeTime(vectors=packets, clocks=softirq)},
    )
