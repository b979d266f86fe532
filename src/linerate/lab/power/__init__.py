"""Power meters; one source a file, named as in a testbed, registered there.

A meter is read by a thread of its own (_sampling.py): one that hangs or is gone costs a trial its
figures of power, and nothing else.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from typing import Any, Protocol

from linerate.lab.power._hosts import HERE, PowerHost
from linerate.model.power import MeterAbout, PowerReading
from linerate.model.power_sources import Meter as Spec


class MeterError(Exception):
    """A meter that gave no figure; one line with the reason and what helps."""


class Meter(Protocol):
    """A meter that can be read."""

    about: MeterAbout

    def read(self) -> PowerReading:
        """The figure now; raises MeterError."""

    def close(self) -> None:
        """End what it holds open."""


class Source(Protocol):
    """A kind of meter."""

    #: As in a testbed file: the name of its file.
    name: str

    def open(self, spec: Any, host: PowerHost) -> Meter:  # noqa: ANN401 (its own class of Spec)
        """Make one ready; raises MeterError. `host` has its files and commands."""


_SOURCES: dict[str, Source] = {}


def register(source: Source) -> None:
    """Make a source known."""
    _SOURCES[source.name] = source


def find(name: str) -> Source:
    """Return the source of that name; testbed files hold no others."""
    if name not in _SOURCES:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return _SOURCES[name]


def open_meter(spec: Spec, box: PowerHost | None = None) -> Meter:
    """Make a testbed's meter ready; `box` reaches the machine under test. Raises MeterError."""
    name: str = spec.source  # type: ignore[attr-defined]
    host: PowerHost = HERE
    if getattr(spec, "on", "here") == "box":
        if box is None:
            raise MeterError(f"power: {name}: on: box needs a device that is reached by `at:`")
        host = box
    return find(name).open(spec, host)


@dataclass(frozen=True, slots=True)
class Usual:
    """Properties of a source where the testbed names no others."""

    covers: str
    interval_seconds: float
    resolution_watts: float
    resolution_joules: float | None = None


def about(spec: Spec, usual: Usual) -> MeterAbout:
    """Description of a meter."""
    resolution = spec.resolution_watts
    return MeterAbout(
        source=spec.source,  # type: ignore[attr-defined]
        covers=spec.covers or usual.covers,
        interval_seconds=spec.interval_seconds or usual.interval_seconds,
        resolution_watts=usual.resolution_watts if resolution is None else resolution,
        resolution_joules=usual.resolution_joules,
        accuracy_percent=spec.accuracy_percent,
    )
