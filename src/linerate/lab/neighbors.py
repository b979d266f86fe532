"""Neighbours of the tester's ports, asked for their MAC addresses by ARP or neighbour discovery."""

from typing import Protocol

from linerate.base.errors import SetupError
from linerate.engine.telemetry import RefusedError
from linerate.lab.tester._links import Say
from linerate.model.suites import DUT_MACS, tester_ports
from linerate.model.testbed import Testbed

#: Each waits 1.5 s: a device that has just got its addresses may take a moment.
ATTEMPTS = 3


class Resolver(Protocol):
    """A tester that asks its neighbours."""

    def resolve(self, port: str, address: str, vlan: int | None) -> str:
        """Return the neighbour's MAC address; raises RefusedError, which says why not."""


def learnt(tester: Resolver, testbed: Testbed, say: Say) -> dict[str, str]:
    """MAC addresses of both neighbours, by those that stand in for them in a configuration.

    Empty where none is to be asked. Raises SetupError when one does not answer.
    """
    asked = testbed.neighbors
    if asked is None:
        return {}
    vlans = (testbed.tester and testbed.tester.vlans) or (None, None)
    ports = tester_ports(testbed)
    macs = [
        _ask(tester, port, address, vlan)
        for port, address, vlan in zip(ports, asked, vlans, strict=False)
    ]
    for port, address, mac in zip(ports, asked, macs, strict=True):
        say(f"{port}: {address} is at {mac}")
    return dict(zip(DUT_MACS, macs, strict=False))


def _ask(tester: Resolver, port: str, address: str, vlan: int | None) -> str:
    reason = ""
    for _ in range(ATTEMPTS):
        try:
            return tester.resolve(port, address, vlan)
        except RefusedError as error:
            reason = str(error.answer.get("error", error))
    raise SetupError(
        f"{port}: neighbour {address}: {reason}: check the cable, and that the device's port is up "
        "there and has this address, in the same VLAN; or give dut.macs"
    )
