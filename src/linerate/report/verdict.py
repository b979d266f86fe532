"""A verdict in a terminal: the limit, why, the arithmetic, what to try."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from linerate.analysis.explain import Verdict
from linerate.model.evidence import Evidence, Quote
from linerate.report.terminal import LIMIT_STYLES, plain_table

#: Unparsed lines that are shown; the rest is counted.
UNREAD_SHOWN = 5


def report(console: Console, found: Verdict, title: str) -> None:
    """Print one verdict."""
    heading = Text(f"{title}  " if title else "", "bold")
    heading.append(found.limit, f"bold {LIMIT_STYLES.get(found.limit, 'yellow')}")
    if found.also:
        heading.append(f", also {', '.join(found.also)}")
    heading.append(f"  ({found.confidence} confidence)", "dim")
    console.print(heading)
    _indented(console, Text(f"{found.sentence}."))
    _evidence(console, found.evidence)
    _configured(console, found)
    _ceilings(console, found)
    if found.try_:
        console.print(Text("  What to try", "bold"))
        for line in found.try_:
            _indented(console, Text(line), left=4)
    if found.reference:
        _indented(console, Text(f"The rule: {found.reference}.", "dim"))
    console.print()


def _indented(console: Console, text: Text, left: int = 2) -> None:
    console.print(Padding(text, (0, 0, 0, left)))


def _evidence(console: Console, quotes: tuple[Quote, ...]) -> None:
    if not quotes:
        return
    console.print(Text("  Evidence", "bold"))
    for quote in quotes:
        line = Text(f"{quote.source}:{quote.line}  ", "cyan")
        line.append(" ".join(quote.text.split()), "none")
        _indented(console, line, left=4)


def _configured(console: Console, found: Verdict) -> None:
    if not found.configured:
        return
    console.print(Text("  Dropped by configuration or for damage, no limit", "bold"))
    for place, packets in found.configured.items():
        _indented(console, Text(f"{packets:>13,}  {place}"), left=4)


def _ceilings(console: Console, found: Verdict) -> None:
    if not found.ceilings:
        return
    table = plain_table(("ceiling", "left"), ("Mpps", "right"))
    table.add_column("from")
    for ceiling in found.ceilings:
        table.add_row(Text(ceiling.name), f"{ceiling.mpps:,.2f}", Text(ceiling.derivation))
    console.print(Padding(table, (0, 0, 0, 2)))


def leftovers(console: Console, evidence: Evidence) -> None:
    """Print impossible figures, and unparsed lines."""
    if evidence.doubts:
        console.print(Text("Not used, as it can't be", "bold"))
        for quote in evidence.doubts:
            _indented(console, Text(f"{quote.source}:{quote.line}  {quote.text}"))
    if evidence.unread:
        console.print(Text(f"{len(evidence.unread)} lines that linerate does not know", "bold"))
        for quote in evidence.unread[:UNREAD_SHOWN]:
            _indented(console, Text(f"{quote.source}:{quote.line}  {quote.text}"))
        if len(evidence.unread) > UNREAD_SHOWN:
            _indented(console, Text(f"and {len(evidence.unread) - UNREAD_SHOWN} more (--json)"))
