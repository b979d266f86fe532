"""One trial in full: the verdict and how it is known, what to try, where its packets went."""

from collections.abc import Iterable, Iterator

from linerate.report.document import Heading, Note, Section
from linerate.report.figures import ceilings, sankey
from linerate.report.verdict import sentences, verdict
from linerate.results.store import Result


def all_sections(results: Iterable[Result]) -> Iterator[Section]:
    """Sections of several trials."""
    for result in results:
        yield from sections(result)


def sections(result: Result) -> list[Section]:
    """A section of its own; an invalid trial has no figures of a result."""
    title = Heading(result.test, f"test-{result.test}", result.text)
    packets = sankey.picture(result)
    if result.valid:
        return [title, *verdict(result.verdict), packets, ceilings.picture(result)]
    return [
        title,
        Note("Invalid: no result, because", "warning"),
        sentences("", result.invalid),
        packets.under("What it counted nevertheless: evidence, no result"),
    ]
