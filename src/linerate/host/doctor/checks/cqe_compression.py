"""Completions of a ConnectX: one of 64 bytes a frame, or several in one."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.connectx import configured
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


@check_nic("cqe compression", order=45)
def cqe_compression(look: Look, nic: Nic) -> Finding | None:
    """Look whether it is aggressive."""
    if nic.driver != "mlx5_core":
        return None
    value = configured(look, nic, "CQE_COMPRESSION")
    return Finding(
        check="cqe compression",
        state="ok" if value == 1 else "fault",
        found="aggressive (1)" if value == 1 else f"balanced ({value})",
        wanted="aggressive (1)",
        why="Each frame's completion takes 64 bytes of the PCIe link, as much as a small frame "
        "itself; compressed, 8 bytes.",
        source="DPDK, guides/nics/mlx5, 'Performance tuning': 'for maximum performance'; "
        "ConnectX PRM: mini CQE",
        fix=(
            f"sudo mstconfig -d {nic.address} set CQE_COMPRESSION=1",
            f"sudo mstfwreset -d {nic.address} reset",
        ),
    )
