"""Sizes of an engine's packet memory: of the lab, the doctor and the engine alike."""

import os
from importlib.resources import files
from pathlib import Path

#: $LINERATE_SYSFS is a copy of /sys, for tests.
_SYSFS = Path(os.environ.get("LINERATE_SYSFS", "/sys")) / "kernel/mm/hugepages"


def _sizes() -> dict[str, int]:
    text = (files("linerate.base") / "memory_size.conf").read_text(encoding="utf-8")
    pairs = (line.split("=") for line in text.splitlines() if not line.startswith("#"))
    return {key: int(value) for key, value in pairs}


_SIZES = _sizes()
#: Packet memory of an engine whose configuration says nothing.
MEGABYTES = _SIZES["MEGABYTES"]


def needed_megabytes(megabytes: int = MEGABYTES) -> int:
    """Hugepages that an engine with so much packet memory asks for, in MiB."""
    return megabytes + _SIZES["EAL_MEGABYTES"]


def free_megabytes(folder: Path = _SYSFS) -> int:
    """Hugepages of all sizes that are free on this host, in MiB."""
    kilobytes = 0
    for size in folder.glob("hugepages-*kB"):
        pages = max(0, _number(size / "free_hugepages") - _number(size / "resv_hugepages"))
        kilobytes += pages * int(size.name.removeprefix("hugepages-").removesuffix("kB"))
    return kilobytes // 1024


def _number(path: Path) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
