"""Links of the engine's ports: awaited before a trial, and compared with what the testbed says."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from linerate.base.errors import SetupError
from linerate.base.line_rate import format_bps
from linerate.engine.readings import read_links
from linerate.engine.telemetry import Telemetry
from linerate.model.measurement import Link

#: Copper negotiates, trains and is debounced for this long at most.
WAIT_SECONDS = 15.0
#: A link that comes up this soon after its port started is worth no word.
QUIET_SECONDS = 0.5
POLL_SECONDS = 0.1

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PortLinks:
    """The links of one engine's ports, and what is expected of them."""

    telemetry: Telemetry
    #: By port: its device, as users know it.
    devices: Mapping[str, str]
    #: That the testbed asks for; None: whatever was negotiated.
    link_bps: int | None
    say: Say


def await_links(ports: PortLinks, wait_seconds: float = WAIT_SECONDS) -> dict[str, Link]:
    """Wait until no link is down, and return them by port; raises SetupError."""
    began = time.monotonic()
    message: set[str] = set()
    while True:
        links = read_links(ports.telemetry)
        down = [name for name, link in links.items() if link.state == "down"]
        waited = time.monotonic() - began
        if not down:
            _check_speeds(ports, links)
            return links
        if waited >= wait_seconds:
            raise SetupError(
                f"{_port(ports, down[0])}: no link after {wait_seconds:.0f} s: check its cable and "
                "transceiver, and that the port at the other end is up"
            )
        if waited >= min(QUIET_SECONDS, wait_seconds / 2):
            for name in down:
                if name not in message:
                    ports.say(f"waiting for link of {_port(ports, name)}")
            message.update(down)
        time.sleep(POLL_SECONDS)


def text_of(links: Mapping[str, Link]) -> str:
    """Links whose speed is known, in words: `10 Gb/s full duplex`, or each by its port's name."""
    words = {
        name: f"{format_bps(link.speed_bps)} {link.duplex} duplex"
        for name, link in links.items()
        if link.speed_bps
    }
    if len(words) == len(links) and len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{name} {text}" for name, text in words.items())


def _check_speeds(ports: PortLinks, links: Mapping[str, Link]) -> None:
    for name, link in links.items():
        if ports.link_bps is not None and 0 < link.speed_bps < ports.link_bps:
            raise SetupError(
                f"{_port(ports, name)}: negotiated {format_bps(link.speed_bps)}, but the testbed "
                f"says link: {format_bps(ports.link_bps)}; check the cable and the other end, "
                "or correct `link`"
            )


def _port(ports: PortLinks, name: str) -> str:
    device = ports.devices.get(name)
    return f"{name} ({device})" if device else name
