"""Checks: each looks at one thing, in the file of its topic, registered where it stands.

A check that can't be made raises UnknownError, and is shown with why. A missing or broken file
never ends the others.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from enum import Flag, auto
from typing import NamedTuple

from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic
from linerate.model.findings import Finding

CheckHost = Callable[[Look], Finding | None]
CheckNic = Callable[[Look, Nic], Finding | None]


class Form(Flag):
    """When a check is made."""

    #: `linerate doctor`.
    LONG = auto()
    #: By the lab before each bench: it reads few files and runs no command.
    SHORT = auto()
    BOTH = LONG | SHORT


class Check(NamedTuple):
    """One check."""

    #: Place in the table.
    order: int
    name: str
    form: Form
    #: Findings of the check: for the host at most one, for each card one.
    findings: Callable[[Look], Iterator[Finding]]


_CHECKS: list[Check] = []


def check(name: str, order: int, form: Form = Form.LONG) -> Callable[[CheckHost], CheckHost]:
    """Register a check of the host; one that returns None does not apply."""

    def register(examine: CheckHost) -> CheckHost:
        def findings(look: Look) -> Iterator[Finding]:
            try:
                found = examine(look)
            except UnknownError as why:
                found = Finding(check=name, state="unknown", found=str(why))
            if found is not None:
                yield _settled(found)

        _CHECKS.append(Check(order, name, form, findings))
        return examine

    return register


def _settled(found: Finding) -> Finding:
    """Correct settings need no fix."""
    if found.state != "ok":
        return found
    return found.model_copy(
        update={"fix": (), "advice": "", "boot": "", "repair": (), "heavy": False}
    )


def check_nic(name: str, order: int, form: Form = Form.LONG) -> Callable[[CheckNic], CheckNic]:
    """Register a check of each card that is for packets."""

    def register(examine: CheckNic) -> CheckNic:
        def findings(look: Look) -> Iterator[Finding]:
            for nic in look.nics:
                try:
                    found = examine(look, nic)
                except UnknownError as why:
                    found = Finding(check=name, state="unknown", found=str(why))
                if found is not None:
                    yield _settled(found).model_copy(update={"subject": nic.subject})

        _CHECKS.append(Check(order, name, form, findings))
        return examine

    return register


def checks(form: Form) -> tuple[Check, ...]:
    """Return all checks of a form, in the order of the table."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    chosen = [one for one in _CHECKS if form in one.form]
    return tuple(sorted(chosen, key=lambda one: (one.order, one.name)))
