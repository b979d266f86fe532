"""Kinds of boxes: what each is asked, and how its answers are read; one file each.

A kind is the same of a live box and of its answers in a run's folder: pure text in, counters out.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from linerate.model.box import BoxAnswers, Command
from linerate.model.box_trace import TracedPacket
from linerate.model.evidence import Evidence


class Question(NamedTuple):
    """A command for a box."""

    #: Short name, the same in each batch: `show errors`.
    name: str
    command: str
    #: Whether a trial can't be counted without its answer.
    required: bool = False


class Asked(NamedTuple):
    """Whatever of a testbed's `dut` changes the questions."""

    #: Names of its ports, by `e0` and `e1`.
    ports: Mapping[str, str]
    socket: str = ""
    #: Questions of the user's: `command 1`, `command 2` … among the answers.
    commands: tuple[Command, ...] = ()


@dataclass(slots=True)
class Counted:
    """Counters of a box at one moment, since it started to count."""

    #: By `e0`, `e1`: `rx_packets` that reached the port, those that it missed with them,
    #: `tx_packets` that left it, and all else it counts.
    ports: dict[str, dict[str, int]] = field(default_factory=dict)
    #: Packets lost, by place: those that no counter of `ports` has crossed.
    losses: dict[str, int] = field(default_factory=dict)
    #: Packets that ended in the box because they were for itself.
    consumed: dict[str, int] = field(default_factory=dict)
    #: Seconds since it began to count; None where it does not say.
    running_s: float | None = None
    #: Why some counters are missing, or may be late, in one line each.
    doubts: tuple[str, ...] = ()

    def joined(self, other: "Counted") -> "Counted":
        """Put together what two readers found; the second one's word counts."""
        ports = {
            name: self.ports.get(name, {}) | other.ports.get(name, {})
            for name in (*self.ports, *other.ports)
        }
        return Counted(
            ports,
            self.losses | other.losses,
            self.consumed | other.consumed,
            self.running_s if other.running_s is None else other.running_s,
            (*self.doubts, *other.doubts),
        )


class BoxKind(Protocol):
    """A kind of box."""

    #: As in a testbed file: the name of its file.
    name: str
    #: Whether its commands are a POSIX shell's, so that many are one.
    has_shell: bool

    def facts(self, asked: Asked) -> tuple[Question, ...]:
        """Questions of a box's set-up, asked once a run."""

    def counters(self, asked: Asked) -> tuple[Question, ...]:
        """Questions of counters, asked before and after each trial."""

    def at_load(self, asked: Asked) -> tuple[Question, ...]:
        """Questions asked at the begin and the end of a window within the load."""

    def clear(self, asked: Asked) -> tuple[Question, ...]:
        """Commands that clear what `at_load` reads, where the user allows it."""

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Counters in the answers to `counters`, by question. Raises UnreadableError."""

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Workers, rings and doubts of a trial, from all that was answered."""


@runtime_checkable
class TracingKind(Protocol):
    """A kind of box that records the ways of single packets."""

    def trace_begin(self, asked: Asked, packets: int) -> tuple[Question, ...]:
        """Commands after which it records a number of packets of each input."""

    def trace_read(self, asked: Asked, packets: int) -> Question:
        """Question of what it recorded."""

    def trace_end(self, asked: Asked) -> tuple[Question, ...]:
        """Commands that forget it."""

    def traced(self, text: str, asked: Asked) -> tuple[TracedPacket, ...]:
        """Packets in the answer to `trace_read`."""


@runtime_checkable
class Profiled(Protocol):
    """A kind that can be sampled within the load."""

    def profile(self, seconds: float, wait_seconds: float) -> Question:
        """Question that samples for so long, and is read after so much more."""

    def dropped(self, box: BoxAnswers, losses: Mapping[str, int], seconds: float) -> dict[str, int]:
        """Packets that the samples say were dropped in a trial, by place: those no loss has."""


class UnreadableError(Exception):
    """Answers without the counters that a kind must have; one line that says which."""


_KINDS: dict[str, BoxKind] = {}


def register(kind: BoxKind) -> None:
    """Make a kind of box known."""
    _KINDS[kind.name] = kind


def kinds() -> Mapping[str, BoxKind]:
    """All kinds of boxes, by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return _KINDS


def find(name: str) -> BoxKind:
    """Return the kind of that name; testbed files hold no others."""
    return kinds()[name]


def box_evidence(box: BoxAnswers) -> Evidence:
    """Workers, rings and doubts of a trial, from the answers of a box of any kind.

    Of a kind that this version has not, nothing.
    """
    return find(box.kind).evidence(box) if box.kind in kinds() else Evidence()
