"""Ports of a box: there, up, as fast as the line, with the MAC address that frames are sent to."""

from collections.abc import Iterator

from linerate.base.line_rate import format_bps
from linerate.model.box_setup import Interface, Setup
from linerate.model.findings import Finding
from linerate.model.testbed import Testbed

MTU_MIN = 1500
#: Interfaces that are named where a port is not there.
NAMED = 8
#: Bits a second of a lane, by GT/s: 8b/10b coding up to PCIe 2, 128b/130b after it.
_LANE_BPS = {"2.5": 2.0e9, "5.0": 4.0e9, "8.0": 7.88e9, "16.0": 15.75e9, "32.0": 31.5e9}
#: Share of a slot's rate that is left for packets of 64 bytes and their descriptors.
_PCIE_SHARE = 0.8


def ports(testbed: Testbed, setup: Setup) -> Iterator[Finding]:
    """All ports that packets cross."""
    chosen = testbed.dut.box_ports
    assert chosen is not None
    macs = dict(zip(testbed.dut.facing, testbed.dut.macs or (), strict=False))
    for port in chosen:
        interface = setup.interfaces.get(port.name)
        if interface is None:
            yield _not_there(port.name, setup)
            continue
        yield from _state(interface)
        yield from _speed(testbed, interface)
        yield from _mtu(interface)
        yield from _mac(macs.get(port, ""), interface)


def _not_there(name: str, setup: Setup) -> Finding:
    others = [one.name for one in setup.interfaces.values() if one.physical]
    return Finding(
        check="port",
        subject=name,
        state="fault",
        found="no such interface on the box",
        wanted="a port of the box",
        advice=f"correct dut.ports; the box has {', '.join(others[:NAMED]) or 'none'}",
    )


def _state(interface: Interface) -> Iterator[Finding]:
    about = [text for text in (interface.driver, interface.pci) if text]
    if interface.enabled is False:
        yield Finding(
            check="port", subject=interface.name, state="fault", found="down", wanted="up"
        )
    elif interface.link is False:
        yield Finding(
            check="port",
            subject=interface.name,
            state="fault",
            found="up, without a link",
            wanted="a link",
            advice="check the cable and the transceiver, and that the tester's port is up: DPDK's "
            "come up when an engine starts",
        )
    else:
        found = f"up ({', '.join(about)})" if about else "up"
        yield Finding(check="port", subject=interface.name, state="ok", found=found)


def _speed(testbed: Testbed, interface: Interface) -> Iterator[Finding]:
    if interface.speed_bps and testbed.link_bps and interface.driver != "veth":
        slow = interface.speed_bps < testbed.link_bps
        yield Finding(
            check="speed",
            subject=interface.name,
            state="fault" if slow else "ok",
            found=format_bps(interface.speed_bps),
            wanted=f"link: {format_bps(testbed.link_bps)}" if slow else "",
            advice="check the cable and what the tester's port offers, or correct `link`"
            if slow
            else "",
        )
    lanes = _pcie_bps(interface.pcie)
    needed = interface.speed_bps or testbed.link_bps
    if lanes and needed:
        narrow = lanes * _PCIE_SHARE < needed
        yield Finding(
            check="pcie",
            subject=interface.name,
            state="note" if narrow else "ok",
            found=f"{interface.pcie}, {format_bps(round(lanes))}",
            wanted=f"room for {format_bps(needed)}" if narrow else "",
            advice="put the card into a wider slot" if narrow else "",
        )


def _pcie_bps(text: str) -> float | None:
    """Rate of `8.0 GT/s x4`."""
    speed, _, lanes = text.partition(" GT/s x")
    rate = _LANE_BPS.get(speed)
    return rate * int(lanes) if rate and lanes.isdecimal() else None


def _mtu(interface: Interface) -> Iterator[Finding]:
    if interface.mtu is None:
        return
    small = interface.mtu < MTU_MIN
    yield Finding(
        check="mtu",
        subject=interface.name,
        state="fault" if small else "ok",
        found=f"{interface.mtu}",
        wanted=f"{MTU_MIN} or more" if small else "",
        advice="frames of 1518 bytes do not fit" if small else "",
    )


def _mac(wanted: str, interface: Interface) -> Iterator[Finding]:
    if not interface.mac:
        return
    wrong = bool(wanted) and interface.mac != wanted
    yield Finding(
        check="mac",
        subject=interface.name,
        state="fault" if wrong else "ok",
        found=interface.mac,
        wanted=f"{wanted}, as dut.macs has it" if wrong else "",
        advice=f"write {interface.mac} into dut.macs: frames to another address are dropped"
        if wrong
        else "",
    )
