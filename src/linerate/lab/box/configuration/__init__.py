"""Languages in which boxes are configured: the lines that one lacks, a file for each language."""

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Protocol

from linerate.model.box_setup import Missing


class Configuration(Protocol):
    """A language of configuration."""

    #: The name of its file.
    name: str

    def lines(self, missing: Sequence[Missing]) -> tuple[str, ...]:
        """Lines that a user types for what is missing at both sides."""

    def command(self, line: str, socket: str) -> str:
        """A command for the box's shell that does what a line says."""


_LANGUAGES: dict[str, Configuration] = {}


def register(language: Configuration) -> None:
    """Make a language known."""
    _LANGUAGES[language.name] = language


def find(name: str) -> Configuration | None:
    """Return the language of that name; None where there is none."""
    if name not in _LANGUAGES:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return _LANGUAGES.get(name)


def any_of(missing: Sequence[Missing], what: str) -> bool:
    """Whether something of the box as a whole is missing: `forwarding`."""
    return any(getattr(one, what) for one in missing)
