"""Comparisons for people and programs: a table in a terminal, Markdown, JSON."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linerate.report import markdown
from linerate.report.terminal import mpps, plain_table
from linerate.results.compare import Change, Difference, Pair, Side, sentence
from linerate.results.statistics import p_text, repeats_needed

#: Largest changes of a test's ledgers that are printed.
CHANGES_A_TEST = 3
JUDGED = {
    "faster": "faster",
    "slower": "slower",
    "same": "no more than noise",
    "unknown": "too few repeats",
}
Row = tuple[str, ...]
COLUMNS = ("test", "base Mpps", "other Mpps", "change", "spreads", "p", "verdict")


def row(difference: Difference) -> Row:
    """One test, in text."""
    spreads = [
        "–" if rates.spread is None else mpps(rates.spread)
        for rates in (difference.base, difference.other)
    ]
    return (
        difference.test,
        mpps(difference.base.middle),
        mpps(difference.other.middle),
        "–" if difference.percent is None else f"{difference.percent:+.2f} %",
        " / ".join(spreads),
        p_text(difference.rank_test.p) if difference.rank_test.can_tell else "–",
        JUDGED[difference.judgement],
    )


def change_rows(changes: tuple[Change, ...], unit: str) -> list[Row]:
    """The largest changes of each test, in text."""
    rows: list[Row] = []
    taken: dict[str, int] = {}
    for change in changes:
        taken[change.test] = taken.get(change.test, 0) + 1
        if taken[change.test] <= CHANGES_A_TEST:
            figures = f"{change.base:.2f}", f"{change.other:.2f}", f"{change.by:+.2f}{unit}"
            rows.append((change.test, change.name, *figures))
    return rows


def sections(pair: Pair) -> list[tuple[str, Row, list[Row]]]:
    """Changes beside the rates: title, columns, rows; without empty ones."""
    columns = ("base", "other", "change")
    found: list[tuple[str, Row, list[Row]]] = [
        (
            "What changed in the losses, per cent of the packets sent",
            ("test", "place", *columns),
            change_rows(pair.losses, ""),
        ),
        (
            "Changes of cycles/packet, by node",
            ("test", "node", *columns),
            change_rows(pair.clocks, ""),
        ),
        ("What else was not the same", ("what", "base", "other"), list(pair.conditions)),
    ]
    return [section for section in found if section[2]]


def terminal(console: Console, pairs: list[Pair]) -> None:
    """Print each pair: one sentence, the rates, what changed."""
    for number, pair in enumerate(pairs):
        if number:
            console.print()
        console.print(Text(sentence(pair), "bold"))
        console.print()
        console.print(_table(COLUMNS, [row(difference) for difference in pair.rates], words=1))
        console.print(Text(f"base: {_named(pair.base)}; other: {_named(pair.other)}", "dim"))
        for title, columns, rows in sections(pair):
            console.print()
            console.print(Text(title, "bold"))
            words = len(columns) if columns[0] == "what" else 2
            console.print(_table(columns, rows, words=words))


def _table(columns: Row, rows: list[Row], words: int) -> Table:
    sides = ["left" if number < words else "right" for number in range(len(columns))]
    table = plain_table(*zip(columns, sides, strict=True))
    for column in table.columns[1:words]:
        column.no_wrap = False
        column.overflow = "fold"
    for cells in rows:
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _named(side: Side) -> str:
    count = len(side.runs)
    return side.name if count == 1 else f"{side.name} and {count - 1} more"


def as_markdown(pairs: list[Pair]) -> str:
    """The same as Markdown."""
    parts = []
    for pair in pairs:
        title = f"# {markdown.plain(pair.other.name)} against {markdown.plain(pair.base.name)}"
        parts += [title, f"**{markdown.plain(sentence(pair))}**"]
        parts.append(markdown.table(COLUMNS, [row(difference) for difference in pair.rates]))
        for heading, columns, rows in sections(pair):
            words = len(columns) if columns[0] == "what" else 2
            parts += [f"## {heading}", markdown.table(columns, rows, words=words)]
    return "\n\n".join(parts)


def as_json(pairs: list[Pair]) -> list[dict[str, Any]]:
    """The same for programs, figures unrounded."""
    return [
        {
            "base": pair.base.name,
            "other": pair.other.name,
            "sentence": sentence(pair),
            "tests": [
                {
                    "test": difference.test,
                    "base_pps": list(difference.base.trials),
                    "other_pps": list(difference.other.trials),
                    "base_median_pps": difference.base.middle,
                    "other_median_pps": difference.other.middle,
                    "base_spread_pps": difference.base.spread,
                    "other_spread_pps": difference.other.spread,
                    "ratio": difference.ratio,
                    "percent": difference.percent,
                    "judgement": difference.judgement,
                    "rank_test": {
                        "test": "Mann–Whitney, two-sided",
                        "p": difference.rank_test.p,
                        "can_tell": difference.rank_test.can_tell,
                        "repeats_needed": repeats_needed(),
                    },
                }
                for difference in pair.rates
            ],
            "held_back": list(pair.held_back),
            "losses_percent": [_change(change) for change in pair.losses],
            "clocks_per_packet": [_change(change) for change in pair.clocks],
            "conditions": [
                {"what": what, "base": base, "other": other}
                for what, base, other in pair.conditions
            ],
        }
        for pair in pairs
    ]


def _change(change: Change) -> dict[str, Any]:
    return {
        "test": change.test,
        "name": change.name,
        "base": change.base,
        "other": change.other,
        "change": change.by,
    }
