"""Wire `ethdev`: cables, or whatever joins the DPDK devices that the testbed file names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linerate.needs import Need
from linerate.testbed import Port, Testbed
from linerate.wires import End, Ends, register


def _end(testbed: Testbed, port: Port) -> End:
    written: dict[str, Any] = {
        "driver": "ethdev",
        "device": port.device,
        "link_bps": testbed.line_bps,
    }
    if port.devargs:
        written["devargs"] = port.devargs
    if port.mac is not None:
        written["mac"] = port.mac
    return End(written)


class EthdevWire:
    """All is there already, and stays."""

    name = "ethdev"
    pushes_back = False
    apart = False

    def needs(self, _testbed: Testbed) -> list[Need]:
        """Say nothing: the engine says which device it can't open."""
        return []

    @contextmanager
    def joined(self, testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Name the ports."""
        assert testbed.tester is not None
        assert testbed.tester.ports is not None
        here, there = (_end(testbed, port) for port in testbed.tester.ports)
        dut = testbed.dut.ports
        yield Ends((here, there), (_end(testbed, dut[0]), _end(testbed, dut[1])) if dut else None)


register(EthdevWire())
