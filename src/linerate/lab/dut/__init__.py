"""Devices under test: what forwards; one adapter a file, named as the device, registered there."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from linerate.base.prerequisites import Prerequisite
from linerate.lab.links import Ends
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed

ALL_FRAMES: frozenset[Frames] = frozenset({"ipv4", "mpls"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a device runs, and where its files go."""

    #: CPUs of its own, or the tester's too where there is only one.
    cpus: tuple[int, ...]
    shared: bool
    #: Another one for each device of this host.
    name: str
    #: CPUs of the tester's.
    tester_cpus: tuple[int, ...]
    #: Says where a file of this run is kept, by its name.
    file: Callable[[str], Path]
    #: Behind the tester's two ports, beside those that are always there.
    networks: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    #: MAC addresses that ports report, by those that they were configured with and refused.
    macs: Mapping[str, str] = field(default_factory=dict)


class Running(Protocol):
    """A device that forwards."""

    def readings(self, tsc_hz: int) -> Reading:
        """Its own counters: losses by place, packets by port; raises SetupError."""

    def workers(self, tsc_hz: int) -> tuple[WorkerReading, ...]:
        """Where its CPU time went, as far as can be known: cheap enough to ask at load."""

    def ledger(self) -> PacketLedger:
        """Its losses, where asking is cheap enough at load; nothing elsewhere."""


@runtime_checkable
class AskedAtLoad(Protocol):
    """A running device that is asked beside a trial."""

    def load_begins(self, duration_us: int) -> None:
        """Packets fly from now on, for so long at least."""


@runtime_checkable
class Commanded(Protocol):
    """A running device whose own programs find it by variables: of commands that set it up."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables beside the usual ones."""


@runtime_checkable
class Addressed(Protocol):
    """A running device that reports the MAC addresses of its ports."""

    #: Ports that refused the configured address: that, and the actual one.
    refused_macs: Mapping[str, str]


class Dut(Protocol):
    """A kind of device."""

    #: As in a testbed file: the name of its file.
    name: str

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """Missing prerequisites on this host, and how to get them."""

    def forwards(self, testbed: Testbed) -> frozenset[Frames]:
        """Kinds of frames that it can forward here."""

    def routes(self, testbed: Testbed) -> bool:
        """Whether it forwards what is sent to its own addresses, and writes new ones."""

    def running(
        self, testbed: Testbed, ends: Ends, place: Place
    ) -> AbstractContextManager[Running]:
        """Start it; it is ended, and all that it made removed, on exit. Raises SetupError."""


_DUTS: dict[str, Dut] = {}


def register(dut: Dut) -> None:
    """Make a kind of device known."""
    _DUTS[dut.name] = dut


def find(name: str) -> Dut:
    """Return the device of that name; testbed files hold no others."""
    if name not in _DUTS:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return _DUTS[name]


def of_testbed(testbed: Testbed) -> Dut:
    """The device under test that a testbed file names: started by us, or a box."""
    if testbed.dut.is_box:
        from linerate.lab.box.box_dut import BoxDut  # noqa: PLC0415 (it is made of what is here)

        return BoxDut(testbed.dut.kind)
    device = find(testbed.dut.kind)
    if testbed.dut.setup or testbed.dut.teardown:
        from linerate.lab.dut._set_up import SetUpDut  # noqa: PLC0415 (it is made of what is here)

        return SetUpDut(device)
    return device
