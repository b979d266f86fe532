"""Flow steering of ConnectX-3, which DPDK's mlx4 driver cannot do without."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic

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
