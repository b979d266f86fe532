"""Frequency and temperature of a machine's CPUs, as its kernel has them."""

import contextlib
import statistics
from collections.abc import Iterable
from pathlib import Path

from linerate.lab.power._hosts import HostError, PowerHost
from linerate.model.power import Thermal

#: Chips whose sensors are in or beside a CPU.
CPU_CHIPS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal", "acpitz")
TIMEOUT_SECONDS = 5.0
#: Sensors that are not wired up read −128 or 0 °C.
CELSIUS = range(1, 130)


class ThermalReader:
    """Finds the files once, and reads them each time."""

    def __init__(self, host: PowerHost, root: Path = Path("/sys")) -> None:
        self._host = host
        cpus = root / "devices/system/cpu"
        self._frequencies = self._found(cpus, "cpu[0-9]*/cpufreq/scaling_cur_freq")
        self._temperatures = self._of_cpus(root / "class/hwmon") or self._found(
            root / "class/thermal", "thermal_zone*/temp"
        )

    def read(self) -> Thermal | None:
        """All that is known now; None where the machine says nothing."""
        megahertz = [value / 1000 for value in self._numbers(self._frequencies) if value > 0]
        celsius = [
            value / 1000
            for value in self._numbers(self._temperatures)
            if round(value / 1000) in CELSIUS
        ]
        if not megahertz and not celsius:
            return None
        return Thermal(
            mhz_least=min(megahertz, default=None),
            mhz_mean=statistics.fmean(megahertz) if megahertz else None,
            celsius_most=max(celsius, default=None),
        )

    def _of_cpus(self, folder: Path) -> list[Path]:
        """Temperatures of chips that are CPUs'."""
        names = self._found(folder, "*/name")
        chips = dict(zip(names, self._texts(names), strict=False))
        paths = self._found(folder, "*/temp*_input")
        return [path for path in paths if chips.get(path.parent / "name") in CPU_CHIPS]

    def _found(self, folder: Path, pattern: str) -> list[Path]:
        with contextlib.suppress(HostError):
            return self._host.names(folder, pattern, TIMEOUT_SECONDS)
        return []

    def _texts(self, paths: list[Path]) -> list[str]:
        with contextlib.suppress(HostError):
            return self._host.texts(paths, TIMEOUT_SECONDS) if paths else []
        return []

    def _numbers(self, paths: list[Path]) -> Iterable[float]:
        for text in self._texts(paths):
            with contextlib.suppress(ValueError):
                yield float(text)
