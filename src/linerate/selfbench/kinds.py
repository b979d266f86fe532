"""Every kind of benchmark there is; importing one registers it, in this order."""

from linerate.selfbench import modes, routes, mpls, tester, pages, card, memif  # isort: skip
from linerate.selfbench import rx_modes  # isort: skip

__all__ = ["card", "memif", "modes", "mpls", "pages", "routes", "rx_modes", "tester"]
