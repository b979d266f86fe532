"""Wires: what joins a tester port to a port of the device under test; one wire a file.

A wire's file is named as the wire, and registers it where it stands.
"""

import importlib
import pkgutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from linerate.base.prerequisites import Prerequisite
from linerate.engine.telemetry import Telemetry
from linerate.model.testbed import Testbed


@dataclass(frozen=True, slots=True)
class End:
    """One end of a wire: what a port is made of."""

    #: Configuration of an engine's port there, but for its name (docs/engine-configuration.md).
    port: dict[str, Any]
    #: The kernel's interface there, and the namespace that it is in; empty where there is none.
    interface: str = ""
    netns: str = ""


def _nothing() -> None:
    pass


#: Is called at a wait, in words, and how many seconds it may take.
OnWait = Callable[[str, float], object]
AwaitPeers = Callable[[Telemetry, OnWait], None]


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends of the two wires of a testbed, as long as they are there."""

    #: Two; one of a hairpin.
    tester: tuple[End, ...]
    #: None where the tester's ports are joined to each other.
    dut: tuple[End, End] | None
    #: `cards` of the engine's configuration.
    cards: tuple[dict[str, Any], ...] = ()
    #: Called when the tester's ports are there; waits for what somebody else is to join to them.
    #: Raises SetupError when that does not come.
    await_peers: "AwaitPeers | None" = None
    #: Raises SetupError when somebody took the wires away.
    check: Callable[[], None] = field(default=_nothing)
    #: Two more links beside them, where requested and not the card's.
    second: "Ends | None" = None


class LinkKind(Protocol):
    """A kind of wire."""

    #: As in a testbed file: the name of its file.
    name: str
    #: Its two ends are of two processes, also where both are engines.
    two_processes: bool

    def pushes_back(self, testbed: Testbed) -> bool:
        """Whether what does not fit on it is not taken from the sender, who offers less then."""

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """Missing prerequisites on this host, and how to get them."""

    def joined(self, testbed: Testbed, loopbacks: int = 1) -> AbstractContextManager[Ends]:
        """Join the tester's ports to the device's; all is removed on exit. Raises SetupError.

        With two loopbacks there are four ports on each side.
        """


@runtime_checkable
class BareLinkKind(LinkKind, Protocol):
    """A wire that can do without a device, to see what the tester can do by itself."""

    def bare(self, testbed: Testbed) -> AbstractContextManager[Ends]:
        """Join the tester's two ports to each other."""


_KINDS: dict[str, LinkKind] = {}


def register(wire: LinkKind) -> None:
    """Make a wire known."""
    _KINDS[wire.name] = wire


def find(name: str) -> LinkKind:
    """Return the wire of that name; testbed files hold no others."""
    if name not in _KINDS:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return _KINDS[name]
