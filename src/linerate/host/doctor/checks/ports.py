"""Ports of a testbed that are on no NIC of this host."""

from linerate.base.pci import full_address
from linerate.host.doctor.checks import check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look


@check("ports", order=38)
def ports(look: Look) -> Finding | None:
    """Find each address."""
    if not look.needs.addresses:
        return None
    known = {nic.address for nic in look.nics}
    missing = [one for one in map(full_address, look.needs.addresses) if one not in known]
    return Finding(
        check="ports",
        state="fault" if missing else "ok",
        found=f"no NIC at {', '.join(missing)}" if missing else f"{len(known)} NICs",
        wanted="a NIC at each address",
        why="The engine cannot open what is not there.",
        source="the testbed file",
        fix=("lspci -D -d ::0200",),
    )
