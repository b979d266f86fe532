"""Shelly: plugs and meters by HTTP, the first generation and all later ones."""

from typing import Any

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import PowerHost
from linerate.lab.power._http import Http, number
from linerate.lab.power._secrets import secret
from linerate.model.power import PowerReading
from linerate.model.power_sources import Shelly

USUAL = Usual("all that hangs on the plug", 1.0, 0.1)
#: Components of later generations that meter, and the name of their power.
COMPONENTS = (
    ("switch", "apower"),
    ("pm1", "apower"),
    ("em1", "act_power"),
    ("em", "total_act_power"),
    ("cover", "apower"),
    ("light", "apower"),
)
#: User of later generations; those of the first have one of their own.
USER = "admin"


class _ShellyMeter:
    """One relay or meter."""

    def __init__(self, spec: Shelly) -> None:
        self.about = about(spec, USUAL)
        password = secret(spec.password_env, spec.password_file)
        self._http = Http(spec.url, spec.timeout_seconds, spec.user or USER, password)
        self._url = spec.url
        self._channel = spec.channel
        self._path = ""

    def read(self) -> PowerReading:
        """Power now."""
        if not self._path:
            about_it = self._http.json("/shelly")
            later = isinstance(about_it, dict) and (number(about_it.get("gen")) or 1) >= 2
            self._path = "/rpc/Shelly.GetStatus" if later else "/status"
        status = self._http.json(self._path)
        watts = watts_of(status, self._channel)
        if watts is None:
            raise MeterError(f"{self._url}: no meter with number {self._channel}")
        return PowerReading(watts=watts)

    def close(self) -> None:
        """Nothing is held open."""


def watts_of(status: Any, channel: int) -> float | None:  # noqa: ANN401 (JSON)
    """Power of a channel in a status of any generation; None where none is metered."""
    if not isinstance(status, dict):
        return None
    for component, key in COMPONENTS:
        found = status.get(f"{component}:{channel}")
        if isinstance(found, dict) and (watts := number(found.get(key))) is not None:
            return watts
    for key in ("emeters", "meters"):
        meters = status.get(key)
        if isinstance(meters, list) and channel < len(meters):
            meter = meters[channel]
            if isinstance(meter, dict) and meter.get("is_valid", True):
                return number(meter.get("power"))
    return None


class _ShellySource:
    """Shelly plugs."""

    name = "shelly"

    def open(self, spec: Shelly, host: PowerHost) -> Meter:
        """Its web server is ours to ask."""
        del host
        return _ShellyMeter(spec)


register(_ShellySource())
