"""Firmware that DPDK's driver works with."""

import re

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic

#: By the first number of a ConnectX's version (DPDK, guides/platform/mlx5, 'NVIDIA MLNX_OFED/EN').
_LEAST = {
    12: (12, 21, 1000),
    14: (14, 21, 1000),
    16: (16, 21, 1000),
    20: (20, 27, 90),
    22: (22, 27, 90),
    26: (26, 27, 90),
    28: (28, 33, 2028),
}


@check_nic("firmware", order=44)
def firmware(look: Look, nic: Nic) -> Finding | None:
    """Read what ethtool says; of cards without a known minimum it is shown only."""
    if not nic.interface or nic.ids.startswith("1af4"):
        return None
    text = look.host.need_output("ethtool", "-i", nic.interface)
    line = re.search(r"^firmware-version:[ \t]*(\S.*)$", text, re.MULTILINE)
    version = " ".join(line[1].split())[:40] if line else ""
    parts = re.match(r"(\d{1,3})\.(\d{1,3})\.(\d{1,5})", version, re.ASCII)
    number = tuple(int(part) for part in parts.groups()) if parts else ()
    least = _LEAST.get(number[0]) if number and nic.driver == "mlx5_core" else None
    bad = least is not None and number < least
    return Finding(
        check="firmware",
        state="fault" if bad else "ok",
        found=version or "none named",
        wanted="{}.{}.{:04} or newer".format(*least) if least else "",
        why="DPDK's mlx5 driver is not tested with older ones." if bad else "",
        source="DPDK, guides/platform/mlx5, minimal supported versions",
        fix=(f"sudo mlxup -d {nic.address}",) if bad else (),
    )
