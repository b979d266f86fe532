"""hwmon: power in microwatts, or energy in microjoules, of a sensor of the kernel's."""

import re
from pathlib import Path

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import HostError, PowerHost
from linerate.lab.power.rapl import whole
from linerate.model.power import PowerReading
from linerate.model.power_sources import Hwmon

MICRO = 1e-6
_FIGURE = re.compile(r"(power|energy)\d+")


class _HwmonMeter:
    """One sensor."""

    def __init__(self, spec: Hwmon, host: PowerHost) -> None:
        self._path = _sensor(spec, host)
        self._host = host
        self._timeout_s = spec.timeout_seconds
        self._counts = self._path.name.startswith("energy")
        usual = Usual(f"sensor {self._path.name}", 1.0, 0.0, 0.001 if self._counts else None)
        self.about = about(spec, usual)

    def read(self) -> PowerReading:
        """Power now, or energy so far."""
        try:
            (text,) = self._host.texts([self._path], self._timeout_s)
        except HostError as error:
            raise MeterError(str(error)) from error
        value = whole(text) * MICRO
        return PowerReading(joules=value) if self._counts else PowerReading(watts=value)

    def close(self) -> None:
        """Nothing is held open."""


def _sensor(spec: Hwmon, host: PowerHost) -> Path:
    """The one sensor that fits; raises MeterError with the choice where there are several."""
    found = _found(spec, host)
    fitting = [
        path
        for path, (chip, names) in found.items()
        if spec.chip in (None, chip) and (spec.sensor is None or spec.sensor in names)
    ]
    # Power now is nearer to the moment than its average, and some have averages alone.
    best: dict[Path, Path] = {}
    for path in sorted(fitting, key=lambda path: path.name.endswith("_input")):
        best[path.with_name(path.name.rpartition("_")[0])] = path
    if len(best) == 1:
        return best.popitem()[1]
    choice = ", ".join(f"{chip} {names[0]}" for chip, names in found.values()) or "none in watts"
    raise MeterError(f"{spec.root}: {choice}; choose one by `chip:` and `sensor:`")


def _found(spec: Hwmon, host: PowerHost) -> dict[Path, tuple[str, list[str]]]:
    """Sensors of power and energy: chip, and the names that each has."""
    seconds = spec.timeout_seconds
    try:
        paths = [
            path
            for pattern in ("*/power*_input", "*/power*_average", "*/energy*_input")
            for path in host.names(spec.root, pattern, seconds)
            if _FIGURE.match(path.name)
        ]
        found = {}
        for path in paths:
            stem = path.name.rpartition("_")[0]
            (chip,) = host.texts([path.parent / "name"], seconds)
            labels = host.names(path.parent, f"{stem}_label", seconds)
            found[path] = (chip, [*(host.texts(labels, seconds) if labels else []), stem])
    except HostError as error:
        raise MeterError(f"{error}: no sensors there") from error
    return found


class _HwmonSource:
    """Sensors of the kernel."""

    name = "hwmon"

    def open(self, spec: Hwmon, host: PowerHost) -> Meter:
        """Find the sensor."""
        return _HwmonMeter(spec, host)


register(_HwmonSource())
