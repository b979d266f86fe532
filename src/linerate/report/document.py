"""A report as data: one document of sections, which every renderer writes in its own way.

It knows neither a terminal nor HTML; all text in it is plain text, and foreign.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

#: A cell of words, of a figure, or of a sentence, which alone may be broken into lines.
Side = Literal["text", "figure", "sentence"]
#: Weight of a note: an explanation, the outcome, a doubt.
Weight = Literal["note", "verdict", "warning"]


@dataclass(frozen=True, slots=True)
class Column:
    """Name of a column, and the kind of its cells."""

    name: str
    side: Side = "figure"


def text(*names: str) -> tuple[Column, ...]:
    """Columns of words."""
    return tuple(Column(name, "text") for name in names)


def figures(*names: str) -> tuple[Column, ...]:
    """Columns of figures."""
    return tuple(Column(name) for name in names)


def sentences(*names: str) -> tuple[Column, ...]:
    """Columns whose cells may be broken into lines."""
    return tuple(Column(name, "sentence") for name in names)


@dataclass(frozen=True, slots=True)
class Heading:
    """Title of all that follows, up to the next heading."""

    text: str
    #: Name of its section in a page; letters, digits, dashes.
    name: str = ""
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True, slots=True)
class Note:
    """One paragraph."""

    text: str
    weight: Weight = "note"
    kind: ClassVar[str] = "note"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text; the first cell of each is its heading."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    #: Whether its title is printed above it; a page's reader hears it in any case.
    titled: bool = True
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot where one can be drawn, and the same in words where not."""

    #: Name of its element in a page; letters, digits, dashes.
    name: str
    title: str
    #: The main figures in words.
    alt: str
    #: For plotly; None where nothing can be drawn: then the note says why.
    plot: dict[str, Any] | None
    note: str = ""
    #: Name and colour.
    legend: tuple[tuple[str, str], ...] = ()
    kind: ClassVar[str] = "figure"


Section = Heading | Note | Table | Figure


@dataclass(frozen=True, slots=True)
class Document:
    """A report, built once for all forms in which it is written."""

    title: str
    sections: tuple[Section, ...]
    #: The same for programs, unrounded; made when it is asked for.
    data: Callable[[], Any]
    #: In the head of a page that is a file of its own.
    page_title: str = "linerate"
