"""The list of runs as HTML: a form to filter, columns to sort by, boxes to compare."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from linerate.report.figures.picture import LIMIT_COLOURS
from linerate.results.index import Query
from linerate.results.index.row import loadtests_text, short_name
from linerate.ui.serve import trends
from linerate.ui.serve.shell import options, template

ROWS = 100
#: Columns that a list of their words filters by.
CHOICES = ("dut", "wire", "card", "verdict", "status")
LABELS = {"dut": "Device", "wire": "Link", "card": "Card", "verdict": "Limit", "status": "Status"}
#: Column, heading, whether it is a figure.
Shown = tuple[str, str, bool]
SHOWN: tuple[Shown, ...] = (
    ("received_pps", "Mpps", True),
    ("line_percent", "% of line", True),
    ("ndr_pps", "NDR Mpps", True),
    ("verdict", "Limit", False),
    ("started", "Date (UTC)", False),
    ("dut", "Device", False),
    ("wire", "Link", False),
    ("loadtests", "Loadtests", False),
    ("labels", "Labels", False),
    ("host", "Host", False),
    ("commit", "Commit", False),
)
#: Columns that are left out where no row has anything in them.
SPARE = ("ndr_pps", "labels")
COMMIT_DIGITS = 8
#: Status of runs that ended otherwise than wanted.
BAD = ("failed", "killed", "broken")


@dataclass(frozen=True, slots=True)
class Asked:
    """Query of the address."""

    fields: dict[str, str]
    sort: str
    offset: int

    @property
    def query(self) -> Query:
        """As the index takes it."""
        filters = [f"{name}={value}" for name in CHOICES if (value := self.fields.get(name))]
        if words := self.fields.get("q"):
            filters.append(words)
        if since := self.fields.get("since"):
            filters.append(f"started>={since}")
        if until := self.fields.get("until"):
            # The day itself is in it.
            filters.append(f"started<={until}T23:59:59")
        if ndr := self.fields.get("ndr"):
            filters.append(f"ndr>={ndr}")
        return Query(tuple(filters), self.sort, ROWS, self.offset)

    def address(self, **changes: str) -> str:
        """The same list, with something else of it."""
        words = self.fields | {"sort": self.sort} | changes
        return "/?" + urlencode({name: value for name, value in words.items() if value})


def asked_of(parameters: dict[str, str]) -> Asked:
    """Read the address; what it does not know is left out."""
    known = ("q", "since", "until", "ndr", *CHOICES)
    fields = {name: parameters[name].strip()[:200] for name in known if parameters.get(name)}
    offset = parameters.get("offset", "0")
    number = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 8 else 0
    return Asked(fields, parameters.get("sort") or "-started", number)


def render(
    asked: Asked, rows: list[dict[str, Any]], total: int, words: dict[str, list[str]]
) -> str:
    """The body of the page."""
    choices = "".join(
        f'<label>{LABELS[name]} <select name="{name}">'
        f"{options(words[name], asked.fields.get(name, ''), 'any')}</select></label>"
        for name in CHOICES
    )
    last = asked.offset + len(rows)
    shown = f"{asked.offset + 1:,} to {last:,} of {total:,} runs" if rows else _none(asked)
    columns = shown_columns(rows, asked)
    kept = {name: escape(asked.fields.get(name, "")) for name in ("q", "since", "until", "ndr")}
    return template("list.html").substitute(
        kept,
        choices=choices,
        sorts=_sorts(asked),
        shown=shown,
        head="".join(_head(asked, *column) for column in columns),
        rows="\n".join(_row(row, columns) for row in rows),
        pages=_pages(asked, last, total),
        trends=trends.strip(rows),
    )


def shown_columns(rows: list[dict[str, Any]], asked: Asked) -> list[Shown]:
    """Those that say something of a row, or that the list is sorted by."""
    return [
        column
        for column in SHOWN
        if column[0] not in SPARE
        or column[0] == asked.sort.removeprefix("-")
        or any(row[column[0]] not in (None, "") for row in rows)
    ]


def _sorts(asked: Asked) -> str:
    """The same orders as the headings, which a phone has no room for."""
    known = {f"{dash}{column}": f"{label} {mark}" for column, label, _ in SHOWN
             for dash, mark in (("-", "▾"), ("", "▴"))}  # fmt: skip
    # Whatever the address says stays, as one can sort by columns that are not shown.
    sorts = {asked.sort: asked.sort} | known
    return "".join(
        f'<option value="{escape(sort)}"{" selected" * (sort == asked.sort)}>{escape(text)}'
        "</option>"
        for sort, text in sorts.items()
    )


def _none(asked: Asked) -> str:
    """Why the list is empty, and what fills it."""
    if asked.fields or asked.offset:
        return "No runs match this filter"
    return "No run yet: linerate bench makes one here, or start one under Live"


def _head(asked: Asked, column: str, label: str, figure: bool) -> str:
    """A heading that sorts by its column; once more, the other way."""
    current = asked.sort.removeprefix("-")
    descending = asked.sort.startswith("-")
    text, mark = "none", ""
    if column == current:
        text = "descending" if descending else "ascending"
        mark = " ▾" if descending else " ▴"
    sort = column if column == current and descending else f"-{column}"
    side = ' class="figure"' if figure else ""
    link = escape(asked.address(sort=sort))
    return f'<th scope="col" aria-sort="{text}"{side}><a href="{link}">{label}{mark}</a></th>'


def _row(row: dict[str, Any], columns: list[Shown]) -> str:
    name = escape(row["name"])
    broken = row["status"] == "broken"
    cells = "".join(
        f'<td data-label="{escape(label)}"{_class(row, column, figure)}>{_cell(row, column)}</td>'
        for column, label, figure in columns
    )
    box = (
        f'<input type="checkbox" name="run" value="{name}" aria-label="compare {name}"'
        f"{' disabled' * broken}>"
    )
    return (
        f'<tr class="{escape(row["status"])}"><td class="box">{box}</td>'
        f'<th scope="row"><a href="/runs/{quote(row["name"])}" title="{name}">'
        f"{escape(short_name(row['name']))}</a></th>{cells}</tr>"
    )


def _class(row: dict[str, Any], column: str, figure: bool) -> str:
    """Kind of a cell; a phone leaves out those that have nothing."""
    kind = "figure" if figure else "outcome" if column == "verdict" else "short"
    empty = row[column] in (None, "") and kind != "outcome"
    words = [kind, "main" * (column == "received_pps"), "none" * empty]
    return f' class="{" ".join(filter(None, words))}"'


def _cell(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if value in (None, "") and column != "verdict":
        return "–"
    if column in WRITERS:
        return WRITERS[column](row)
    return f"{value / 1e6:.3f}" if isinstance(value, float) else escape(str(value))


def _started(row: dict[str, Any]) -> str:
    return escape(row["started"].replace("T", " ").removesuffix("Z")[:16])


def _outcome(row: dict[str, Any]) -> str:
    """Limits, behind the status where that is not as wanted; then why."""
    limits = " ".join(_limit(limit) for limit in row["verdict"].split(", ") if limit)
    if row["status"] == "complete":
        return limits or "–"
    problem = escape(row["problem"])
    why = f'<span class="problem" title="{problem}">{problem}</span>' if problem else ""
    return " ".join(filter(None, (_status(row), limits, why)))


def _status(row: dict[str, Any]) -> str:
    value = escape(row["status"])
    if row["status"] == "running":
        return f'<a href="/live?run={quote(row["name"])}">running</a>'
    return f'<span class="badge{" bad" * (row["status"] in BAD)}">{value}</span>'


def _link(row: dict[str, Any]) -> str:
    """Its kind; of a virtual card, which."""
    return escape(", ".join(filter(None, (row["wire"], row["card"]))))


def _commit(row: dict[str, Any]) -> str:
    whole = escape(row["commit"])
    return f'<span title="{whole}">{escape(row["commit"][:COMMIT_DIGITS])}</span>'


def _limit(limit: str) -> str:
    """A limit behind a dot of the colour that it has in all pictures."""
    colour = LIMIT_COLOURS.get(limit, "#999999")
    dot = f'<span class="dot" style="background-color:{colour}"></span>'
    text = escape(limit)
    name = f'<span class="warning">{text}</span>' if limit == "invalid" else text
    return f'<span class="limit">{dot}{name}</span>'


def _cut(text: str) -> str:
    """Words that a wide page cuts, so that the columns behind them are seen."""
    whole = escape(text)
    return f'<span class="cut" title="{whole}">{whole}</span>'


#: Cells that are more than a figure or words.
WRITERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "started": _started,
    "verdict": _outcome,
    "wire": _link,
    "commit": _commit,
    "line_percent": lambda row: f"{min(row['line_percent'], 100.0):.1f}",
    "loadtests": lambda row: _cut(loadtests_text(row["loadtests"])),
    "labels": lambda row: _cut(row["labels"]),
    "host": lambda row: _cut(row["host"]),
    "dut": lambda row: _cut(row["dut"]),
}


def _pages(asked: Asked, last: int, total: int) -> str:
    links = []
    if asked.offset:
        before = escape(asked.address(offset=str(max(0, asked.offset - ROWS))))
        links.append(f'<a href="{before}">Previous</a>')
    if last < total:
        links.append(f'<a href="{escape(asked.address(offset=str(last)))}">Next</a>')
    return " ".join(links)
