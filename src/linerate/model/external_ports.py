"""Testbed settings of existing ports and devices: how to reach them."""

from collections.abc import Mapping, Sequence

#: Ways in which the tester is joined to it, by the key of `tester`, and the links that allow it.
JOINED_BY = {"sockets": ("memif",), "interfaces": ("interfaces", "veth", "af_xdp")}
WIRES = ("ethdev", "interfaces", "memif", "veth", "af_xdp", "cabled")
#: The wire behind which there is never a device of ours.
ALWAYS_OUTSIDE = "interfaces"
_EXAMPLES = {
    "sockets": "expected two, as [/run/vpp/a.sock, /run/vpp/b.sock]",
    "interfaces": "expected two that are joined to the device, as [eth1, eth2]",
}


def check(external: bool, wire: str, joined: Mapping[str, object], reached: object) -> None:
    """Raise ValueError when what joins the tester to the device is missing, or is not wanted.

    `joined` are the values of JOINED_BY's keys in `tester`, None where they are not given.
    `reached` is None where neither its MAC addresses are known nor whom to ask for them.
    """
    if external and wire not in WIRES:
        raise ValueError(
            f"wire: expected {', '.join(WIRES[:-1])} or {WIRES[-1]} for an external device, "
            f"not '{wire}'"
        )
    if wire == ALWAYS_OUTSIDE and not external:
        raise ValueError(
            f"wire: {wire} are cabled to a device that is there already: expected a box, or "
            "`dut: {kind: external}`"
        )
    for key, wires in JOINED_BY.items():
        wanted = external and wire in wires
        if wanted and joined[key] is None:
            raise ValueError(f"tester.{key}: required for an external device: {_EXAMPLES[key]}")
        if joined[key] is not None and not wanted:
            where = " or ".join(wires)
            raise ValueError(
                f"tester.{key}: expected only with `dut: {{kind: external}}` on wire {where}"
            )
    if external and reached is None:
        raise ValueError(
            "dut.macs: required of an external device: expected the addresses of its two ports, or "
            "IP addresses to ask for them: tester.addresses and dut.ports, as "
            "[{name: e0, address: 100.64.1.1/30}, ...]"
        )


def check_path(hairpin: bool, box: Sequence[str] | None, macs: Sequence[str] | None) -> None:
    """Raise ValueError when the ports of a box, and their addresses, make no path to the tester's.

    `box` are the names of its ports, in the order in which a packet comes by; `hairpin`: the tester
    has one port.
    """
    if box is not None:
        _check_box(hairpin, box)
    wanted = 1 if hairpin else 2
    if macs is not None and len(macs) != wanted:
        words = "one, the tester has one port" if hairpin else "two, of the ports at the tester's"
        raise ValueError(f"dut.macs: expected {words}, not {len(macs)}")


def _check_box(hairpin: bool, box: Sequence[str]) -> None:
    if twice := next((name for name in box if box.count(name) > 1), ""):
        raise ValueError(
            f"dut.ports: {twice} is named twice: expected each port once, in the order in which "
            "packets come by"
        )
    if hairpin and len(box) != 1:
        raise ValueError(
            f"dut.ports: expected one, as the tester has one port, not {len(box)}: packets leave "
            "such a box by the port that they came in by"
        )
    if not hairpin and len(box) == 1:
        raise ValueError(
            "dut.ports: expected two: to send packets through one port in and out, give the tester "
            "one port too"
        )
    if not hairpin and len(box) % 2:
        raise ValueError(
            f"dut.ports: expected two for each pass through the box, not {len(box)}: the port that "
            "packets come in by, the one that they leave by, the one that this is cabled to"
        )


#: With `wire: ethdev`, by key.
_ETHDEV = {
    "tester.ports": 'expected two, as [{device: "0000:05:00.0"}, {device: "0000:05:00.1"}]',
    "link": "expected a bit rate, as 10G",
    "dut.ports": 'expected two, as [{device: "0000:06:00.0"}, {device: "0000:06:00.1"}]',
}


def check_ethdev(tester_ports: object, link_bps: object, dut_ports: object) -> None:
    """Raise ValueError when `wire: ethdev` lacks a key: what was given for it is false."""
    for (key, example), given in zip(
        _ETHDEV.items(), (tester_ports, link_bps, dut_ports), strict=True
    ):
        if not given:
            raise ValueError(f"{key}: required with `wire: ethdev`: {example}")


def check_devices(named: Sequence[str]) -> None:
    """Raise ValueError when a device is given to two ports."""
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise ValueError(f"ports: expected a device for each port, not {twice} twice")
