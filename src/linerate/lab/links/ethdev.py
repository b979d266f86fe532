"""Wire `ethdev`: cables, or whatever joins the DPDK devices that the testbed file names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linerate.base import drivers, pci
from linerate.base.memory_size import free_megabytes, needed_megabytes
from linerate.base.prerequisites import Prerequisite
from linerate.lab.links import End, Ends, register
from linerate.lab.links._memif_peers import MEMIF, awaited, socket_in
from linerate.model.testbed import Port, Testbed


def _end(testbed: Testbed, port: Port) -> End:
    written: dict[str, Any] = {
        "driver": "ethdev",
        "device": port.device,
        **port.queue_keys(),
    }
    if testbed.link_bps is not None:
        written["link_bps"] = testbed.link_bps
    if port.devargs:
        written["devargs"] = port.devargs
    more = {"mac", "flow_control", "max_frame_bytes"}
    written |= port.model_dump(include=more, exclude_none=True, exclude_defaults=True)
    return End(written)


def _ports(testbed: Testbed) -> list[Port]:
    """All that are ours: the device's, and the tester's."""
    here = testbed.tester.ports if testbed.tester is not None else None
    return [*(testbed.dut.devices or ()), *(here or ())]


class EthdevLink:
    """All is there already, and stays."""

    name = "ethdev"
    two_processes = False

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """Cards that DPDK can take, and hugepages, which a NIC reaches alone.

        The engine says which other device it can't open.
        """
        problems = (pci.why_not_dpdk(port.device) for port in _ports(testbed))
        lacking = [Prerequisite(problem, pci.remedy(problem)) for problem in problems if problem]
        wanted, free = needed_megabytes(testbed.memory.megabytes), free_megabytes()
        if not testbed.pci_ports or free >= wanted:
            return lacking
        what = f"a PCI port needs {wanted} MB of hugepages, {free} MB are free"
        return [*lacking, Prerequisite(what, "sudo linerate doctor --fix")]

    def pushes_back(self, testbed: Testbed) -> bool:
        """Whether any of its devices takes no more than what is behind it has room for."""
        return any(drivers.pushes_back(port.device) for port in _ports(testbed))

    @contextmanager
    def joined(self, testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Name the ports."""
        assert testbed.tester is not None
        assert testbed.tester.ports is not None
        here = tuple(_end(testbed, port) for port in testbed.tester.ports)
        dut = testbed.dut.devices
        sockets = {
            port.device: socket_in(port.devargs)
            for port in testbed.tester.ports
            if port.device.startswith(MEMIF)
        }
        yield Ends(
            here,
            (_end(testbed, dut[0]), _end(testbed, dut[1])) if dut else None,
            await_peers=awaited(sockets, testbed.tester.wait_seconds) if sockets else None,
        )


register(EthdevLink())
