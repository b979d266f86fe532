"""Output of `linerate nic probe`; it fits 80 columns."""

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from linerate.base.published import Output, published
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_acting import Acting, Outcome, summary
from linerate.model.flow_rule_results import (
    OCCUPANCY_PARTS,
    Batch,
    Cell,
    Filling,
    Refusal,
    Times,
    times,
)
from linerate.report.plain_table import plain_table

#: Length of the longest bar.
BAR_WIDTH = 30
#: Rules that do not act as they say, of which the terminal shows what was seen.
AMISS_SHOWN = 12
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LEGEND = (
    "yes: validated and created · valid: validated, not tried · a letter: refused, below · "
    "a!: validated, then refused by create. mark+q, flag+q and cnt+q (count) with a queue; "
    "pass: passthru."
)
#: The legend of rules that were tried with frames.
ACTING_LEGEND = (
    "Created, and tried with frames: acts · idle: taken, and does nothing · wide: acts on "
    "others too · part: acts in part."
)
ACTING_WORDS: dict[Outcome, str] = {
    "acts": "acts",
    "does nothing": "idle",
    "acts on others": "wide",
    "acts in part": "part",
    "not tried": "yes",
}


def letter(number: int) -> str:
    """Name a reason: a … z, aa …."""
    high, low = divmod(number, len(LETTERS))
    return (letter(high - 1) if high else "") + LETTERS[low]


def reasons(cells: list[Cell]) -> dict[Refusal, str]:
    """Letters of the reasons why there can be no rule."""
    found = dict.fromkeys(cell.reason for cell in cells if cell.reason is not None)
    return {reason: letter(number) for number, reason in enumerate(found)}


def word(cell: Cell, names: dict[Refusal, str]) -> str:
    """One cell of the table."""
    if cell.reason is not None:
        return names[cell.reason] + ("!" if cell.not_created else "")
    if cell.acting is not None:
        return ACTING_WORDS[cell.acting.outcome]
    return "yes" if cell.created else "valid"


def print_table(console: Console, cells: list[Cell]) -> None:
    """Print patterns by actions, and each reason once."""
    names = reasons(cells)
    heads = [(actions.name, "left") for actions in flow_rule_patterns.ACTIONS]
    shown = plain_table(("pattern", "left"), *heads, gap=1)
    for pattern in flow_rule_patterns.PATTERNS:
        row = [cell for cell in cells if cell.pattern == pattern]
        shown.add_row(pattern.name, *(word(cell, names) for cell in row))
    console.print(shown)
    console.print()
    console.print(LEGEND, style="dim")
    if any(cell.acting is not None and cell.acting.outcome != "not tried" for cell in cells):
        console.print(ACTING_LEGEND, style="dim")
    if names:
        console.print()
        given = Counter(cell.reason for cell in cells)
        rows = ((name, given[reason], str(reason)) for reason, name in names.items())
        console.print(refusals(rows))


def refusals(rows: Iterable[tuple[str, int, str]]) -> Table:
    """Legend of refusals: the name of each in the table, how often it was given, its text."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for name, count, text in rows:
        table.add_row(name, f"{count}×", text)
    return table


def print_acting(console: Console, cells: list[Cell]) -> None:
    """Print whether rules act: how many, each that does not, and why others were not tried."""
    tried = [(cell, cell.acting) for cell in cells if cell.acting is not None]
    if not tried:
        return
    console.print(summary(acting.outcome for _, acting in tried))
    untried = Counter(acting.detail for _, acting in tried if acting.outcome == "not tried")
    for why, count in untried.items():
        console.print(Padding(f"not tried, {count}×: {why}", (0, 0, 0, 2)), soft_wrap=False)
    amiss = [one for one in tried if one[1].outcome not in ("acts", "not tried")]
    if amiss:
        console.print()
        console.print(_amiss(amiss[:AMISS_SHOWN]))
        if len(amiss) > AMISS_SHOWN:
            console.print(f"and {len(amiss) - AMISS_SHOWN:,} more: --json and --html have all")


def _amiss(rows: list[tuple[Cell, Acting]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("pattern", "actions", ""):
        table.add_column(name, no_wrap=True)
    table.add_column("seen")
    for cell, acting in rows:
        word = ACTING_WORDS[acting.outcome]
        table.add_row(cell.pattern.name, cell.actions.name, word, acting.detail)
    return table


def print_filling(console: Console, filling: Filling) -> None:
    """Print how many rules fit, and what they took."""
    console.print(how_many(filling))
    if filling.first_refusal is not None:
        console.print(Padding(str(filling.first_refusal), (0, 0, 0, 2)), soft_wrap=False)
    print_times(console, filling)
    if filling.batch is not None:
        console.print(batch_line(filling.batch, filling.create_ns), soft_wrap=False)
    print_occupancy(console, filling)


def how_many(filling: Filling) -> str:
    """Number of rules that fit, in words."""
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


def batch_line(batch: Batch, one_by_one_ns: list[int]) -> str:
    """The asynchronous API beside calls one by one."""
    if batch.refusal is not None:
        return f"asynchronous rte_flow API: none ({batch.refusal.message})"
    singly = per_second(len(one_by_one_ns), sum(one_by_one_ns))
    return (
        f"asynchronous rte_flow API: {batch.created:,} rules at "
        f"{per_second(batch.created, batch.create_ns):,.0f} a second, removed at "
        f"{per_second(batch.destroyed, batch.destroy_ns):,.0f} (one by one: {singly:,.0f})"
    )


def per_second(count: int, ns: int) -> float:
    """A rate; 0 of nothing."""
    return count * 1e9 / ns if ns else 0.0


def print_occupancy(console: Console, filling: Filling) -> None:
    """Print how long creating a rule takes as the table fills."""
    parts = filling.create_by_occupancy()
    if len(parts) < OCCUPANCY_PARTS:
        return
    longest = max(part.median for _, part in parts)
    console.print()
    console.print("µs to create a rule, by how many stood before")
    shown = plain_table(("rules", "right"), ("median", "right"), ("p99", "right"), ("", "left"))
    for rules, part in parts:
        bar = "█" * max(1, round(BAR_WIDTH * part.median / max(1, longest)))
        shown.add_row(f"{rules:,}", f"{part.median / 1e3:,.1f}", f"{part.p99 / 1e3:,.1f}", bar)
    console.print(shown)


def _microseconds(taken: Times) -> list[str]:
    ranks = (taken.min, taken.median, taken.p99, taken.max)
    return [*(f"{ns / 1e3:,.1f}" for ns in ranks), f"{taken.count:,}"]


class RefusalOutput(Output):
    """Why a driver refused a rule."""

    errno: str
    #: As in rte_flow_error.
    type: str
    cause: str
    message: str


class TimesOutput(Output):
    """Durations of orders."""

    count: int
    min_us: float
    median_us: float
    p99_us: float
    max_us: float


class OccupancyOutput(TimesOutput):
    """Durations of creating a rule, by the number of rules that stood."""

    #: Before the first of them was created.
    rules: int


class BatchOutput(Output):
    """Rules made and removed through rte_flow's asynchronous API."""

    #: None: the port has it.
    reason: RefusalOutput | None
    #: Operations that the device's queue holds.
    queue_size: int
    created: int
    removed: int
    create_per_s: float
    remove_per_s: float


class FillingOutput(Output):
    """Number of rules that fit, and their programming times."""

    rule: str
    max_rules: int
    created: int
    #: Whether more were refused.
    full: bool
    #: Rules that stood when one was refused for the first time; None: none was.
    before_first_refusal: int | None
    first_refusal: RefusalOutput | None
    create: TimesOutput | None
    #: Ten parts of the filling, the first rules first.
    create_by_occupancy: tuple[OccupancyOutput, ...]
    remove: TimesOutput | None
    #: None: not asked.
    batch: BatchOutput | None
    not_removed: RefusalOutput | None


class ActsOutput(Output):
    """Effect of a rule on frames that it is for and on others."""

    outcome: Outcome
    #: Words on what was seen, or why it was not tried.
    detail: str


class CellOutput(Output):
    """One pattern with one choice of actions."""

    pattern: str
    actions: str
    rule: str
    validated: bool
    created: bool
    reason: RefusalOutput | None
    #: None: not created, or no frames were to be sent.
    acts: ActsOutput | None


@published("nic-probe", "JSON of `linerate nic probe --json`")
class ProbeOutput(Output):
    """Rules that a port takes, and how many."""

    port: str
    table: tuple[CellOutput, ...]
    #: None where no rule could be made, or none was to be.
    rules: FillingOutput | None


@published("nic-probe-rule", "JSON of `linerate nic probe --rule TEXT --json`")
class RuleOutput(Output):
    """One rule on a port."""

    port: str
    rule: str
    validated: bool
    reason: RefusalOutput | None
    rules: FillingOutput


def probe_output(port: str, cells: list[Cell], filling: Filling | None) -> ProbeOutput:
    """The table as JSON."""
    table = tuple(
        CellOutput(
            pattern=cell.pattern.name,
            actions=cell.actions.name,
            rule=cell.rule,
            validated=cell.refused is None,
            created=cell.created,
            reason=_refusal(cell.reason),
            acts=cell.acting and ActsOutput.model_validate(cell.acting),
        )
        for cell in cells
    )
    return ProbeOutput(port=port, table=table, rules=filling and filling_output(filling))


def rule_output(port: str, refusal: Refusal | None, filling: Filling) -> RuleOutput:
    """One rule as JSON; `refusal` is validate's."""
    return RuleOutput(
        port=port,
        rule=filling.rule,
        validated=refusal is None,
        reason=_refusal(refusal or filling.first_refusal),
        rules=filling_output(filling),
    )


def filling_output(filling: Filling) -> FillingOutput:
    """Times in microseconds."""
    return FillingOutput(
        rule=filling.rule,
        max_rules=filling.max_rules,
        created=filling.created,
        full=filling.full,
        before_first_refusal=filling.before_first_refusal,
        first_refusal=_refusal(filling.first_refusal),
        create=_times(times(filling.create_ns)),
        create_by_occupancy=tuple(_occupancy(filling)),
        remove=_times(times(filling.remove_ns)),
        batch=filling.batch and _batch(filling.batch),
        not_removed=_refusal(filling.not_removed),
    )


def _occupancy(filling: Filling) -> Iterator[OccupancyOutput]:
    for rules, part in filling.create_by_occupancy():
        if (taken := _times(part)) is not None:
            yield OccupancyOutput(rules=rules, **dict(taken))


def _batch(batch: Batch) -> BatchOutput:
    return BatchOutput(
        reason=_refusal(batch.refusal),
        queue_size=batch.queue_size,
        created=batch.created,
        removed=batch.destroyed,
        create_per_s=per_second(batch.created, batch.create_ns),
        remove_per_s=per_second(batch.destroyed, batch.destroy_ns),
    )


def _refusal(one: Refusal | None) -> RefusalOutput | None:
    return None if one is None else RefusalOutput.model_validate(one)


def _times(ns: Times | None) -> TimesOutput | None:
    if ns is None:
        return None
    return TimesOutput(
        count=ns.count,
        min_us=ns.min / 1e3,
        median_us=ns.median / 1e3,
        p99_us=ns.p99 / 1e3,
        max_us=ns.max / 1e3,
    )
