"""Pause frames, with which a card makes its peer wait."""

import re

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


@check_nic("flow control", order=49)
def flow_control(look: Look, nic: Nic) -> Finding | None:
    """Off in both directions."""
    if not nic.interface or nic.ids.startswith("1af4"):
        return None
    text = look.host.need_output("ethtool", "-a", nic.interface)
    on = re.findall(r"^(RX|TX):\s*on\s*$", text, re.MULTILINE)
    return Finding(
        check="flow control",
        state="fault" if on else "ok",
        found=f"{' and '.join(on).lower()} on" if on else "off",
        wanted="off",
        why="A DUT that is too slow makes the tester wait instead of losing frames: the loss goes "
        "away, and with it the evidence.",
        source="RFC 2544, 26.1, counts what is lost at the offered rate; NVIDIA's DPDK "
        "performance reports switch it off",
        fix=(f"sudo ethtool -A {nic.interface} autoneg off rx off tx off",) if on else (),
        heavy=bool(on),
    )
