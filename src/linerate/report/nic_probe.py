"""Output of `linerate nic probe`; it fits 80 columns."""

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_results import Cell, Filling, Refusal, Times, times
from linerate.report.terminal import plain_table

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LEGEND = (
    "yes: validated and created · valid: validated, not tried · a letter: refused, below · "
    "a!: validated, then refused by create. mark+q, flag+q and cnt+q (count) with a queue; "
    "pass: passthru."
)


def letter(number: int) -> str:
    """Name a reason: a … z, aa …."""
    high, low = divmod(number, len(LETTERS))
    return (letter(high - 1) if high else "") + LETTERS[low]


def _reasons(cells: list[Cell]) -> dict[Refusal, str]:
    found = dict.fromkeys(cell.reason for cell in cells if cell.reason is not None)
    return {reason: letter(number) for number, reason in enumerate(found)}


def _word(cell: Cell, names: dict[Refusal, str]) -> str:
    if cell.reason is not None:
        return names[cell.reason] + ("!" if cell.not_created else "")
    return "yes" if cell.created else "valid"


def print_table(console: Console, cells: list[Cell]) -> None:
    """Print patterns by actions, and each reason once."""
    names = _reasons(cells)
    heads = [(actions.name, "left") for actions in flow_rule_patterns.ACTIONS]
    shown = plain_table(("pattern", "left"), *heads, gap=1)
    for pattern in flow_rule_patterns.PATTERNS:
        row = [cell for cell in cells if cell.pattern == pattern]
        shown.add_row(pattern.name, *(_word(cell, names) for cell in row))
    console.print(shown)
    console.print()
    console.print(LEGEND, style="dim")
    if names:
        console.print()
        console.print(_legend(cells, names))


def _legend(cells: list[Cell], names: dict[Refusal, str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for reason, name in names.items():
        count = sum(1 for cell in cells if cell.reason == reason)
        table.add_row(name, f"{count}×", str(reason))
    return table


def print_filling(console: Console, filling: Filling) -> None:
    """Print how many rules fit, and what they took."""
    console.print(_how_many(filling))
    if filling.first_refusal is not None:
        console.print(Padding(str(filling.first_refusal), (0, 0, 0, 2)), soft_wrap=False)
    print_times(console, filling)


def _how_many(filling: Filling) -> str:
    if filling.first_refusal is None:
        return f"rules that fit: at least {filling.created:,} (no more were tried)"
    return (
        f"rules that fit: {filling.before_first_refusal:,} before one was refused, "
        f"{filling.created:,} in all{'' if filling.full else ' (no more were tried)'}"
    )


def print_times(console: Console, filling: Filling) -> None:
    """Print what making and removing a rule took."""
    shown = plain_table(
        ("µs", "left"),
        *((name, "right") for name in ("min", "median", "p99", "max", "rules")),
    )
    for name, taken in (("create", filling.create_ns), ("remove", filling.remove_ns)):
        if (summed := times(taken)) is not None:
            shown.add_row(name, *_microseconds(summed))
    console.print(shown)
    if filling.not_removed is not None:
        console.print(f"a rule could not be removed: {filling.not_removed}", style="red")


def _microseconds(taken: Times) -> list[str]:
    ranks = (taken.min, taken.median, taken.p99, taken.max)
    return [*(f"{ns / 1e3:,.1f}" for ns in ranks), f"{taken.count:,}"]


def document(cells: list[Cell]) -> list[dict[str, Any]]:
    """The table as JSON."""
    return [
        {
            "pattern": cell.pattern.name,
            "actions": cell.actions.name,
            "rule": cell.rule,
            "validated": cell.refused is None,
            "created": cell.created,
            "reason": cell.reason and cell.reason.document(),
        }
        for cell in cells
    ]
