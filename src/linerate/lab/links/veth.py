"""Wire `veth`: pairs of kernel interfaces between two network namespaces."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from linerate.base import drivers
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns import namespaces
from linerate.host.netns.interfaces import Interface, check, make_veth
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.lab.links import End, Ends, register
from linerate.model.suites import DUT_PORTS, SECOND_DUT_PORTS, SECOND_TESTER_PORTS, TESTER_PORTS
from linerate.model.testbed import Testbed

#: Address of the interfaces themselves. Frames are sent to and from the addresses of the ports: the
#: kernel takes those for another host's, and does not process them.
TESTER_INTERFACE_MAC = "02:00:00:00:0f:{:02x}"
DUT_INTERFACE_MAC = "02:00:00:00:0d:{:02x}"
#: Ports of the tester, and of the device, in each loopback.
PORTS = (TESTER_PORTS, DUT_PORTS)
SECOND_PORTS = (SECOND_TESTER_PORTS, SECOND_DUT_PORTS)
IPV4_MTU = 1500

#: Interfaces of the tester, and of the device.
Pair = tuple[list[Interface], list[Interface]]


class VethLink:
    """A namespace for the device, one for each of the tester's ports, a pair for each wire."""

    two_processes = False

    def __init__(self, name: str, tester_driver: str) -> None:
        """`tester_driver` is the one of the tester's ports unless the testbed names another."""
        self.name = name
        self._tester_driver = tester_driver

    def pushes_back(self, _testbed: Testbed) -> bool:
        """Yes: the kernel takes no more than the other end's backlog has room for."""
        return True

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """Privilege, iproute2 to run programs in namespaces, and interfaces that are named."""
        what = f"wire {self.name}"
        return (
            missing_privilege(what)
            + missing_program("ip", "iproute2", what)
            + [
                Prerequisite(f"{what} needs interface {name}", "make it, or mend tester.interfaces")
                for name in _named(testbed)
                if name not in names_of_interfaces()
            ]
        )

    @contextmanager
    def joined(self, testbed: Testbed, loopbacks: int = 1) -> Iterator[Ends]:
        """Make t0 and e0, t1 and e1; a second loopback beside them, in the same namespaces.

        Interfaces that the testbed names are there already, and stay: the device is behind them.
        """
        if named := _named(testbed):
            there_already = [Interface("", name) for name in named]
            yield Ends(
                self._tester_ends(testbed, there_already), None, check=lambda: _check_named(named)
            )
            return
        with ExitStack() as stack:
            there = _namespace(stack, "dut")
            here = [_namespace(stack, name) for name in TESTER_PORTS]
            pairs = [_pairs(there, here, loopback) for loopback in range(loopbacks)]
            made = [interface for pair in pairs for both in pair for interface in both]
            ends = [self._ends(testbed, pair, 4 * number) for number, pair in enumerate(pairs)]
            yield replace(
                ends[0],
                check=lambda: _check(made),
                second=ends[1] if loopbacks > 1 else None,
            )

    @contextmanager
    def bare(self, testbed: Testbed) -> Iterator[Ends]:
        """Make t0 and t1 the two ends of one pair."""
        with ExitStack() as stack:
            tester = [Interface(_namespace(stack, name), name) for name in TESTER_PORTS]
            first, second = (TESTER_INTERFACE_MAC.format(index) for index in range(2))
            make_veth(tester[0], tester[1], IPV4_MTU, (first, second))
            yield Ends(self._tester_ends(testbed, tester), None, check=lambda: _check(tester))

    def _ends(self, testbed: Testbed, pair: Pair, number: int) -> Ends:
        """Ends of two wires; `number` is that of the first of their four ports."""
        tester, dut = pair
        first, second = (
            self._dut_end(testbed, one, number + at) for at, one in enumerate(dut, start=2)
        )
        return Ends(self._tester_ends(testbed, tester, number), (first, second))

    def _tester_ends(
        self, testbed: Testbed, interfaces: list[Interface], number: int = 0
    ) -> tuple[End, ...]:
        chosen = testbed.tester.driver if testbed.tester else None
        driver = chosen or self._tester_driver
        return tuple(
            _end(testbed, interface, driver, number + at) for at, interface in enumerate(interfaces)
        )

    def _dut_end(self, testbed: Testbed, interface: Interface, number: int) -> End:
        end = _end(testbed, interface, testbed.dut.driver or self._tester_driver, number)
        batch = {} if testbed.dut.batch is None else {"batch": testbed.dut.batch}
        return replace(end, port=end.port | batch)


def _pairs(there: str, here: list[str], loopback: int) -> Pair:
    """Join a port of the tester in each namespace of `here` to one of the device's."""
    names = (PORTS, SECOND_PORTS)[loopback]
    tester = [Interface(netns, name) for netns, name in zip(here, names[0], strict=True)]
    dut = [Interface(there, name) for name in names[1]]
    for index, (mine, theirs) in enumerate(zip(tester, dut, strict=True)):
        macs = (TESTER_INTERFACE_MAC, DUT_INTERFACE_MAC)
        mine_mac, theirs_mac = (mac.format(2 * loopback + index) for mac in macs)
        make_veth(mine, theirs, IPV4_MTU, (mine_mac, theirs_mac))
    return tester, dut


def _namespace(stack: ExitStack, role: str) -> str:
    return stack.enter_context(namespaces.made(role))


def _end(testbed: Testbed, interface: Interface, driver: str, number: int) -> End:
    port = drivers.on_interface(driver, interface.name, interface.netns, number)
    return End({**port, "link_bps": testbed.line_bps}, interface.name, interface.netns)


def _named(testbed: Testbed) -> tuple[str, ...]:
    """The tester's interfaces that somebody else joined to the device."""
    return (testbed.tester and testbed.tester.interfaces) or ()


def _check_named(names: tuple[str, ...]) -> None:
    gone = [name for name in names if name not in names_of_interfaces()]
    if gone:
        raise SetupError(f"interface {gone[0]} is gone: somebody deleted it")


def names_of_interfaces() -> frozenset[str]:
    """Interfaces of this process's network namespace."""
    return frozenset(name for _, name in socket.if_nameindex())


def _check(interfaces: list[Interface]) -> None:
    for interface in interfaces:
        check(interface)


register(VethLink("veth", "socket-mmap"))
