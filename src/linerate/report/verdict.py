"""Verdicts: the limit, how it is known, the arithmetic, what to try."""

from collections.abc import Iterable

from linerate.analysis.explain import Verdict
from linerate.base.published import Output, published
from linerate.model.evidence import Evidence, Quote
from linerate.report import json_output
from linerate.report.document import Document, Heading, Listing, Note, Section, Table, table
from linerate.report.framed import filled, heading
from linerate.results.store import Result, Run

#: Unparsed lines that are shown; the rest is counted.
UNREAD_SHOWN = 5


class VerdictOnTest(Output):
    """The verdict on one test of a run."""

    test: str
    verdict: json_output.VerdictOutput


published("explain", "JSON of `linerate explain RUN --json`")(list[VerdictOnTest])


@published("explain-files", "JSON of `linerate explain FILE… --json`")
class FilesVerdict(Output):
    """The verdict on what other tools printed."""

    verdict: json_output.VerdictOutput
    #: Figures that can't be, and what else a reader should know.
    doubts: tuple[Quote, ...]
    #: Lines that no parser understood.
    unread: tuple[Quote, ...]
    #: Files that no parser understood, and why.
    left_out: tuple[str, ...] = ()


def of_run(run: Run, results: Iterable[Result]) -> Document:
    """Verdicts on some tests of a run."""
    chosen = list(results)
    sections: list[Section] = []
    for one in chosen:
        title = Heading(one.test, f"test-{one.test}", one.text)
        sections += [title, *verdict(one.verdict), ceilings(one.verdict)]
    return Document(
        title=heading(run),
        sections=filled(sections),
        data=lambda: [
            VerdictOnTest(test=one.test, verdict=json_output.verdict(one.verdict)) for one in chosen
        ],
        schema="explain",
        testbed=run.testbed,
    )


def of_files(evidence: Evidence, found: Verdict) -> Document:
    """The verdict on what other tools wrote, figures that can't be, lines that are not parsed."""
    sections = (*verdict(found), ceilings(found), *_leftovers(evidence))
    return Document(
        title="Verdict",
        sections=filled(sections),
        data=lambda: _of_files(evidence, found),
        schema="explain-files",
    )


def verdict(found: Verdict) -> list[Section]:
    """The limit in a sentence, and what it rests on."""
    named = ", ".join((found.limit, *found.also))
    return [
        Note(f" ({found.confidence} confidence): {found.sentence}", "text", named),
        _quotes("Evidence", found.evidence),
        table(
            "Dropped by configuration or for damage, no limit",
            ("place", "packets"),
            ((place, f"{packets:,}") for place, packets in found.configured.items()),
        ),
        sentences("What to try", found.try_),
        sentences("What to send next", found.send_next),
        *([Note(f"Rule from: {found.reference}")] if found.reference else []),
    ]


def ceilings(found: Verdict) -> Table:
    """Ceilings, and the arithmetic behind them."""
    rows = ((one.name, f"{one.mpps:,.2f}", one.derivation) for one in found.ceilings)
    return table("Ceilings", ("ceiling", "Mpps", "how it is known"), rows, words=(0, 2))


def sentences(title: str, lines: Iterable[str]) -> Listing:
    """A list of sentences."""
    return Listing(title, ("", ""), tuple(("", line) for line in lines))


def _quotes(title: str, quotes: Iterable[Quote]) -> Listing:
    lines = ((f"{one.source}:{one.line}", " ".join(one.text.split())) for one in quotes)
    return Listing(title, ("source", "text"), tuple(lines))


def _leftovers(evidence: Evidence) -> list[Section]:
    """Impossible figures, and unparsed lines."""
    shown, more = evidence.unread[:UNREAD_SHOWN], len(evidence.unread) - UNREAD_SHOWN
    title = f"{len(evidence.unread)} lines that linerate does not know"
    return [
        sentences("Also seen", (one.text for one in evidence.remarks)),
        sentences("Left out", evidence.left_out),
        _quotes("Doubts", evidence.doubts),
        _quotes(title, shown),
        *([Note(f"and {more} more (--json)")] if more > 0 else []),
    ]


def _of_files(evidence: Evidence, found: Verdict) -> FilesVerdict:
    return FilesVerdict(
        verdict=json_output.verdict(found),
        doubts=evidence.doubts,
        unread=evidence.unread,
        left_out=evidence.left_out,
    )
