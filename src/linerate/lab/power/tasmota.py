"""Tasmota: plugs and meters by HTTP; `Status 8` has the sensors, of old versions power alone."""

from typing import Any
from urllib.parse import urlencode

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import PowerHost
from linerate.lab.power._http import Http, number
from linerate.lab.power._secrets import secret
from linerate.model.power import PowerReading
from linerate.model.power_sources import Tasmota

USUAL = Usual("all that hangs on the plug", 1.0, 1.0)
USER = "admin"


class _TasmotaMeter:
    """One plug."""

    def __init__(self, spec: Tasmota) -> None:
        self.about = about(spec, USUAL)
        self._http = Http(spec.url, spec.timeout_seconds)
        self._url = spec.url
        self._channel = spec.channel
        words = {"cmnd": "Status 8"}
        if password := secret(spec.password_env, spec.password_file):
            # It knows no other way; errors name the plug's address without it.
            words = {"user": spec.user or USER, "password": password} | words
        self._path = f"/cm?{urlencode(words)}"

    def read(self) -> PowerReading:
        """Power now."""
        status = self._http.json(self._path)
        if isinstance(status, dict) and "WARNING" in status:
            raise MeterError(f"{self._url}: it needs `password_file:` or `password_env:`")
        watts = watts_of(status, self._channel)
        if watts is None:
            raise MeterError(f"{self._url}: no meter in its status")
        return PowerReading(watts=watts)

    def close(self) -> None:
        """Nothing is held open."""


def watts_of(status: Any, channel: int | None) -> float | None:  # noqa: ANN401 (JSON)
    """Power in a status, of one phase or all; None where none is metered."""
    if not isinstance(status, dict):
        return None
    sensors = status.get("StatusSNS")
    energy = sensors.get("ENERGY") if isinstance(sensors, dict) else status.get("StatusPWR")
    power = energy.get("Power") if isinstance(energy, dict) else None
    if not isinstance(power, list):
        return number(power) if channel in (None, 0) else None
    phases = [number(one) for one in power]
    if channel is not None:
        return phases[channel] if channel < len(phases) else None
    known = [one for one in phases if one is not None]
    return sum(known) if known and len(known) == len(phases) else None


class _TasmotaSource:
    """Plugs with Tasmota."""

    name = "tasmota"

    def open(self, spec: Tasmota, host: PowerHost) -> Meter:
        """Its web server is ours to ask."""
        del host
        return _TasmotaMeter(spec)


register(_TasmotaSource())
