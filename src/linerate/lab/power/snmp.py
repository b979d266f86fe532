"""SNMP: an outlet's power by its object's number, asked by snmpget (Debian's package snmp)."""

import re
from pathlib import Path

from linerate.base import ownership
from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import HostError, PowerHost
from linerate.lab.power._http import check_local
from linerate.lab.power._secrets import secret
from linerate.model.power import PowerReading
from linerate.model.power_sources import Snmp

COMMUNITY = "public"
INTERVAL_SECONDS = 2.0
_FIGURE = re.compile(r'"?(-?\d{1,15}(?:\.\d{1,9})?)"?(?:\s*(?:W|Watts?))?', re.IGNORECASE)


class _SnmpMeter:
    """One object of one agent."""

    def __init__(self, spec: Snmp, host: PowerHost) -> None:
        self.about = about(spec, Usual("the outlet", INTERVAL_SECONDS, spec.scale))
        self._spec = spec
        self._host = host
        # A community in an argument would stand in the list of processes.
        self._folder = ownership.temporary_folder("snmp")
        community = secret(spec.community_env, spec.community_file) or COMMUNITY
        if not re.fullmatch(r"[!-~]{1,64}", community) or '"' in community:
            raise MeterError("power: snmp: a community has 1 to 64 characters without blanks")
        settings = Path(self._folder.name) / "snmp.conf"
        settings.touch(0o600)
        settings.write_text(f'defVersion {spec.version}\ndefCommunity "{community}"\n')

    def read(self) -> PowerReading:
        """Power now."""
        spec = self._spec
        check_local(spec.host.strip("[]"))
        agent = f"udp6:{spec.host}" if ":" in spec.host else f"udp:{spec.host}"
        argv = ["snmpget", "-O", "qvU", "-t", f"{spec.timeout_seconds / 2:g}", "-r", "1",
                "-m", "", f"{agent}:{spec.port}", spec.oid]  # fmt: skip
        where = {"SNMPCONFPATH": self._folder.name, "SNMP_PERSISTENT_DIR": self._folder.name}
        try:
            text = self._host.run(argv, spec.timeout_seconds + 1, where)
        except HostError as error:
            help_ = ": apt install snmp" if "no such file" in str(error) else ""
            raise MeterError(f"{error}{help_}") from error
        return PowerReading(watts=figure(text) * spec.scale)

    def close(self) -> None:
        """Remove its settings."""
        self._folder.cleanup()


def figure(text: str) -> float:
    """The value alone, as `snmpget -Oqv` prints it; raises MeterError."""
    found = _FIGURE.fullmatch(text.strip())
    if found is None:
        shown = "".join(one for one in text.strip()[:80] if one.isprintable())
        raise MeterError(f"snmpget: expected a number, not '{shown}'")
    return float(found[1])


class _SnmpSource:
    """Objects of agents."""

    name = "snmp"

    def open(self, spec: Snmp, host: PowerHost) -> Meter:
        """Its settings are written."""
        return _SnmpMeter(spec, host)


register(_SnmpSource())
