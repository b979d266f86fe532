"""Set-ups of boxes: what each kind is asked about it, and how its answers are read; a file each."""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from typing import Protocol

from linerate.model.box_setup import Setup
from linerate.parsers.boxes import Asked, Question


class SetupKind(Protocol):
    """A kind of box whose set-up can be read."""

    #: As in a testbed file: the name of its file.
    name: str

    def questions(self, asked: Asked, networks: Sequence[str]) -> tuple[Question, ...]:
        """Questions of interfaces, addresses, neighbours, and of routes to some prefixes."""

    def read(self, texts: Mapping[str, str]) -> Setup:
        """The set-up in the answers, by question; what none says is left out."""


_KINDS: dict[str, SetupKind] = {}


def register(kind: SetupKind) -> None:
    """Make a kind known."""
    _KINDS[kind.name] = kind


def find(name: str) -> SetupKind | None:
    """Return the kind of that name; None where its set-up can't be read."""
    if name not in _KINDS:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return _KINDS.get(name)
