"""Descriptor rings of a kernel's driver."""

from linerate.base.line_rate import line_rate
from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.ethtool import maximum_and_current
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic

_WANTED = 1024


@check_nic("rings", order=48)
def rings(look: Look, nic: Nic) -> Finding | None:
    """1,024 descriptors, as far as the card has them."""
    if not nic.interface:
        return None
    text = look.host.need_output("ethtool", "-g", nic.interface)
    most, now = maximum_and_current(text, "RX")
    if not most or not now or most < 0 or now < 0:
        raise UnknownError(f"ethtool -g {nic.interface}: no size of the rx ring")
    wanted = min(most, _WANTED)
    why = "A ring that is full loses frames while its worker is away."
    if nic.port_bps:
        full = now / line_rate(nic.port_bps, 64).packets_per_second * 1e6
        why = f"At {nic.port_bps / 1e9:g} Gb/s of 64-byte frames it is full after {full:.0f} µs."
    return Finding(
        check="rings",
        state="ok" if now >= wanted else "fault",
        found=f"{now:,} rx descriptors of {most:,}",
        wanted=f"{wanted:,}",
        why=why,
        source="descriptors ÷ line rate. Counts for drivers on the kernel's interface; DPDK makes "
        "its own rings",
        fix=(f"sudo ethtool -G {nic.interface} rx {wanted} tx {wanted}",) if now < wanted else (),
    )
