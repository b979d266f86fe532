"""RAPL: energy counters of CPU packages and memory, in the kernel's powercap tree."""

import time
from dataclasses import dataclass
from pathlib import Path

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import HostError, PowerHost
from linerate.model.power import PowerReading
from linerate.model.power_sources import Rapl

USUAL = Usual("CPU packages and memory alone", 0.25, 0.0, resolution_joules=0.001)
#: The counters are updated each millisecond: so uncertain is the moment of a reading.
MICRO = 1e-6
#: More than any package draws: a counter that went back by a restart looks like so much.
IMPOSSIBLE_WATTS = 5000.0


@dataclass
class _Zone:
    """A counter, with the energy that its wraps hide."""

    path: Path
    range_uj: int
    last_uj: int | None = None
    total_uj: int = 0

    def joules(self, now_uj: int, seconds: float) -> float:
        """Energy since the first reading; raises MeterError where it restarted."""
        if self.last_uj is not None:
            grown = now_uj - self.last_uj
            if grown < 0:
                grown += self.range_uj + 1
            if grown < 0 or grown * MICRO > IMPOSSIBLE_WATTS * max(seconds, 0.01):
                self.last_uj = now_uj
                raise MeterError(f"{self.path}: the counter started again")
            self.total_uj += grown
        self.last_uj = now_uj
        return self.total_uj * MICRO


class _RaplMeter:
    """Counters of all zones together."""

    def __init__(self, spec: Rapl, host: PowerHost) -> None:
        self.about = about(spec, USUAL)
        self._host = host
        self._timeout_s = spec.timeout_seconds
        self._at = time.monotonic()
        self._zones = [_Zone(path, range_uj) for path, range_uj in _zones(spec, host)]

    def read(self) -> PowerReading:
        """Energy so far."""
        paths = [zone.path / "energy_uj" for zone in self._zones]
        try:
            texts = self._host.texts(paths, self._timeout_s)
        except HostError as error:
            raise MeterError(f"{error}; root may read it") from error
        now = time.monotonic()
        seconds, self._at = now - self._at, now
        found = [whole(text) for text in texts]
        return PowerReading(
            joules=sum(
                zone.joules(value, seconds) for zone, value in zip(self._zones, found, strict=True)
            )
        )

    def close(self) -> None:
        """Nothing is held open."""


def whole(text: str) -> int:
    """A counter's figure; raises MeterError."""
    text = text.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        raise MeterError(f"energy_uj: expected a whole number, not '{text[:40]}'")
    return int(text)


def _zones(spec: Rapl, host: PowerHost) -> list[tuple[Path, int]]:
    """Zones to read: packages and memory, or those that were named."""
    try:
        paths = [
            path.parent for path in host.names(spec.root, "*:*/energy_uj", spec.timeout_seconds)
        ]
        files = [path / name for path in paths for name in ("name", "max_energy_range_uj")]
        texts = host.texts(files, spec.timeout_seconds) if files else []
    except HostError as error:
        raise MeterError(
            f"{error}: no RAPL there (modprobe intel_rapl_msr, or another source)"
        ) from error
    found = {
        path: (texts[2 * number], whole(texts[2 * number + 1])) for number, path in enumerate(paths)
    }
    # Intel's interface by memory-mapped registers has the same packages once more.
    chosen = [
        (path, range_uj)
        for path, (name, range_uj) in found.items()
        if (name in spec.zones if spec.zones else _whole_part(name))
        and not path.name.startswith("intel-rapl-mmio")
    ]
    if not chosen:
        names = ", ".join(sorted({name for name, _ in found.values()})) or "no zones"
        raise MeterError(
            f"{spec.root}: has {names}, expected {', '.join(spec.zones) or 'packages'}"
        )
    return chosen


def _whole_part(name: str) -> bool:
    """Whether no other zone has its energy too: cores and graphics are parts of a package."""
    return name.startswith("package") or name == "dram"


class _RaplSource:
    """RAPL counters in sysfs."""

    name = "rapl"

    def open(self, spec: Rapl, host: PowerHost) -> Meter:
        """Find the zones."""
        return _RaplMeter(spec, host)


register(_RaplSource())
