"""PCIe lanes and speed, against what the card can do."""

from linerate.base.line_rate import PcieLink, line_rate
from linerate.host.doctor.checks import Form, check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import PCI, Nic, lanes_of, speed_of
from linerate.parsers.files import evidence_of_text
from linerate.parsers.text import text_of

#: Published rate of a box with a card in half of its lanes.
_PUBLISHED = "an 82599ES in x4 forwarded 12.9 of 20 Gb/s in B1"


@check_nic("pcie link", order=50, form=Form.BOTH)
def pcie_link(look: Look, nic: Nic) -> Finding | None:
    """Once a card: its functions share the link."""
    ports = [other for other in look.nics if other.card == nic.card]
    if nic is not ports[0] or nic.ids.startswith("1af4"):
        return None
    now, able = _in_sysfs(look, nic) or _in_dmesg(look, nic)
    narrow = now.lanes < able.lanes or now.gigatransfers < able.gigatransfers
    need = sum(port.port_bps or 0.0 for port in ports)
    heavy = narrow and now.data_bps < need
    return Finding(
        check="pcie link",
        state="fault" if narrow else "ok",
        found=_words(now),
        wanted=_words(able),
        why=_why(now, ports[0].port_bps, len(ports)) if narrow else "",
        source="GT/s × lanes × encoding, TLPs of 256 B; tests/data/loadtests.csv" if narrow else "",
        advice=f"Put it into a slot with x{able.lanes} at {able.gigatransfers:g} GT/s from the CPU."
        if narrow
        else "",
        heavy=heavy,
    )


def _words(link: PcieLink) -> str:
    return f"{link.gigatransfers:g} GT/s x{link.lanes} ({link.data_bps / 1e9:.1f} Gb/s)"


def _why(now: PcieLink, port_bps: float | None, ports: int) -> str:
    small = now.usable(64).packets_per_second
    said = f"Of 64-byte frames {small / 1e6:.1f} Mpps fit through, in each direction"
    if port_bps is None:
        return f"{said}; {_PUBLISHED}."
    line = ports * line_rate(port_bps, 64).packets_per_second
    of = f"{ports} port{'s' * (ports > 1)} at {port_bps / 1e9:g} Gb/s"
    return f"{said}, and {of} carry {line / 1e6:.1f}; {_PUBLISHED}."


def _in_sysfs(look: Look, nic: Nic) -> tuple[PcieLink, PcieLink] | None:
    folder = f"{PCI}/{nic.address}"
    links = []
    for which in ("current", "max"):
        speed = speed_of(look.host.read(f"{folder}/{which}_link_speed"))
        lanes = lanes_of(look.host.read(f"{folder}/{which}_link_width"))
        if speed is None or lanes is None:
            return None
        links.append(PcieLink(speed, lanes))
    return links[0], links[1]


def _in_dmesg(look: Look, nic: Nic) -> tuple[PcieLink, PcieLink]:
    """The kernel's messages when it detected the card."""
    text = None if look.hurried else look.host.output("dmesg")
    said = evidence_of_text(text_of(text, "dmesg")) if text else None
    for link in said.pcie if said else ():
        speeds = (link.gigatransfers, link.capable_gigatransfers)
        lanes = (link.lanes, link.capable_lanes)
        if link.device == nic.address and all(speeds) and all(lanes):
            return (
                PcieLink(speeds[0] or 0.0, lanes[0] or 0),
                PcieLink(speeds[1] or 0.0, lanes[1] or 0),
            )
    raise UnknownError("neither sysfs (current_link_speed and its kin) nor dmesg says")
