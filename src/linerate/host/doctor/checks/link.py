"""The link of a card that keeps its interface."""

from linerate.host.doctor.checks import Form, check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


@check_nic("link", order=43, form=Form.BOTH)
def link(look: Look, nic: Nic) -> Finding | None:
    """Up, and as fast as the card can."""
    if not nic.interface:
        return None
    state = look.host.need(f"/sys/class/net/{nic.interface}/operstate")
    carrier = look.host.read(f"/sys/class/net/{nic.interface}/carrier")
    up = state == "up" or (state == "unknown" and carrier == "1")
    slow = bool(up and nic.speed_bps and nic.rated_bps and nic.speed_bps < nic.rated_bps)
    found = f"{state} at {nic.speed_bps / 1e9:g} Gb/s" if up and nic.speed_bps else state
    rated = f" at {nic.rated_bps / 1e9:g} Gb/s" if nic.rated_bps else ""
    fix: tuple[str, ...] = ()
    if not up:
        fix = (f"sudo ip link set {nic.interface} up",)
    elif slow:
        fix = (f"sudo ethtool -s {nic.interface} autoneg on",)
    return Finding(
        check="link",
        state="ok" if up and not slow else "fault",
        found=found[:60],
        wanted=f"up{rated}",
        why="No frame passes." if not up else "All rates are shares of the link's." if slow else "",
        fix=fix,
        advice="If that is not it: the cable, the module, the other end.",
        heavy=not up or slow,
    )
