"""The card's PCIe link is too narrow."""

from linerate.analysis.explain.ceilings.links import SIZES, wire_link
from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    main_losses,
    quotes,
    received_pps,
    share_of_losses,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence, PcieLink

#: A link that does so much of what it can do is used up.
USED_UP = 0.99
#: Tolerance of the arithmetic for a real card.
NEAR = 0.1

SPEC = "PCI Express Base Specification 3.1, 2.2; Neugebauer et al., SIGCOMM 2018"
MORE = (
    "put the card into a slot with as many lanes as it has",
    "a larger maximum payload (setpci, BIOS), if frames are large",
)


@rule("pcie", Stage.RESOURCE, reference=SPEC)
def pcie_refused(evidence: Evidence) -> Finding | None:
    """The card dropped what did not fit through the link, on the way in or out."""
    refused = main_losses(evidence, "pcie")
    waiting = main_losses(evidence, "tx-ring") if use(evidence) >= USED_UP else []
    lost = refused or waiting
    if not lost:
        return None
    where = "did not fit through it" if refused else "found the tx ring full behind it"
    return Finding(
        limit="pcie",
        confidence="high",
        sentence=(
            f"the PCIe link is {100 * use(evidence):.0f} % full: {total(lost):,} packets {where}"
        ),
        evidence=quotes(*lost),
        try_=MORE,
        explains=share_of_losses(evidence, lost),
    )


def use(evidence: Evidence) -> float:
    """Share of the virtual card's PCIe link used by the received packets, by its own formula."""
    given, card = evidence.conditions, evidence.card
    if given is None or card is None or card.pcie is None:
        return 0.0
    usable = card.pcie.link.usable(given.frame_bytes)
    return given.received_pps / usable.packets_per_second


@rule("pcie", Stage.SIGN, reference="drivers/pci/pci.c, __pcie_print_link_status(); " + SPEC)
def narrower_than_the_card(evidence: Evidence) -> Finding | None:
    """The kernel or lspci says that a link is narrower than its card."""
    narrow = [found for found in evidence.pcie if _is_narrow(found)]
    if not narrow:
        return None
    rate, reached = received_pps(evidence), None
    if rate is not None and evidence.conditions is not None:
        reached = _reached(narrow, rate, evidence.conditions.frame_bytes)
        if not reached:
            return None
    links = "; ".join(_link_text(found) for found in narrow)
    return Finding(
        limit="pcie",
        confidence="medium" if reached else "low",
        sentence=f"PCIe links narrower than their cards: {links}",
        evidence=tuple(quote for found in narrow for quote in found.quotes),
        try_=(*MORE, *(() if reached else ("measure a rate: this is a ceiling, not yet a limit",))),
        explains=0.5 if reached else 0.1,
    )


def _is_narrow(found: PcieLink) -> bool:
    if found.data_bps and found.capable_bps:
        return found.data_bps < found.capable_bps
    lanes = bool(found.lanes and found.capable_lanes and found.lanes < found.capable_lanes)
    speed, capable = found.gigatransfers, found.capable_gigatransfers
    return lanes or bool(speed and capable and speed < capable)


def _reached(narrow: list[PcieLink], rate_pps: float, frame_bytes: float) -> bool:
    usable = [
        link.usable(frame_bytes).packets_per_second
        for found in narrow
        if (link := wire_link(found)) is not None
    ]
    return any(abs(rate_pps - pps) <= NEAR * pps for pps in usable)


def _link_text(found: PcieLink) -> str:
    """`0000:05:00.0 (ixgbe): 16.0 of 32.0 Gb/s, 18.9 Mpps of 64 B, 1.24 of 1514 B`."""
    name = f"{found.device} ({found.driver})" if found.driver else found.device
    link = wire_link(found)
    if link is None:
        return name
    of = f" of {found.capable_bps / 1e9:.1f}" if found.capable_bps else ""
    allowed = " and ".join(
        f"{link.usable(size).packets_per_second / 1e6:.2f} Mpps at {size} B" for size in SIZES
    )
    return f"{name}: {link.data_bps / 1e9:.1f}{of} Gb/s usable, which is {allowed} each way"
