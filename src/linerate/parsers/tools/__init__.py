"""Parsers of other tools' output: one file each, registered where it stands.

Every parser sees every source and takes the lines that it understands; what is
left over is kept as `unread`. So files may hold several outputs, in any order.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import NamedTuple

from linerate.model.evidence import Evidence
from linerate.parsers.text import Text

Parse = Callable[[Text], Evidence | None]


class Parser(NamedTuple):
    """Parser of one kind of output."""

    #: Name of the output: `VPP show runtime`.
    name: str
    parse: Parse


_PARSERS: list[Parser] = []


def parser(name: str) -> Callable[[Parse], Parse]:
    """Register a parser under what it reads.

    It returns None when nothing in the text is its own, and never raises for any text.
    """

    def register(parse: Parse) -> Parse:
        _PARSERS.append(Parser(name, parse))
        return parse

    return register


def parsers() -> tuple[Parser, ...]:
    """Return all parsers, by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(_PARSERS))
