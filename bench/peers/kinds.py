"""Every kind of benchmark there is; importing one registers it, in this order."""

from bench.peers import (  # isort: skip
    modes,
    routes,
    routes6,
    mpls,
    tester,
    senders,
    pages,
    card,
    memif,
    handoff,
    veth,
    bare_loops,
    rx_modes,
)

__all__ = [
    "bare_loops",
    "card",
    "handoff",
    "memif",
    "modes",
    "mpls",
    "pages",
    "routes",
    "routes6",
    "rx_modes",
    "senders",
    "tester",
    "veth",
]
