"""Counters of a CPU that no scheduler knows of: SMIs, frequency, thermal throttling.

Read from /sys and, where the msr module is loaded and we are root, from model-specific registers.
A value that the machine does not report is None, never 0: "not readable" is no reading.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from linerate.model.cpu_disturbance import CpuDisturbance

ROOT = Path("/")

#: SMIs since reset: Intel's MSR_SMI_COUNT (Software Developer's Manual, volume 4, table 2-2).
SMI_COUNT = 0x34
#: Clocks at the nominal frequency and at the actual one, both while the CPU is not idle.
MPERF, APERF = 0xE7, 0xE8
THROTTLES = ("core_throttle_count", "package_throttle_count")


@dataclass(frozen=True, slots=True)
class Moment:
    """Counters of one CPU at one time; None where unavailable."""

    smis: int | None = None
    #: As the kernel says now.
    megahertz: float | None = None
    throttles: int | None = None
    mperf: int | None = None
    aperf: int | None = None


def read(cpu: int, root: Path = ROOT) -> Moment:
    """Read what there is of one CPU; `root` is where /dev and /sys are."""
    sysfs = root / "sys/devices/system/cpu" / f"cpu{cpu}"
    kilohertz = _number(sysfs / "cpufreq/scaling_cur_freq")
    counts = [_number(sysfs / "thermal_throttle" / name) for name in THROTTLES]
    known = [count for count in counts if count is not None]
    msr = root / "dev/cpu" / str(cpu) / "msr"
    return Moment(
        smis=_register(msr, SMI_COUNT),
        megahertz=None if kilohertz is None else kilohertz / 1e3,
        throttles=sum(known) if known else None,
        mperf=_register(msr, MPERF),
        aperf=_register(msr, APERF),
    )


def between(moments: list[Moment]) -> CpuDisturbance:
    """Difference from the first of them to the last."""
    first, last = moments[0], moments[-1]
    frequencies = [one.megahertz for one in moments if one.megahertz is not None]
    mperf, aperf = _grown(first.mperf, last.mperf), _grown(first.aperf, last.aperf)
    return CpuDisturbance(
        # 32 bits count, and begin anew.
        smis=_grown(first.smis, last.smis, 32),
        throttles=_grown(first.throttles, last.throttles),
        megahertz_min=min(frequencies, default=None),
        megahertz_max=max(frequencies, default=None),
        of_nominal=aperf / mperf if mperf and aperf is not None else None,
    )


def _grown(before: int | None, after: int | None, bits: int = 64) -> int | None:
    return None if before is None or after is None else (after - before) % 2**bits


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _register(path: Path, register: int) -> int | None:
    """Read a model-specific register; None without msr module, rights, or such a register."""
    try:
        device = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        data = os.pread(device, 8, register)
    except OSError:
        return None
    finally:
        os.close(device)
    return struct.unpack("<Q", data)[0] if len(data) == 8 else None
