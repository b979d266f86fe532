"""Cabling: frames from each port of the tester, and the port of the box whose counter grows.

Both ports send at once, one more than the other: the number says whose frames a port received.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linerate.base.errors import SetupError
from linerate.engine.engine_process import Engine, Files, own_prefix
from linerate.host import machine
from linerate.lab import links
from linerate.lab.engine_config import cards_of, devices_of, idle_config
from linerate.lab.tester._links import PortLinks
from linerate.lab.tester.engine import EngineTester
from linerate.model.findings import Finding
from linerate.model.suites import TESTER_MACS, TESTER_PORTS, tester_ports
from linerate.model.testbed import Testbed

#: Frames of t0, and of t1; a port that received both knows their sum.
FRAMES = (300, 700)
SECONDS = 0.5
#: Frames of others, or some that were lost, leave the number of a port's frames near enough.
NEAR = 0.2
#: Counters that lag are read for so long.
WAIT_SECONDS = 3.0
POLL_SECONDS = 0.25
END_SECONDS = 30.0
#: IEEE 802's type for local experiments: no protocol takes the frames, and no router forwards them.
ETHERTYPE = "88b5"
MARK = b"linerate: which port is this?"

#: Received packets by the box's own name of each port.
Received = Mapping[str, int]
Reader = Callable[[], Received]


def find_cables(testbed: Testbed, read: Reader, folder: Path) -> dict[str, tuple[str, ...]]:
    """By port of the tester, the box's ports that received its frames. Raises SetupError."""
    ports = tester_ports(testbed)
    with _tester(testbed, folder) as tester:
        before = read()
        tester.start(round(SECONDS * 1e6), 1_000_000)
        _await_end(tester)
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            after = read()
            grown = {name: after[name] - before.get(name, 0) for name in after}
            found = {port: received_by(side, grown) for side, port in enumerate(ports)}
            if all(found.values()) or time.monotonic() > deadline:
                return found
            time.sleep(POLL_SECONDS)


def received_by(side: int, grown: Received) -> tuple[str, ...]:
    """Ports whose counters grew by the frames of a side, or by those of both."""
    expected = (FRAMES[side], sum(FRAMES))
    return tuple(
        name
        for name, packets in grown.items()
        if any(abs(packets - frames) <= NEAR * FRAMES[0] for frames in expected)
    )


def findings(testbed: Testbed, found: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    """A line for each port of the tester."""
    for tester, port in zip(tester_ports(testbed), testbed.dut.facing, strict=True):
        at = found.get(tester, ())
        if at == (port.name,):
            yield Finding(check="cable", subject=tester, state="ok", found=f"reaches {port.name}")
        elif at:
            yield Finding(
                check="cable",
                subject=tester,
                state="fault",
                found=f"{tester} is cabled to {' and '.join(at)}, the testbed says {port.name}",
                wanted=port.name,
                advice="change the cables, or the order of dut.ports (and dut.macs)",
            )
        else:
            yield Finding(
                check="cable",
                subject=tester,
                state="fault",
                found="no port of the box received its frames",
                wanted=port.name,
                advice="check the cable, the port's link at both ends, and that the tester has the "
                "port that it is plugged into",
            )


@contextmanager
def _tester(testbed: Testbed, folder: Path) -> Iterator[EngineTester]:
    """Our tester with the frames to send, on the testbed's wires."""
    cpus = (testbed.cpus or machine.allowed_cpus())[:1]
    with links.find(testbed.wire).joined(testbed) as ends:
        config = idle_config(testbed, ends, f"{own_prefix()}cables")
        config["tester"]["streams"] = [_stream(side) for side in range(len(tester_ports(testbed)))]
        config["cpus"] = list(cpus)
        files = Files(folder / "cables.json", folder / "cables.log")
        with Engine(config, files, cpus) as engine, engine.connect() as telemetry:
            if ends.await_peers is not None:
                ends.await_peers(telemetry, lambda _text, _seconds: None)
            its_links = PortLinks(
                telemetry, devices_of(config), testbed.link_bps, lambda _text: None
            )
            yield EngineTester(telemetry, cards_of(config), its_links)


def _stream(side: int) -> dict[str, Any]:
    """Broadcasts: a card passes them on whatever its address is."""
    source = TESTER_MACS[side].replace(":", "")
    return {
        "name": f"cable-{TESTER_PORTS[side]}",
        "port": TESTER_PORTS[side],
        "rate": {"pps": FRAMES[side] / SECONDS * 2},
        "burst": FRAMES[side],
        "template": f"{'ff' * 6}{source}{ETHERTYPE}{MARK.hex()}".ljust(2 * 60, "0"),
        "signature": False,
    }


def _await_end(tester: EngineTester) -> None:
    deadline = time.monotonic() + END_SECONDS
    while tester.progress().state != "done":
        if time.monotonic() > deadline:
            tester.stop()
            raise SetupError("the tester did not send its frames in time: `linerate doctor` helps")
        time.sleep(0.02)
