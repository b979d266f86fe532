"""Findings of the checks of `linerate doctor`."""

from typing import Literal

from linerate.base.frozen_model import FrozenModel

State = Literal["fault", "note", "unknown", "ok"]
STATES: tuple[State, ...] = ("fault", "note", "unknown", "ok")


class About(FrozenModel):
    """A host in a few words, each as its files have it; empty where they don't."""

    kernel: str
    cpu: str
    microcode: str
    bios: str


class Write(FrozenModel):
    """Put a value into a file of /sys; taken back by putting the old one there."""

    path: str
    value: str


class Bind(FrozenModel):
    """Give a PCI device to another driver; taken back by giving it to the old one."""

    address: str
    driver: str


Repair = Write | Bind


class Finding(FrozenModel):
    """One check, on one subject."""

    check: str
    #: The card, where there may be several.
    subject: str = ""
    #: fault: costs rate or makes figures doubtful. note: worth knowing. unknown: `found` says why.
    state: State
    found: str
    wanted: str = ""
    #: Why it matters, with a figure where one is known, and where that is from.
    why: str = ""
    source: str = ""
    #: Commands that mend it, as they are to be typed.
    fix: tuple[str, ...] = ()
    #: Advice where no command does it, or in addition.
    advice: str = ""
    #: Boot parameters that mend it; printed only.
    boot: str = ""
    #: Repair by --fix: only what is safe and can be undone.
    repair: tuple[Repair, ...] = ()
    #: Whether a result that was measured so is worth little: a report's header says it.
    heavy: bool = False

    @property
    def repairable(self) -> bool:
        """Whether --fix mends it."""
        return bool(self.repair)

    @property
    def name(self) -> str:
        """The check, and on what."""
        return f"{self.check} {self.subject}".strip()


def faults(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Those that are faults."""
    return tuple(found for found in findings if found.state == "fault")
