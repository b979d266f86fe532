"""Latency in words and tables: of a trial's streams."""

from collections.abc import Iterable

from linerate.model.measurement.latency import LatencyFigures
from linerate.report import marks
from linerate.report.document import NONE, Heading, Listing, Note, Section, table
from linerate.results.store import Result

TITLE = "Latency in µs"
#: Behind the name of what it is of.
FIGURES = ("frames", "mean", "p50", "p99", "p99.9", "p99.99", "max", "jitter", "lost")
COLUMNS = ("test", "of", *FIGURES)
WIRE = "bare link"
NOTES = "Notes on latency: the bare link's part, and frames that are not counted"
EXPLAINED = (
    "p99.99 only with enough frames; jitter: mean difference of two in a row; "
    f"{WIRE}: the tester's and the wire's own at the same load, included above"
)


def us(value: float | None) -> str:
    """Microseconds, with digits as they deserve."""
    if value is None:
        return NONE
    digits = 2 if value < 100 else 1 if value < 1000 else 0
    return f"{value:,.{digits}f}"


def cells(one: LatencyFigures) -> tuple[str, ...]:
    """By FIGURES."""
    reported = (one.mean_us, one.p50_us, one.p99_us, one.p99_9_us, one.p99_99_us)
    return (
        f"{one.count:,}",
        *map(us, reported),
        us(one.max_us),
        us(one.jitter_us),
        f"{one.lost:,}",
    )


def stream_rows(result: Result) -> list[tuple[str, ...]]:
    """A row a stream, each followed by the same over the bare link."""
    rows = []
    for one in result.latency:
        rows.append((_of(one, result), *cells(one)))
        rows += [(WIRE, *cells(own)) for own in _own(one, result)]
    return rows


def _of(one: LatencyFigures, result: Result) -> str:
    """The direction; where that has several streams, their names."""
    same = [other for other in result.latency if other.direction == one.direction]
    return one.direction if len(same) == 1 else one.stream


def _own(one: LatencyFigures, result: Result) -> list[LatencyFigures]:
    """At another load of the same loadtest a stream may be called otherwise: ports tell."""
    if by_name := [own for own in result.own_latency if own.stream == one.stream]:
        return by_name
    same = [own for own in result.own_latency if own.direction == one.direction]
    return same if len(same) == 1 else []


def sentences(result: Result) -> list[str]:
    """The tester's part of the latency; disturbances by the host."""
    message = []
    for one in result.latency:
        own = next(iter(_own(one, result)), None)
        if one.p50_us is not None and own is not None and own.p50_us is not None:
            message.append(
                f"{_of(one, result)}: {us(one.p50_us)} µs at p50, of which {us(own.p50_us)} µs "
                f"{'is' if own.p50_us <= one.p50_us else 'would be'} the tester's and the wire's"
            )
        if one.disturbed:
            share = 100 * one.disturbed / (one.count + one.disturbed)
            message.append(
                f"{_of(one, result)}: {one.disturbed:,} frames ({share:.2g} %) not counted, up to "
                f"{us(one.disturbed_max_us)} µs: a worker was descheduled"
            )
        if one.damaged:
            message.append(f"{_of(one, result)}: {one.damaged:,} frames came with a damaged stamp")
    return message


def rows(results: Iterable[Result]) -> list[tuple[str, ...]]:
    """By COLUMNS, of the valid ones."""
    return [
        (result.test if not number else "", *row)
        for result in results
        if result.valid
        for number, row in enumerate(stream_rows(result))
    ]


def notes(results: Iterable[Result]) -> list[tuple[str, str]]:
    """Test and sentence, of the valid ones."""
    return [(one.test, message) for one in results if one.valid for message in sentences(one)]


def sections(results: Iterable[Result], pictures: Iterable[Section] = ()) -> list[Section]:
    """Timed streams of a bench; nothing where nothing was timed."""
    timed = [result for result in results if result.valid and result.latency]
    found = rows(timed)
    if not found:
        return []
    return [
        Heading(TITLE, "latency", doubts=marks.doubts_of_all(timed)),
        *pictures,
        table(TITLE, COLUMNS, found, words=(0, 1)).untitled,
        Listing(NOTES, ("test", "latency"), tuple(notes(timed)), titled=False, closed=True),
        Note(EXPLAINED),
    ]
