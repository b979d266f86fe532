"""A testbed whose tester waits for profiles: for those who say what is sent while it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linerate.base.errors import SetupError
from linerate.engine.engine_process import Engine, Files, own_prefix
from linerate.engine.telemetry import Telemetry
from linerate.host import machine
from linerate.lab import dut, links
from linerate.lab.dut import Place, Running
from linerate.lab.engine_config import cards_of, devices_of, dut_macs, profiles_config
from linerate.lab.links import OnWait
from linerate.lab.tester import Tester
from linerate.lab.tester._beside_box import BesideBox
from linerate.lab.tester._links import PortLinks, Say
from linerate.lab.tester._with_dut import WithDut
from linerate.lab.tester.engine import EngineTester
from linerate.lab.tester_cpus import tester_cpus
from linerate.model.suites import DUT_PORTS, tester_ports
from linerate.model.testbed import Testbed


@dataclass(frozen=True, slots=True)
class ProfileTester:
    """The engine, ready."""

    telemetry: Telemetry
    #: All counters, of the device too where it is asked.
    tester: Tester
    #: The engine's /linerate/info.
    info: dict[str, Any]
    #: The tester's, in order.
    ports: tuple[str, ...]
    #: Where frames of a port go: MAC addresses of the device.
    next_macs: dict[str, str]

    @property
    def box(self) -> BesideBox | None:
        """The tester, where a box is asked beside it."""
        return self.tester if isinstance(self.tester, BesideBox) else None


@contextmanager
def running(
    testbed: Testbed,
    file: Callable[[str], Path],
    on_wait: OnWait = lambda _text, _seconds: None,
    say: Say = lambda _text: None,
) -> Iterator[ProfileTester]:
    """Start links, device and tester; raises SetupError, EngineError."""
    if testbed.by_tool or testbed.by_server:
        raise SetupError("tester: profiles need our tester, expected kind: engine")
    cpus = testbed.cpus or machine.allowed_cpus()
    wire, device = links.find(testbed.wire), dut.of_testbed(testbed)
    together = testbed.dut.built_in and not wire.two_processes
    name = f"{own_prefix()}profiles"
    with wire.joined(testbed) as ends:
        # A device that is a process of its own has its ports alone.
        here = ends if together else replace(ends, dut=None)
        config = profiles_config(testbed, here, name)
        testers = tester_cpus(testbed, tuple(cpus))
        place = Place(
            cpus=cpus[len(testers) :] or cpus[1:] or cpus,
            shared=len(cpus) == 1,
            tester_cpus=testers,
            name=f"{name}-dut",
            file=lambda kind: file(f"dut.{kind}"),
        )
        beside = nullcontext() if together else device.running(testbed, ends, place)
        own = cpus if together else testers
        if own != cpus:
            config = config | {"cpus": list(own)}
        files = Files(config=file("config.json"), log=file("log"))
        with (
            beside as running_device,
            Engine(config, files, own) as engine,
            engine.connect() as telemetry,
        ):
            if ends.await_peers is not None:
                ends.await_peers(telemetry, on_wait)
            links_of_ports = PortLinks(telemetry, devices_of(config), testbed.link_bps, say)
            alone = EngineTester(telemetry, cards_of(config), links_of_ports)
            ports = tester_ports(testbed)
            yield ProfileTester(
                telemetry,
                _with_device(alone, running_device, testbed),
                alone.info,
                ports,
                _next_macs(telemetry, testbed, ports),
            )


def _with_device(alone: EngineTester, device: Running | None, testbed: Testbed) -> Tester:
    """The tester with the device's counters; a box is asked in a thread."""
    if device is None:
        return alone
    if testbed.dut.is_box:
        return BesideBox(alone, device)
    return WithDut(alone, device, foreign=not testbed.dut.built_in)


def _next_macs(telemetry: Telemetry, testbed: Testbed, ports: tuple[str, ...]) -> dict[str, str]:
    """By port; where the device is in this engine, as its ports report them."""
    reported = {row["name"]: str(row["mac"]) for row in telemetry.table("/linerate/ports")}
    configured = zip(DUT_PORTS, dut_macs(testbed), strict=True)
    macs = [reported.get(name, mac).lower() for name, mac in configured]
    return dict(zip(ports, macs, strict=False))
