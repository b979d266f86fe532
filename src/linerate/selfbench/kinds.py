"""Every kind of benchmark there is; importing one registers it, in this order."""

from linerate.selfbench import (  # isort: skip
    modes,
    routes,
    routes6,
    mpls,
    tester,
    pages,
    card,
    memif,
    handoff,
    veth,
    rx_modes,
)

__all__ = [
    "card",
    "handoff",
    "memif",
    "modes",
    "mpls",
    "pages",
    "routes",
    "routes6",
    "rx_modes",
    "tester",
    "veth",
]
