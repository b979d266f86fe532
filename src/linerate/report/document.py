"""A report as data: one document of sections, which every renderer writes in its own way.

It knows neither a terminal nor HTML; all text in it is plain text, and foreign.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from linerate.report.case import Case

#: Kind of a cell; a sentence may be broken into lines.
Side = Literal["text", "figure", "sentence", "limit"]
#: Explanation, paragraph, outcome, success, doubt, failure.
Weight = Literal["note", "text", "verdict", "passed", "doubt", "warning"]
#: The device is not the limit; it is; there is no result.
Tone = Literal["good", "limited", "failed"]
NONE = "–"
#: Columns beside the first that fit a page, where a table may be broken.
PAGE_COLUMNS = 12
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """Name of a column, and the kind of its cells."""

    name: str
    side: Side = "figure"
    #: A narrow terminal leaves it out: those of 1 first, then those of 2; 0 is never left out.
    spare: int = 0
    #: Its name where there is room; a terminal has little.
    spelled: str = ""
    #: Whether a page has it in a section of its own.
    elsewhere: bool = False

    @property
    def heading(self) -> str:
        """Its name in full."""
        return self.spelled or self.name


def text(*names: str) -> tuple[Column, ...]:
    """Columns of words."""
    return tuple(Column(name, "text") for name in names)


def figures(*names: str) -> tuple[Column, ...]:
    """Columns of figures."""
    return tuple(Column(name) for name in names)


def sentences(*names: str) -> tuple[Column, ...]:
    """Columns whose cells may be broken into lines."""
    return tuple(Column(name, "sentence") for name in names)


LIMIT = (Column("limit", "limit"),)


@dataclass(frozen=True, slots=True)
class Heading:
    """Title of all that follows, up to the next heading."""

    text: str
    #: Name of its section in a page; letters, digits, dashes.
    name: str = ""
    #: Words beside it.
    detail: str = ""
    #: Doubts about all beneath it, in words.
    doubts: tuple[str, ...] = ()
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True, slots=True)
class Chapter(Heading):
    """A heading that tables with titles need only where there are pictures among them."""


@dataclass(frozen=True, slots=True)
class Lead:
    """The outcome: one large figure, some beside it, a verdict in a sentence, how sure it is."""

    value: str
    unit: str
    #: The test, and its traffic.
    subject: str
    verdict: str
    #: Confidence, and doubts.
    sure: str = ""
    tone: Tone = "good"
    #: Name and figure.
    facts: tuple[tuple[str, str], ...] = ()
    kind: ClassVar[str] = "lead"

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        figure = f"{self.value} {self.unit}".strip()
        facts = ", ".join(f"{name} {value}" for name, value in self.facts)
        beside = f" ({facts})" if facts else ""
        sure = f" ({self.sure})" if self.sure else ""
        return f"{self.subject}: {figure}{beside}. {self.verdict}{sure}"


@dataclass(frozen=True, slots=True)
class Note:
    """One paragraph."""

    text: str
    weight: Weight = "note"
    #: Its first words, which stand out.
    lead: str = ""
    kind: ClassVar[str] = "note"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text; the first cell of each is its heading."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    #: Whether its title is printed above it; a page's reader hears it in any case.
    titled: bool = True
    #: Columns that stay together where a terminal breaks a wide table into several; 0: it does not.
    block: int = 0
    #: Names of rows that stand out, as sums do.
    totals: frozenset[str] = frozenset()
    #: By the first cell of a row: the name of the section that has more of it.
    links: Mapping[str, str] = field(default_factory=dict)
    #: Whether a page shows it only when it is opened.
    closed: bool = False
    #: By the first cell of a row: the file beside the page that has more of it.
    files: Mapping[str, str] = field(default_factory=dict)
    kind: ClassVar[str] = "table"

    @property
    def in_pages(self) -> tuple["Table", ...]:
        """The same without columns that a page has elsewhere; in parts where it has many."""
        kept = [at for at, column in enumerate(self.columns) if not column.elsewhere]
        step = PAGE_COLUMNS // self.block * self.block if self.block else len(kept)
        first, *others = kept
        starts = range(0, len(others), step) if others else [0]
        return tuple(self._of([first, *others[start : start + step]]) for start in starts)

    def _of(self, columns: list[int]) -> "Table":
        return replace(
            self,
            columns=tuple(self.columns[at] for at in columns),
            rows=tuple(tuple(row[at] for at in columns) for row in self.rows),
        )

    @property
    def untitled(self) -> "Table":
        """The same beneath something that is title enough."""
        return replace(self, titled=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines by the name of their subject; without names, a list of sentences."""

    title: str
    #: Heads of the two columns where it is written as a table.
    heads: tuple[str, str]
    rows: tuple[tuple[str, str], ...]
    titled: bool = True
    #: Whether a page shows it only when it is opened.
    closed: bool = False
    #: By name: the section that has more of it.
    links: Mapping[str, str] = field(default_factory=dict)
    kind: ClassVar[str] = "listing"

    @property
    def table(self) -> Table:
        """The same with a column for the names."""
        return Table(self.title, sentences(*self.heads), self.rows, self.titled, links=self.links)


@dataclass(frozen=True, slots=True)
class Style:
    """Look of one thing, the same in every figure."""

    colour: str
    pattern: str = ""

    @property
    def bar(self) -> dict[str, Any]:
        """As the marker of a bar in a plot."""
        pattern = {"shape": self.pattern, "fillmode": "overlay", "fgcolor": "#ffffff", "size": 6}
        return {
            "color": self.colour,
            "pattern": pattern if self.pattern else {},
            "line": {"width": 0.5, "color": "#808080"},
        }


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot where one can be drawn, and the same in words where not."""

    #: Name of its element in a page; letters, digits, dashes.
    name: str
    title: str
    #: The main figures in words.
    alt: str
    #: Data and layout for `draw.js`; None where nothing can be drawn: then the note says why.
    plot: dict[str, Any] | None
    note: str = ""
    #: The same figures; a page shows them when they are opened.
    table: Table | None = None
    legend: tuple[tuple[str, Style], ...] = ()
    #: Words under which a page hides the figure until it is opened.
    closed: str = ""
    kind: ClassVar[str] = "figure"

    @property
    def beside_table(self) -> "Figure":
        """The same beside a table of the same figures."""
        return replace(self, table=None)

    def under(self, words: str) -> "Figure":
        """The same, hidden in a page until these words are opened."""
        return replace(self, closed=words)


Section = Heading | Lead | Note | Table | Listing | Figure


@dataclass(frozen=True, slots=True)
class Document:
    """A report, built once for all forms in which it is written."""

    title: str
    sections: tuple[Section, ...]
    #: The same for programs, unrounded; made when it is asked for.
    data: Callable[[], Any]
    #: Name of that data's schema.
    schema: str = ""
    #: Testbed of the run that is reported.
    testbed: BaseModel | None = None
    #: Cases for continuous integration; made when they are asked for.
    cases: Callable[[], Iterable[Case]] = tuple
    #: Head and rows for spreadsheets, unrounded; made when they are asked for.
    sheet: Callable[[], Iterable[Sequence[object]]] = tuple
    #: In the head of a page that is a file of its own.
    page_title: str = "linerate"
    #: Date, machine, versions: what a page has beneath its title.
    about: tuple[tuple[str, str], ...] = ()
    #: Lines that a terminal has beneath the title; elsewhere the details have them.
    preface: tuple[Note, ...] = ()
    #: Sections that a terminal leaves out; made when they are asked for.
    details: Callable[[], Iterable[Section]] = tuple
    #: Short names that only a terminal has, beneath its tables.
    abbreviations: tuple[Note, ...] = ()
    #: Why it ended early: first in a page, last in a terminal.
    status: Note | None = None
    #: Last lines in a terminal: people copy from them.
    ending: tuple[Note, ...] = ()

    @property
    def written(self) -> tuple[Section, ...]:
        """All sections, for forms that have room for them."""
        status = () if self.status is None else (self.status,)
        return (*status, *self.sections, *self.details())


def table(
    title: str, columns: Sequence[str], rows: Iterable[Row], words: Iterable[int] = (0,)
) -> Table:
    """A table of figures but for the columns of these numbers, which hold words."""
    sides: dict[int, Side] = {number: "sentence" if number else "text" for number in words}
    made = (Column(name, sides.get(number, "figure")) for number, name in enumerate(columns))
    return Table(title, tuple(made), tuple(rows))
