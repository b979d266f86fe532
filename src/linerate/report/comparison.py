"""A comparison of runs as a document."""

from functools import partial
from typing import Any

from linerate.report.document import (
    Document,
    Heading,
    Note,
    Section,
    Table,
    figures,
    sentences,
    text,
)
from linerate.report.figures.compared import bars
from linerate.report.terminal import mpps
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
COLUMNS = (
    *text("test"),
    *figures("base Mpps", "other Mpps", "change", "spreads", "p"),
    *text("verdict"),
)


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


def document(pairs: list[Pair]) -> Document:
    """All pairs, which have one base: their outcomes, bars, and a section for each."""
    names = [pairs[0].base.name, *(pair.other.name for pair in pairs)]
    outcomes = [Note(sentence(pair), "verdict") for pair in pairs]
    parts = [part for number, pair in enumerate(pairs, start=1) for part in _pair(number, pair)]
    return Document(
        title=" against ".join(reversed(names)),
        sections=(*outcomes, bars(pairs), *parts),
        data=partial(as_json, pairs),
        page_title="linerate comparison",
    )


def _pair(number: int, pair: Pair) -> list[Section]:
    """Rates, then all else that was not the same; empty tables left out."""
    title = f"{_named(pair.other)} against {_named(pair.base)}"
    rates = Table("Rates", COLUMNS, tuple(map(row, pair.rates)), titled=False)
    columns = figures("base", "other", "change")
    changes = (
        Table(
            "What changed in the losses, per cent of the packets sent",
            (*text("test"), *sentences("place"), *columns),
            tuple(change_rows(pair.losses, "")),
        ),
        Table(
            "Changes of cycles/packet, by node",
            (*text("test"), *sentences("node"), *columns),
            tuple(change_rows(pair.clocks, "")),
        ),
        Table(
            "What else was not the same",
            (*text("what"), *sentences("base", "other")),
            tuple(pair.conditions),
        ),
    )
    return [
        Heading(title, f"pair-{number}"),
        rates,
        *(table for table in changes if table.rows),
    ]


def _named(side: Side) -> str:
    count = len(side.runs)
    return side.name if count == 1 else f"{side.name} and {count - 1} more"


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
