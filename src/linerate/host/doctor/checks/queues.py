"""Rx and tx queues that a kernel's driver uses."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.ethtool import maximum_and_current
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


@check_nic("queues", order=47)
def queues(look: Look, nic: Nic) -> Finding | None:
    """One for each worker, as far as the card has them."""
    if not nic.interface:
        return None
    text = look.host.need_output("ethtool", "-l", nic.interface)
    most, now = maximum_and_current(text, "Combined")
    if not most or not now:
        most, now = maximum_and_current(text, "RX")
    if not most or not now or most < 0 or now < 0:
        raise UnknownError(f"ethtool -l {nic.interface}: no number of queues")
    wanted = min(most, len(look.workers))
    kind = "combined" if maximum_and_current(text, "Combined")[1] else "rx"
    return Finding(
        check="queues",
        state="ok" if now >= wanted else "fault",
        found=f"{now} of {most}",
        wanted=f"{wanted}, for {len(look.workers)} workers",
        why="Frames of one queue go to one worker: an i226-V with one in use forwarded 3.28 Mpps, "
        "88 % of its line, with the CPU's other cores idle.",
        source="tests/data/loadtests.csv (U2 on an N6005). Counts for drivers on the kernel's "
        "interface; DPDK makes its own queues",
        fix=(f"sudo ethtool -L {nic.interface} {kind} {wanted}",) if now < wanted else (),
    )
