"""Command: the last number that a program prints, in watts."""

import re

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import HostError, PowerHost
from linerate.model.power import PowerReading
from linerate.model.power_sources import Command

USUAL = Usual("as the command says", 1.0, 0.0)
#: Last bytes of an output that are looked at.
TAIL = 4096
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,9}(?:\.\d{1,9})?(?![\d.])")


class _CommandMeter:
    """One command."""

    def __init__(self, spec: Command, host: PowerHost) -> None:
        self.about = about(spec, USUAL)
        self._spec = spec
        self._host = host

    def read(self) -> PowerReading:
        """Power now."""
        argv = ["sh", "-c", self._spec.command]
        try:
            text = self._host.run(argv, self._spec.timeout_seconds, {})
        except HostError as error:
            raise MeterError(f"command: {error}") from error
        return PowerReading(watts=last_number(text))

    def close(self) -> None:
        """Nothing is held open."""


def last_number(text: str) -> float:
    """The last number of an output; raises MeterError."""
    found = _NUMBER.findall(text[-TAIL:])
    if not found:
        shown = "".join(one for one in text.strip()[-60:] if one.isprintable())
        raise MeterError(f"command: expected watts, not '{shown}'")
    return float(found[-1])


class _CommandSource:
    """Programs that print watts."""

    name = "command"

    def open(self, spec: Command, host: PowerHost) -> Meter:
        """Nothing is run yet."""
        return _CommandMeter(spec, host)


register(_CommandSource())
