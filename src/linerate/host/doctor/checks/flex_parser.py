"""The flex parser of a ConnectX: which tunnels flow rules can match."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.connectx import configured
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


@check_nic("flex parser", order=46)
def flex_parser(look: Look, nic: Nic) -> Finding | None:
    """Profile 1 is needed by rules that match MPLS, and by nothing else here."""
    if nic.driver != "mlx5_core":
        return None
    value = configured(look, nic, "FLEX_PARSER_PROFILE_ENABLE")
    return Finding(
        check="flex parser",
        state="ok" if value == 1 else "note",
        found=f"profile {value}",
        wanted="profile 1, for flow rules on MPLS",
        why="Rules that match MPLS labels are refused with other profiles; U4 and B4 without "
        "rules don't need it.",
        source="DPDK, guides/platform/mlx5, 'enable MPLS flow matching'",
        fix=(
            f"sudo mstconfig -d {nic.address} set FLEX_PARSER_PROFILE_ENABLE=1",
            f"sudo mstfwreset -d {nic.address} reset",
        ),
    )
