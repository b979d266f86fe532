"""IPMI: the board's power as its controller has it, by ipmitool (DCMI, or a sensor in watts)."""

import re

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import HostError, PowerHost
from linerate.lab.power._secrets import secret
from linerate.model.power import PowerReading
from linerate.model.power_sources import Ipmi

USUAL = Usual("the board's supply, by its controller", 2.0, 1.0)
_DCMI = re.compile(r"Instantaneous power reading:\s+(\d{1,6}) Watts", re.IGNORECASE)
_STATE = re.compile(r"Power reading state is:\s+(\S+)")


class _IpmiMeter:
    """One controller."""

    def __init__(self, spec: Ipmi, host: PowerHost) -> None:
        self.about = about(spec, USUAL)
        self._host = host
        self._timeout_s = spec.timeout_seconds
        password = secret(spec.password_env, spec.password_file)
        # ipmitool takes it from there with -E: an argument would stand in the list of processes.
        self._secrets = {"IPMI_PASSWORD": password} if password else {}
        self._sensor = spec.sensor
        sensors, power = ["-c", "sdr", "list", "full"], ["dcmi", "power", "reading"]
        what = power if spec.sensor is None else sensors
        self._argv = ["ipmitool", *_way(spec, password), *what]

    def read(self) -> PowerReading:
        """Power now."""
        try:
            text = self._host.run(self._argv, self._timeout_s, self._secrets)
        except HostError as error:
            raise MeterError(f"{error}{_help(str(error))}") from error
        watts = dcmi(text) if self._sensor is None else sensor(text, self._sensor)
        return PowerReading(watts=watts)

    def close(self) -> None:
        """Nothing is held open."""


def _way(spec: Ipmi, password: str) -> list[str]:
    """Arguments that lead to the controller."""
    if spec.host is None:
        return []
    user = ["-U", spec.user] if spec.user else []
    cipher = [] if spec.cipher_suite is None else ["-C", str(spec.cipher_suite)]
    host = ["-H", spec.host.strip("[]"), "-p", str(spec.port)]
    return ["-I", spec.interface, *cipher, *host, *user, *(["-E"] if password else ["-P", ""])]


def _help(text: str) -> str:
    return ": apt install ipmitool" if "no such file" in text else ""


def dcmi(text: str) -> float:
    """Watts of `ipmitool dcmi power reading`; raises MeterError."""
    found = _DCMI.search(text)
    if found is None:
        raise MeterError("ipmitool: no power by DCMI here: `sensor:` names a sensor in watts")
    state = _STATE.search(text)
    if state is not None and not state[1].startswith(("active", "activate")):
        raise MeterError(f"ipmitool: its power reading is {state[1][:20]}")
    return float(found[1])


def sensor(text: str, name: str) -> float:
    """Watts of a sensor in `ipmitool -c sdr list full`; raises MeterError."""
    for line in text.splitlines():
        cells = line.split(",")
        if cells[0].strip() != name:
            continue
        if len(cells) < 4 or cells[2].strip().lower() != "watts":
            raise MeterError(f"ipmitool: {name}: {','.join(cells[1:4])[:60]}, expected watts")
        try:
            return float(cells[1])
        except ValueError:
            raise MeterError(f"ipmitool: {name}: no reading") from None
    raise MeterError(f"ipmitool: no sensor '{name}': `ipmitool sdr list full` has the names")


class _IpmiSource:
    """Controllers by ipmitool."""

    name = "ipmi"

    def open(self, spec: Ipmi, host: PowerHost) -> Meter:
        """Nothing is asked yet."""
        return _IpmiMeter(spec, host)


register(_IpmiSource())
