"""Tables of loadtests as people publish them, read row by row.

Two shapes: one row for each loadtest, with `frame_bytes`, `mpps`, `percent_of_line`
and so on; or one row for each configuration, with `fps_64`, `percent_64` and the same
for other frame sizes. Columns come in any order, and others are left alone.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from linerate.analysis.audit.span import Figure, Span, figure
from linerate.base.line_rate import FRAME_BYTES_MAX, FRAME_BYTES_MIN, FrameRate, format_bps
from linerate.base.safe_open import open_regular

SIZE_MAX_BYTES = 16 << 20
LINK_GBPS_MAX = 10_000
DIRECTIONS = {"uni": 1, "bidir": 2}
BIT_RATES = ("l1_gbps", "l2_gbps")
NAMES = ("card", "driver", "test")
EXPECTED = (
    "expected the columns frame_bytes, mpps and percent_of_line, or fps_64 and percent_64 "
    "(docs/audit.md)"
)
#: Cells that say that there is no figure.
NOT_PUBLISHED = ("", "-", "–", "n/a")
_FPS = re.compile(r"fps_([0-9]{1,4})")


Cells = Mapping[str, str]
Reader = Callable[[int, Cells, float], Iterable["Row"]]


class TableError(Exception):
    """A file that is no such table; one line that says what was expected."""


class _RowError(Exception):
    """A row that can't be read: column and what was expected."""


@dataclass(frozen=True, slots=True)
class Row:
    """One loadtest as published; a figure that isn't there is None."""

    line: int
    name: str
    test: str
    frame_bytes: int
    directions: int
    link_bps: float
    #: `mpps`, or frames a second in millions.
    rate: Figure | None = None
    #: Unit of the packet rate: Mpps or frames/s.
    rate_unit: str = "Mpps"
    percent: Figure | None = None
    l1_gbps: Figure | None = None
    #: As TRex says it, without FCS.
    l2_gbps: Figure | None = None

    @property
    def card(self) -> str:
        """The name without the test."""
        return self.name.removesuffix(self.test)

    @property
    def link_text(self) -> str:
        """The links that carry traffic, as `2 × 10 Gb/s`."""
        times = "2 × " if self.directions == 2 else ""
        return times + format_bps(self.link_bps)

    @property
    def mpps(self) -> Span | None:
        """Range of packet rates that round to the published one."""
        if self.rate is None:
            return None
        scale = 1.0 if self.rate_unit == "Mpps" else 1e-6
        return self.rate.span.through(lambda rate: rate * scale)

    @property
    def mpps_of_percent(self) -> Span | None:
        """Packet rates that the percentage can follow from."""
        if self.percent is None:
            return None
        one = self.percent_of(1.0)
        return self.percent.span.through(lambda percent: percent / one)

    @property
    def mpps_of_l1(self) -> Span | None:
        """Packet rates that the L1 bit rate can follow from."""
        one = FrameRate(self.frame_bytes, 1e6).l1_bps / 1e9
        return self.l1_gbps.span.through(lambda gbps: gbps / one) if self.l1_gbps else None

    @property
    def mpps_of_l2(self) -> Span | None:
        """Packet rates that the L2 bit rate, without FCS, can follow from."""
        one = FrameRate(self.frame_bytes, 1e6).l2_bps_no_fcs / 1e9
        return self.l2_gbps.span.through(lambda gbps: gbps / one) if self.l2_gbps else None

    def percent_of(self, mpps: float) -> float:
        """Percentage of the line that a packet rate is."""
        return FrameRate(self.frame_bytes, mpps * 1e6).percent_of(self.link_bps, self.directions)


@dataclass(frozen=True, slots=True)
class Table:
    """All rows that could be read, and what became of the others."""

    name: str
    rows: tuple[Row, ...]
    #: Line and what is wrong with it.
    unreadable: tuple[tuple[int, str], ...] = ()
    #: Assumptions about what the table lacks.
    assumed: tuple[str, ...] = ()


def read_table(path: Path, link_bps: float) -> Table:
    """Read a file; `link_bps` is for tables that don't say theirs. Raises TableError."""
    try:
        with open_regular(path) as file:
            content = file.read(SIZE_MAX_BYTES + 1)
    except OSError as error:
        raise TableError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    return table_of(content, str(path), link_bps)


def table_of(content: bytes, name: str, link_bps: float) -> Table:
    """Read a table from the bytes of a file. Raises TableError."""
    if len(content) > SIZE_MAX_BYTES:
        raise TableError(f"{name}: over {SIZE_MAX_BYTES >> 20} MiB; {EXPECTED}")
    if b"\0" in content:
        raise TableError(f"{name}: not a text; {EXPECTED}")
    header, lines = _records(content.decode("utf-8-sig", errors="replace"), name)
    shape = _shape(header, name)
    if not lines:
        raise TableError(f"{name}: no row below the columns")
    rows: list[Row] = []
    unreadable = []
    for line, cells in lines:
        try:
            rows.extend(shape(line, cells, link_bps))
        except _RowError as error:
            unreadable.append((line, str(error)))
    return Table(name, tuple(rows), tuple(unreadable), _assumed(header, link_bps))


def _records(text: str, name: str) -> tuple[list[str], list[tuple[int, Cells]]]:
    """Columns, and of each row the line that it starts in and its cells."""
    reader = csv.reader(io.StringIO(text, newline=""))
    records: list[tuple[int, Cells]] = []
    try:
        header = [column.strip().lower() for column in next(reader, [])]
        end = reader.line_num
        for fields in reader:
            cells = [_cell(field) for field in fields]
            if any(cells):
                records.append((end + 1, dict(zip_longest(header, cells, fillvalue=""))))
            end = reader.line_num
    except csv.Error as error:
        raise TableError(f"{name}: line {reader.line_num}: {error}; {EXPECTED}") from error
    return header, records


def _cell(field: str) -> str:
    """One line of a cell's text, for whatever a cell holds."""
    return " ".join("".join(one if one.isprintable() else " " for one in field).split())


def _shape(header: list[str], name: str) -> Reader:
    """Choose who reads the rows. Raises TableError."""
    has = set(header)
    if {"frame_bytes", "mpps"} <= has and has & {"percent_of_line", *BIT_RATES}:
        return _loadtest
    sizes = [int(match[1]) for column in header if (match := _FPS.fullmatch(column))]
    sizes = [
        size
        for size in dict.fromkeys(sizes)
        if f"percent_{size}" in has and FRAME_BYTES_MIN <= size <= FRAME_BYTES_MAX
    ]
    if sizes:
        return lambda line, cells, link_bps: _configuration(line, cells, link_bps, sizes)
    raise TableError(f"{name}: {EXPECTED}")


def _assumed(header: list[str], link_bps: float) -> tuple[str, ...]:
    assumed = []
    if "link_gbps" not in header:
        assumed.append(f"a link of {format_bps(link_bps)}")
    if "direction" not in header:
        assumed.append("one direction")
    return tuple(assumed)


def _loadtest(line: int, cells: Cells, link_bps: float) -> Iterator[Row]:
    """A row that is one loadtest."""
    names = [cells[column] for column in NAMES if cells.get(column)]
    yield Row(
        line=line,
        name=" ".join(names) or f"line {line}",
        test=cells.get("test", ""),
        frame_bytes=_frame_bytes(cells["frame_bytes"]),
        directions=_directions(cells),
        link_bps=_link(cells, link_bps),
        rate=_figure(cells, "mpps"),
        percent=_figure(cells, "percent_of_line"),
        l1_gbps=_figure(cells, "l1_gbps"),
        l2_gbps=_figure(cells, "l2_gbps"),
    )


def _configuration(line: int, cells: Cells, link_bps: float, sizes: list[int]) -> Iterator[Row]:
    """A row that is one configuration, with a loadtest for each frame size."""
    name = cells.get("configuration") or f"line {line}"
    for size in sizes:
        yield Row(
            line=line,
            name=f"{name} {size} B",
            test=f"{size} B",
            frame_bytes=size,
            directions=_directions(cells),
            link_bps=_link(cells, link_bps),
            rate=_figure(cells, f"fps_{size}"),
            rate_unit="frames/s",
            percent=_figure(cells, f"percent_{size}"),
        )


def _figure(cells: Cells, column: str) -> Figure | None:
    text = cells.get(column, "")
    if text.lower() in NOT_PUBLISHED:
        return None
    found = figure(text)
    if found is None:
        raise _RowError(f"{column}: expected a number of 0 or more, not {_short(text)}")
    return found


def _frame_bytes(text: str) -> int:
    if re.fullmatch("[0-9]{1,5}", text) and FRAME_BYTES_MIN <= int(text) <= FRAME_BYTES_MAX:
        return int(text)
    between = f"{FRAME_BYTES_MIN} to {FRAME_BYTES_MAX}"
    raise _RowError(f"frame_bytes: expected {between}, not {_short(text)}")


def _directions(cells: Cells) -> int:
    text = cells.get("direction", "uni").lower()
    if text not in DIRECTIONS:
        raise _RowError(f"direction: expected uni or bidir, not {_short(text)}")
    return DIRECTIONS[text]


def _link(cells: Cells, link_bps: float) -> float:
    if "link_gbps" not in cells:
        return link_bps
    gbps = figure(cells["link_gbps"])
    if gbps is None or not 0 < gbps.value <= LINK_GBPS_MAX:
        raise _RowError(f"link_gbps: expected a bit rate in Gb/s, not {_short(cells['link_gbps'])}")
    return gbps.value * 1e9


def _short(text: str) -> str:
    """Quote a cell; a reader of one line needs no megabyte."""
    return repr(text if len(text) <= 24 else text[:21] + "...")
