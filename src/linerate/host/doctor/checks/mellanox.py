"""Settings that cards of NVIDIA (Mellanox) need for DPDK."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.connectx import configured
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic
from linerate.model.findings import Finding

_PATH = "/sys/module/mlx4_core/parameters/log_num_mgm_entry_size"


@check_nic("mlx4 steering", order=42)
def mlx4_steering(look: Look, nic: Nic) -> Finding | None:
    """Look at the module's parameter."""
    if nic.driver != "mlx4_core":
        return None
    value = look.host.number(_PATH)
    if value is None:
        raise UnknownError(f"{_PATH}: {look.host.trouble(_PATH)}")
    return Finding(
        check="mlx4 steering",
        state="ok" if value == -1 else "fault",
        found=f"log_num_mgm_entry_size={value}",
        wanted="log_num_mgm_entry_size=-1",
        why="Without device-managed flow steering DPDK's mlx4 driver receives nothing.",
        source="DPDK, guides/nics/mlx4, 'Run-time configuration'; Linux commit 3c439b5586e9",
        fix=(
            "echo 'options mlx4_core log_num_mgm_entry_size=-1' | sudo tee "
            "/etc/modprobe.d/mlx4_core.conf",
            "sudo modprobe -r mlx4_en mlx4_ib mlx4_core",
            "sudo modprobe mlx4_en",
        ),
        heavy=value != -1,
    )


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
