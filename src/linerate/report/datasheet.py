"""A page a box for those who choose hardware, and a ranking of several."""

from collections.abc import Sequence
from functools import partial

from linerate.base.line_rate import format_pps
from linerate.base.published import Number, Output, published
from linerate.model.power import Estimate, MeterAbout
from linerate.report.document import (
    LIMIT,
    NONE,
    Column,
    Document,
    Heading,
    Listing,
    Note,
    Section,
    Table,
    figures,
    text,
)
from linerate.report.power import about_line, shown
from linerate.results.datasheet import (
    By,
    Line,
    Price,
    Sheet,
    common_frames,
    meters,
    ranking,
)

KIND_TEXT = {
    "NDR": "NDR",
    "throughput": "RFC 2544 throughput",
    "received": "received under full load, with loss",
}
EXPLAINED = (
    "Mpps of all directions together. NDR: the highest load without loss; received under full "
    "load: what came through of more than the box takes, which is no NDR. p99: at that load, or at "
    "the highest load at which latency was measured."
)
HOW_TO_MEASURE = {
    "64 B": "linerate search --sizes 64",
    "IMIX": "linerate search --traffic imix",
    "1518 B": "linerate search --sizes 1518",
}
BY_TEXT: dict[By, str] = {
    "rate": "packets a second",
    "energy": "energy a packet",
    "price": "packets a second for the price",
}


def document(sheets: Sequence[Sheet], by: By = "rate") -> Document:
    """All boxes: the ranking first, then a page for each."""
    names = ", ".join(one.name for one in sheets)
    parts = [part for number, one in enumerate(sheets, start=1) for part in _box(number, one)]
    return Document(
        title=f"datasheet: {names}",
        sections=(*(_ranking(sheets, by) if len(sheets) > 1 else ()), *parts),
        data=partial(outputs, sheets),
        schema="datasheet",
        sheet=partial(_rows, sheets),
        page_title=f"linerate datasheet: {names}",
    )


def _box(number: int, one: Sheet) -> list[Section]:
    title = Heading(one.name, f"box-{number}", f"{one.about}; {one.machine}")
    if not one.lines:
        return [title, Note("No valid result: nothing to show.", "warning")]
    return [
        title,
        Note(_headline(one), "verdict"),
        table(one),
        Note(EXPLAINED),
        *([Note(about_line(one.meter))] if one.meter is not None else []),
        Listing("What limits, and how we know", ("frames", "limit"), tuple(_limits(one))),
        Listing("Not measured", ("frames", "how"), tuple(_missing(one))),
    ]


def _headline(one: Sheet) -> str:
    first = one.lines[0]
    parts = [f"{format_pps(first.pps, '.4g')} of {first.frames} ({KIND_TEXT[first.kind]})"]
    if one.idle_watts is not None:
        parts.append(f"{shown(one.idle_watts)} W idle")
    if first.power is not None and first.power.watts is not None:
        parts.append(f"{shown(first.power.watts)} W under that load")
    if one.price is not None:
        parts.append(str(one.price))
    return ", ".join(parts) + "."


def table(one: Sheet) -> Table:
    """Figures of each kind of frames; columns of power and price where they are known."""
    extra: list[Column] = []
    if any(line.power is not None for line in one.lines):
        extra += [
            Column("idle W", spare=3),
            Column("W"),
            Column("nJ/packet"),
            Column("Mpps/W", spare=1),
        ]
    if one.price is not None:
        extra += [Column(f"pps per {one.price.currency or 'unit of price'}", spare=2)]
    columns = (
        *text("frames"),
        Column("figure", "text", spare=2),
        *figures("Mpps"),
        Column("L1 Gb/s", spare=1),
        *figures("% of line", "p99 µs"),
        *extra,
    )
    rows = tuple(_row(one, line, len(extra)) for line in one.lines)
    return Table("Performance and power", (*columns, *LIMIT), rows, titled=False)


def _row(one: Sheet, line: Line, extra: int) -> tuple[str, ...]:
    cells = [
        _label(one, line),
        line.kind,
        f"{line.pps / 1e6:.4g}",
        f"{line.l1_bps / 1e9:.2f}",
        f"{line.line_percent:.1f}",
        NONE if line.p99_us is None else f"{line.p99_us:.1f}",
    ]
    if extra >= 4:
        found = line.power
        values: Sequence[Estimate | None] = (
            (None, None, None, None)
            if found is None
            else (found.idle_watts, found.watts, found.nj_per_packet, found.mpps_per_watt)
        )
        cells += map(shown, values)
    if extra in (1, 5):
        worth = one.pps_for_price(line)
        cells.append(NONE if worth is None else f"{worth:,.0f}")
    return (*cells, line.limit)


def _label(one: Sheet, line: Line) -> str:
    """Frames, and the loadtest where there are several of such frames."""
    alike = sum(other.frames == line.frames for other in one.lines)
    return line.frames if alike == 1 else f"{line.frames}, {line.loadtest}"


def _limits(one: Sheet) -> list[tuple[str, str]]:
    return [(_label(one, line), f"{line.limit}: {line.sentence}") for line in one.lines]


def _missing(one: Sheet) -> list[tuple[str, str]]:
    found = [(frames, HOW_TO_MEASURE[frames]) for frames in one.missing]
    if one.meter is None:
        found.append(("power", "`power:` of the testbed's `dut:` names a meter (docs/power.md)"))
    elif one.idle_watts is None:
        found.append(("W idle", "the meter gave no figure without load"))
    return found


def _ranking(sheets: Sequence[Sheet], by: By) -> list[Section]:
    frames = common_frames(sheets)
    if frames is None:
        return [Note("No frames that all boxes were measured with: no ranking.", "doubt")]
    columns = (
        *text("box", "figure"),
        *figures("Mpps", "idle W", "W under load", "nJ/packet", "price", "pps for it"),
        *LIMIT,
    )
    rows = []
    for one in ranking(sheets, frames, by):
        found, worth = one.line.power, one.sheet.pps_for_price(one.line)
        rows.append(
            (
                f"{one.place}. {one.sheet.name}",
                one.line.kind,
                f"{one.line.pps / 1e6:.4g}",
                shown(found.idle_watts if found else None),
                shown(found.watts if found else None),
                shown(found.nj_per_packet if found else None),
                NONE if one.sheet.price is None else str(one.sheet.price),
                NONE if worth is None else f"{worth:,.0f}",
                one.line.limit,
            )
        )
    made = Table(f"Ranking by {BY_TEXT[by]}, {frames}", columns, tuple(rows))
    kinds = {one.line.kind for one in ranking(sheets, frames, by)}
    doubts = [
        *(["figures of different kinds stand beside each other"] if len(kinds) > 1 else []),
        *(["the meters do not measure the same parts"] if len(meters(sheets)) > 1 else []),
    ]
    return [made, *(Note(f"{one}: not the same thing is compared", "doubt") for one in doubts)]


def _rows(sheets: Sequence[Sheet]) -> list[Sequence[object]]:
    """A row for each box and kind of frames, unrounded."""
    head = ("box", "frames", "loadtest", "figure", "pps", "line_percent", "p99_us", "idle_watts",
            "watts", "watts_plus_minus", "nj_per_packet", "price", "limit")  # fmt: skip
    rows: list[Sequence[object]] = [head]
    for one in sheets:
        for line in one.lines:
            found = line.power
            watts = found.watts if found else None
            energy = found.nj_per_packet if found else None
            idle = found.idle_watts if found else None
            rows.append(
                (
                    one.name,
                    line.frames,
                    line.loadtest,
                    line.kind,
                    line.pps,
                    line.line_percent,
                    line.p99_us if line.p99_us is not None else "",
                    idle.value if idle else "",
                    watts.value if watts else "",
                    watts.plus_minus if watts else "",
                    energy.value if energy else "",
                    one.price.amount if one.price else "",
                    line.limit,
                )
            )
    return rows


class LineOutput(Output):
    """One kind of frames through one box."""

    frames: str
    loadtest: str
    text: str
    #: `NDR`, `throughput` of RFC 2544, or what was `received` under more load than it takes.
    kind: str
    #: All directions together.
    pps: Number
    l1_bps: Number
    line_percent: Number
    p99_us: Number | None
    limit: str
    sentence: str
    trial: str
    watts: Estimate | None = None
    idle_watts: Estimate | None = None
    nj_per_packet: Estimate | None = None
    mpps_per_watt: Estimate | None = None


class PriceOutput(Output):
    """As the user gave it."""

    amount: Number
    currency: str


class SheetOutput(Output):
    """One box."""

    name: str
    about: str
    machine: str
    lines: tuple[LineOutput, ...]
    idle_watts: Estimate | None = None
    meter: MeterAbout | None = None
    price: PriceOutput | None = None


published("datasheet", "JSON of `linerate datasheet --json`")(list[SheetOutput])

POWER = ("watts", "idle_watts", "nj_per_packet", "mpps_per_watt")


def outputs(sheets: Sequence[Sheet]) -> list[SheetOutput]:
    """The same for programs, figures unrounded."""
    return [
        SheetOutput(
            name=one.name,
            about=one.about,
            machine=one.machine,
            lines=tuple(map(_output, one.lines)),
            **{
                name: found
                for name in ("idle_watts", "meter")
                if (found := getattr(one, name)) is not None
            },
            **({"price": _price(one.price)} if one.price is not None else {}),
        )
        for one in sheets
    ]


def _price(price: Price) -> PriceOutput:
    return PriceOutput(amount=price.amount, currency=price.currency)


def _output(line: Line) -> LineOutput:
    plain = ("frames", "loadtest", "text", "kind", "pps", "l1_bps", "line_percent", "p99_us",
             "limit", "sentence", "trial")  # fmt: skip
    power = {
        name: found
        for name in POWER
        if line.power is not None and (found := getattr(line.power, name)) is not None
    }
    return LineOutput(**{name: getattr(line, name) for name in plain}, **power)
