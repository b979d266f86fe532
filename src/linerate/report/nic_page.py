"""A page of what `linerate nic probe` found: rules by patterns and actions, times as it fills."""

from collections.abc import Iterator

from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_acting import summary
from linerate.model.flow_rule_results import Cell, Filling
from linerate.report.document import (
    Document,
    Figure,
    Note,
    Section,
    Style,
    Table,
    figures,
    sentences,
    text,
)
from linerate.report.figures.picture import BLUE, ORANGE, layout
from linerate.report.host import printable
from linerate.report.nic_probe import (
    ACTING_LEGEND,
    LEGEND,
    batch_line,
    how_many,
    probe_output,
    reasons,
    word,
)

CURVE = "create-by-occupancy"
CURVE_TITLE = "µs to create a rule, by how many stood before"


def document(port: str, cells: list[Cell], filling: Filling | None) -> Document:
    """The same as in a terminal, and times as a curve."""
    return Document(
        f"rte_flow on {printable(port)}",
        tuple(_sections(cells, filling)),
        data=lambda: probe_output(port, cells, filling),
        schema="nic-probe",
    )


def _sections(cells: list[Cell], filling: Filling | None) -> Iterator[Section]:
    acting = [cell.acting for cell in cells if cell.acting is not None]
    if acting:
        yield Note(summary(one.outcome for one in acting), "verdict")
    yield _rules(cells)
    yield Note(LEGEND)
    if acting:
        yield Note(ACTING_LEGEND)
    yield from _amiss(cells)
    names = reasons(cells)
    if names:
        rows = tuple((name, printable(str(reason))) for reason, name in names.items())
        yield Table("Refusals", (*text(""), *sentences("reason")), rows)
    if filling is not None:
        yield Note(how_many(filling), "text")
        yield from curve(filling)
        if filling.batch is not None:
            yield Note(printable(batch_line(filling.batch, filling.create_ns)), "text")


def _rules(cells: list[Cell]) -> Table:
    names = reasons(cells)
    columns = text("pattern", *(actions.name for actions in flow_rule_patterns.ACTIONS))
    rows = tuple(
        (pattern.name, *(word(cell, names) for cell in cells if cell.pattern == pattern))
        for pattern in flow_rule_patterns.PATTERNS
    )
    return Table("Rules", columns, rows)


def _amiss(cells: list[Cell]) -> Iterator[Table]:
    rows = tuple(
        (cell.pattern.name, cell.actions.name, cell.acting.outcome, printable(cell.acting.detail))
        for cell in cells
        if cell.acting is not None and cell.acting.outcome not in ("acts", "not tried")
    )
    if rows:
        columns = (*text("pattern", "actions", "outcome"), *sentences("seen"))
        yield Table("Rules that are taken and do not act as they say", columns, rows)


def curve(filling: Filling) -> Iterator[Figure]:
    """Median and p99 over the number of rules that stood; nothing of one part."""
    parts = filling.create_by_occupancy()
    if len(parts) < 2:
        return
    counts = [rules for rules, _ in parts]
    ranks = {
        "median": ([part.median / 1e3 for _, part in parts], BLUE),
        "p99": ([part.p99 / 1e3 for _, part in parts], ORANGE),
    }
    yield Figure(
        name=CURVE,
        title=CURVE_TITLE,
        alt="; ".join(
            f"{name} {values[0]:,.1f} µs at first, {values[-1]:,.1f} µs at last"
            for name, (values, _) in ranks.items()
        ),
        plot={
            "data": [
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": name,
                    "x": counts,
                    "y": values,
                    "line": {"color": colour},
                    "hovertemplate": f"%{{x:,}} rules: {name} %{{y:,.1f}} µs<extra></extra>",
                }
                for name, (values, colour) in ranks.items()
            ],
            "layout": layout(
                300,
                xaxis={"title": {"text": "rules"}},
                yaxis={"title": {"text": "µs"}, "rangemode": "tozero"},
            ),
        },
        table=Table(
            CURVE_TITLE,
            figures("rules", *ranks),
            tuple(
                (f"{count:,}", *(f"{values[at]:,.1f}" for values, _ in ranks.values()))
                for at, count in enumerate(counts)
            ),
            titled=False,
        ),
        legend=tuple((name, Style(colour)) for name, (_, colour) in ranks.items()),
    )
