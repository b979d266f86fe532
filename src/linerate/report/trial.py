"""One trial in full: the verdict and how it is known, what to try, where its packets went."""

from collections.abc import Iterable, Iterator

from linerate.report import marks
from linerate.report.document import Heading, Note, Section
from linerate.report.figures import ceilings, percentiles, sankey
from linerate.report.verdict import sentences, verdict
from linerate.results.store import Result


def all_sections(results: Iterable[Result]) -> Iterator[Section]:
    """Sections of several trials."""
    for result in results:
        yield from sections(result)


def section_name(test: str) -> str:
    """Name of a test's section in a page."""
    return f"test-{test}"


def links(results: Iterable[Result]) -> dict[str, str]:
    """By a row's first cell, with its marks and without: the section of its test."""
    return {
        name: section_name(result.test)
        for result in results
        for name in (result.test, result.test + marks.marks(result))
    }


def sections(result: Result) -> list[Section]:
    """A section of its own; an invalid trial has no figures of a result."""
    title = Heading(result.test, section_name(result.test), result.text, marks.doubts(result))
    packets = sankey.picture(result)
    if result.valid:
        timed = [percentiles.of_trial(result)] if result.latency else []
        return [title, *verdict(result.verdict), packets, *timed, ceilings.picture(result)]
    return [
        title,
        Note("Invalid: no result, because", "warning"),
        sentences("", result.invalid),
        packets.under("What it counted nevertheless: evidence, no result"),
    ]
