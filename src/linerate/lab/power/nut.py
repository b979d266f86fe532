"""NUT: power that an uninterruptible supply gives, by the protocol of Network UPS Tools' upsd."""

import re
import socket
import time

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import PowerHost
from linerate.lab.power._http import check_local, number
from linerate.model.power import PowerReading
from linerate.model.power_sources import Nut

USUAL = Usual("all that hangs on the supply", 2.0, 1.0)
LINE_BYTES = 4096
#: Power, or load in % of the nominal power. VA are no watts.
POWER, LOAD, NOMINAL = "ups.realpower", "ups.load", "ups.realpower.nominal"
_ANSWER = re.compile(r'VAR \S+ (\S+) "([^"]*)"')
_REFUSALS = {
    "UNKNOWN-UPS": "no such supply: `upsc -l HOST` has their names",
    "ACCESS-DENIED": "refused: allow this host in upsd.conf",
    "DATA-STALE": "its driver has lost the supply",
    "DRIVER-NOT-CONNECTED": "its driver is not running: upsdrvctl start",
}


class _NutMeter:
    """One supply; the connection stays open."""

    def __init__(self, spec: Nut) -> None:
        self.about = about(spec, USUAL)
        self._spec = spec
        self._socket: socket.socket | None = None

    def read(self) -> PowerReading:
        """Power now; a connection that broke is made anew at the next reading."""
        try:
            power = self._variable(POWER)
            if power is None:
                power = self._of_load()
        except OSError as error:
            self.close()
            where = f"{self._spec.host}:{self._spec.port}"
            if isinstance(error, TimeoutError):
                raise MeterError(
                    f"{where}: no answer within {self._spec.timeout_seconds:g} s"
                ) from None
            raise MeterError(f"{where}: {(error.strerror or str(error)).lower()}") from None
        except MeterError:
            self.close()
            raise
        return PowerReading(watts=power)

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _of_load(self) -> float:
        load, nominal = self._variable(LOAD), self._variable(NOMINAL)
        if load is None or nominal is None:
            raise MeterError(f"{self._spec.ups}: no {POWER}, nor {LOAD} and {NOMINAL}")
        return load / 100 * nominal

    def _variable(self, name: str) -> float | None:
        return value_of(self._asked(f"GET VAR {self._spec.ups} {name}"), name)

    def _asked(self, question: str) -> str:
        end = time.monotonic() + self._spec.timeout_seconds
        if self._socket is None:
            check_local(self._spec.host)
            address = (self._spec.host.strip("[]"), self._spec.port)
            self._socket = socket.create_connection(address, self._spec.timeout_seconds)
        self._socket.sendall(f"{question}\n".encode())
        line = b""
        while not line.endswith(b"\n"):
            self._socket.settimeout(max(0.001, end - time.monotonic()))
            part = self._socket.recv(LINE_BYTES)
            line += part
            if not part or len(line) > LINE_BYTES:
                raise MeterError(f"{self._spec.host}: no upsd: it closed, or answered no line")
        return line.decode(errors="replace").strip()


def value_of(answer: str, name: str) -> float | None:
    """Figure of a variable, None where the supply has none; raises MeterError."""
    if answer.startswith("ERR "):
        word = answer.split()[1] if len(answer.split()) > 1 else ""
        if word == "VAR-NOT-SUPPORTED":
            return None
        raise MeterError(f"upsd: {_REFUSALS.get(word, word[:40])}")
    found = _ANSWER.fullmatch(answer)
    value = number(found[2]) if found and found[1] == name else None
    if value is None:
        raise MeterError(f"upsd: expected {name}, not '{answer[:60]}'")
    return value


class _NutSource:
    """Supplies behind upsd."""

    name = "nut"

    def open(self, spec: Nut, host: PowerHost) -> Meter:
        """The server is asked at the first reading."""
        del host
        return _NutMeter(spec)


register(_NutSource())
