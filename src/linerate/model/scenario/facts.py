"""Placeholders of every scenario: ports, addresses and networks of tester and box."""

from linerate.model.scenario.placeholders import Scalar
from linerate.model.suites import DUT_MACS, DUT_PORTS, NETWORKS, TESTER_MACS

#: Addresses of the box's two ports, and of the tester's behind them, as lab/router.vpp has them.
DUT_IP4 = ("100.64.1.1", "100.64.2.1")
TESTER_IP4 = ("100.64.1.2", "100.64.2.2")
DUT_IP6 = ("fd64:1::1", "fd64:2::1")
TESTER_IP6 = ("fd64:1::2", "fd64:2::2")


def facts(
    interfaces: tuple[str, str] = (DUT_PORTS[0], DUT_PORTS[1]),
    work: str = "/tmp/work",
    folder: str = ".",
) -> dict[str, Scalar]:
    """Placeholders by name; `work` is a folder of the run, `folder` the scenario's own."""
    found: dict[str, Scalar] = {}
    for here in range(2):
        found |= {
            f"e{here}": interfaces[here],
            f"e{here}_mac": DUT_MACS[here],
            f"e{here}_ip": DUT_IP4[here],
            f"e{here}_ip6": DUT_IP6[here],
            f"t{here}_mac": TESTER_MACS[here],
            f"t{here}_ip": TESTER_IP4[here],
            f"t{here}_ip6": TESTER_IP6[here],
            f"net{here}": f"{NETWORKS[here]}.0/24",
        }
    return found | {"work": work, "folder": folder}
