"""Use of a testbed's NIC by the host."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nic_use import uses
from linerate.host.doctor.nics import Nic


@check_nic("host use", order=39)
def host_use(look: Look, nic: Nic) -> Finding | None:
    """Look what a testbed's NIC is used for."""
    if not look.needs.addresses:
        return None
    used = uses(look.host, nic.address)
    return Finding(
        check="host use",
        state="fault" if used else "ok",
        found=", ".join(used) or "not used by the host",
        wanted="a NIC of its own",
        why="A NIC that DPDK takes is gone for the host: routes, addresses and sessions with it.",
        source="Linux, Documentation/driver-api/driver-model/binding.rst",
        advice="Name another port in the testbed file, or take these from it first." * bool(used),
    )
