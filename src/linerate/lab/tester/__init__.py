"""Interface of all testers; one adapter a file, named as the tester.

Ours can be stepped, and is driven by `linerate.lab.trial`. Other people's tools run for a while and
then say what they sent and got: a `LoadTool` registers itself where it stands.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from typing import Protocol

from linerate.base.prerequisites import Prerequisite
from linerate.host.cpu_counters import Moment
from linerate.host.machine import Switches
from linerate.lab.links import Ends
from linerate.model.ledger import Entry, PacketLedger
from linerate.model.measurement import Progress, Reading, Slices, WorkerReading
from linerate.model.measurement.trial import RoundTrip
from linerate.model.suites import Loadtest


class Tester(Protocol):
    """Sends, receives and counts; `linerate.lab.trial` drives it."""

    def await_links(self) -> None:
        """Wait until the links of its ports are up; raises SetupError when one stays down."""

    def readings(self) -> Reading:
        """All counters, of the device under test too where the tester can see them."""

    def ledger(self) -> PacketLedger:
        """The packet ledger alone, as far as that is cheap enough to ask while packets fly."""

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks alone: cheap enough to ask while packets fly."""

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """Round trip of a cache line between the workers; none where that is unknown."""

    def steal_seconds(self) -> dict[str, float]:
        """By worker: how long the hypervisor kept its CPU since boot."""

    def switches(self) -> dict[str, Switches]:
        """By worker: context switches of its thread so far."""

    def moments(self) -> dict[str, Moment]:
        """By worker: what its CPU says of itself now."""

    def kernel_seconds(self) -> dict[str, float]:
        """By worker: how long its thread was in the kernel so far."""

    def lock_wait_seconds(self) -> dict[str, float]:
        """By worker: how long it waited for locks so far."""

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Start to send, at that many millionths of the streams' rates.

        `clean_us`: go on until that much of the trial is undisturbed (measurement/slices.py).
        """

    def stop(self) -> None:
        """Stop sending now."""

    def progress(self) -> Progress:
        """Progress of the trial."""

    def slices(self) -> Slices | None:
        """Slices of the last trial; None when it has none."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Report of a load tool on one run; None where it reports nothing."""

    #: Entries of the packet ledger: what it sent, and what it lost and got itself.
    sent: tuple[Entry, ...]
    received: tuple[Entry, ...]
    #: Sending time, by its own clock.
    seconds: float
    sender_cpu_percent: float | None = None
    receiver_cpu_percent: float | None = None


class LoadTool(Protocol):
    """Other people's load generator."""

    #: As in a testbed file: the name of its file.
    name: str
    #: Kinds of traffic that it can send, in words.
    limits: str

    def prerequisites(self) -> list[Prerequisite]:
        """Missing prerequisites on this host, and how to get them."""

    def offers(self, loadtest: Loadtest) -> bool:
        """Whether it can send the traffic of a loadtest."""

    def measure(self, ends: Ends, loadtest: Loadtest, seconds: float, routed: bool) -> Offered:
        """Send as fast as it can; `routed`: the device is a router. Raises SetupError."""


_TOOLS: dict[str, LoadTool] = {}


def register(tool: LoadTool) -> None:
    """Make a load tool known."""
    _TOOLS[tool.name] = tool


def find_tool(name: str) -> LoadTool:
    """Return the load tool of that name."""
    if name not in _TOOLS:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return _TOOLS[name]
