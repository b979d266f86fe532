"""Redfish: a chassis' power, as PowerControl has it, EnvironmentMetrics or one sensor."""

from typing import Any

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import PowerHost
from linerate.lab.power._http import Http, number, tls_of
from linerate.lab.power._secrets import secret
from linerate.model.power import PowerReading
from linerate.model.power_sources import Redfish

USUAL = Usual("the chassis, by its controller", 5.0, 1.0)
CHASSIS = "/redfish/v1/Chassis"
#: Most chassis that are looked through.
CHASSIS_MAX = 16


class _RedfishMeter:
    """One figure of one controller."""

    def __init__(self, spec: Redfish) -> None:
        self.about = about(spec, USUAL)
        password = secret(spec.password_env, spec.password_file)
        tls = tls_of(spec) if spec.url.startswith("https:") else None
        self._http = Http(spec.url, spec.timeout_seconds, spec.user, password, tls)
        self._path = spec.path

    def read(self) -> PowerReading:
        """Power now."""
        if self._path is None:
            self._path = self._found()
        watts = watts_of(self._http.json(self._path))
        if watts is None:
            raise MeterError(f"{self._path}: no power in it")
        return PowerReading(watts=watts)

    def close(self) -> None:
        """Nothing is held open."""

    def _found(self) -> str:
        """Path of the first power that a chassis has; the newer place first."""
        refusal = ""
        for chassis in _links(self._http.json(CHASSIS), "Members")[:CHASSIS_MAX]:
            about_it = self._http.json(chassis)
            for key in ("EnvironmentMetrics", "Power"):
                for path in _links(about_it, key):
                    try:
                        if watts_of(self._http.json(path)) is not None:
                            return path
                    except MeterError as error:
                        refusal = str(error)
        raise MeterError(refusal or f"{CHASSIS}: no chassis has its power: `path:` names a sensor")


def _links(document: Any, key: str) -> list[str]:  # noqa: ANN401 (JSON)
    """Paths of what a document refers to; those that lead elsewhere are left alone."""
    value = document.get(key) if isinstance(document, dict) else None
    paths = [
        one.get("@odata.id")
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, dict)
    ]
    return [path for path in paths if isinstance(path, str) and path.startswith("/redfish/")]


def watts_of(document: Any) -> float | None:  # noqa: ANN401 (JSON)
    """Power of a Power resource, of EnvironmentMetrics or of a sensor; None where it has none."""
    if not isinstance(document, dict):
        return None
    control = document.get("PowerControl")
    if isinstance(control, list):
        consumed = [
            watts
            for one in control
            if isinstance(one, dict)
            and (watts := number(one.get("PowerConsumedWatts"))) is not None
        ]
        # The first is the chassis; others may be CPUs or memory, which are parts of it.
        return consumed[0] if consumed else None
    power = document.get("PowerWatts")
    if isinstance(power, dict):
        return number(power.get("Reading"))
    if document.get("ReadingUnits") == "W" or document.get("ReadingType") == "Power":
        return number(document.get("Reading"))
    return None


class _RedfishSource:
    """Controllers by Redfish."""

    name = "redfish"

    def open(self, spec: Redfish, host: PowerHost) -> Meter:
        """Its web server is ours to ask."""
        del host
        return _RedfishMeter(spec)


register(_RedfishSource())
