"""Wire `veth`: pairs of kernel interfaces between two network namespaces."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from linerate import drivers
from linerate.netns import namespaces
from linerate.netns.interfaces import Interface, check, make_veth
from linerate.netns.privilege import missing_privilege, missing_program
from linerate.suite import DUT_PORTS, TESTER_PORTS
from linerate.testbed import Testbed
from linerate.wires import End, Ends, register

#: Of the interfaces themselves. Frames are sent to and from the addresses of the ports: the
#: kernel takes those for somebody else's, and does not look at what is in them.
TESTER_INTERFACE_MACS = ("02:00:00:00:0f:00", "02:00:00:00:0f:01")
DUT_INTERFACE_MACS = ("02:00:00:00:0d:00", "02:00:00:00:0d:01")
IPV4_MTU = 1500


class VethWire:
    """A namespace for the device, one for each of the tester's ports, a pair for each wire."""

    pushes_back = True
    apart = False

    def __init__(self, name: str, tester_driver: str) -> None:
        """`tester_driver` is the one of the tester's ports unless the testbed names another."""
        self.name = name
        self._tester_driver = tester_driver

    def needs(self, _testbed: Testbed) -> list[str]:
        """Privilege, and iproute2 to run programs in namespaces."""
        what = f"wire {self.name}"
        return missing_privilege(what) + missing_program("ip", "iproute2", what)

    @contextmanager
    def joined(self, testbed: Testbed) -> Iterator[Ends]:
        """Make t0 and e0, t1 and e1."""
        with ExitStack() as stack:
            there = _namespace(stack, "dut")
            tester = [Interface(_namespace(stack, name), name) for name in TESTER_PORTS]
            dut = [Interface(there, name) for name in DUT_PORTS]
            for index, (mine, theirs) in enumerate(zip(tester, dut, strict=True)):
                macs = (TESTER_INTERFACE_MACS[index], DUT_INTERFACE_MACS[index])
                make_veth(mine, theirs, IPV4_MTU, macs)
            ends = self._tester_ends(testbed, tester)
            yield Ends(
                ends,
                (self._dut_end(testbed, dut[0], 2), self._dut_end(testbed, dut[1], 3)),
                check=lambda: _check([*tester, *dut]),
            )

    @contextmanager
    def bare(self, testbed: Testbed) -> Iterator[Ends]:
        """Make t0 and t1 the two ends of one pair."""
        with ExitStack() as stack:
            tester = [Interface(_namespace(stack, name), name) for name in TESTER_PORTS]
            make_veth(tester[0], tester[1], IPV4_MTU, TESTER_INTERFACE_MACS)
            yield Ends(self._tester_ends(testbed, tester), None, check=lambda: _check(tester))

    def _tester_ends(self, testbed: Testbed, interfaces: list[Interface]) -> tuple[End, End]:
        chosen = testbed.tester.driver if testbed.tester else None
        driver = chosen or self._tester_driver
        first, second = (
            _end(testbed, interface, driver, index) for index, interface in enumerate(interfaces)
        )
        return (first, second)

    def _dut_end(self, testbed: Testbed, interface: Interface, number: int) -> End:
        return _end(testbed, interface, testbed.dut.driver or self._tester_driver, number)


def _namespace(stack: ExitStack, role: str) -> str:
    name = namespaces.create(role)
    stack.callback(namespaces.remove, name)
    return name


def _end(testbed: Testbed, interface: Interface, driver: str, number: int) -> End:
    port = drivers.on_interface(driver, interface.name, interface.netns, number)
    return End({**port, "link_bps": testbed.line_bps}, interface.name, interface.netns)


def _check(interfaces: list[Interface]) -> None:
    for interface in interfaces:
        check(interface)


register(VethWire("veth", "socket-mmap"))
