"""Prerequisites for making namespaces and running programs in them."""

import os
import shutil
from pathlib import Path

from linerate.base.prerequisites import Prerequisite

#: linux/capability.h, and what for.
_CAPABILITIES = {12: "CAP_NET_ADMIN", 13: "CAP_NET_RAW", 21: "CAP_SYS_ADMIN"}


def missing_privilege(what: str) -> list[Prerequisite]:
    """Say so when this process may not make namespaces and interfaces; `what` wants them."""
    effective = _effective_capabilities()
    missing = [name for bit, name in _CAPABILITIES.items() if not effective >> bit & 1]
    return [Prerequisite(f"{what} needs {', '.join(missing)}", "run it as root")] if missing else []


def missing_program(program: str, package: str, what: str) -> list[Prerequisite]:
    """Say so when a program is not installed."""
    if shutil.which(program, path=search_path()) is None:
        return [Prerequisite(f"{what} needs {program}", f"apt-get install {package}")]
    return []


def search_path() -> str:
    """Where programs are, those of the system's administrator too."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").split("\n"):
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0
