"""Output of `linerate nic probe kernel:INTERFACE`; it fits 80 columns."""

from collections import Counter

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from linerate.base.published import Output, published
from linerate.model.flow_rule_acting import summary
from linerate.model.kernel_rules import (
    COLUMNS,
    NTUPLE_ACTIONS,
    PATTERNS,
    TC_ACTIONS,
    KernelCell,
    KernelProbe,
)
from linerate.report.host import printable
from linerate.report.nic_probe import ACTING_WORDS, ActsOutput, letter, refusals
from linerate.report.plain_table import plain_table

LEGEND = (
    "sw: tc flower with skip_hw, in the kernel · hw: with skip_sw, in the NIC alone · nt: ntuple "
    "rules of ethtool. yes: taken · acts, idle, wide, part: taken, and tried with frames · "
    "a letter: refused, below."
)
_SHORT = {"tc skip_hw": "sw", "tc skip_sw": "hw", "ntuple": "nt"}


def show(console: Console, found: KernelProbe) -> None:
    """Print the table, why rules were refused, what acts, and how fast they are made."""
    driver = f", driver {found.driver}" if found.driver else ""
    console.print(f"rules of the kernel on {printable(found.interface)}{driver}", style="bold")
    if found.leftovers:
        console.print(f"removed first: {found.leftovers:,} rules of a probe that was killed")
    console.print()
    names = _reasons(found.cells)
    console.print(_table(found.cells, names))
    console.print()
    console.print(LEGEND, style="dim")
    console.print()
    if names:
        given = Counter(cell.refused for cell in found.cells)
        console.print(
            refusals((name, given[text], printable(text)) for text, name in names.items())
        )
        console.print()
    _show_acting(console, found.cells)
    for one in found.rates:
        console.print(
            f"{one.way}: {one.rules:,} rules made by one tc -b in {one.create_s:.3f} s, "
            f"{one.rules / one.create_s:,.0f} a second; removed in {one.remove_s:.3f} s"
        )
    if not found.rates:
        console.print("no tc rule for a flow could be made: none to time")


def _reasons(cells: list[KernelCell]) -> dict[str, str]:
    found = dict.fromkeys(cell.refused for cell in cells if cell.refused is not None)
    return {reason: letter(number) for number, reason in enumerate(found)}


def _table(cells: list[KernelCell], names: dict[str, str]) -> Table:
    heads = [(f"{_SHORT[way]} {action}", "left") for way, action in COLUMNS]
    shown = plain_table(("pattern", "left"), *_narrow(heads), gap=1)
    for pattern in PATTERNS:
        row = [cell for cell in cells if cell.pattern == pattern]
        shown.add_row(pattern.name, *(_word(cell, names) for cell in row))
    return shown


def _narrow(heads: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Heads on two lines: ten columns, and 80 characters."""
    return [(name.replace(" ", "\n"), side) for name, side in heads]


def _word(cell: KernelCell, names: dict[str, str]) -> str:
    if cell.refused is not None:
        return names[cell.refused]
    taken = "yes" if cell.acting is None else ACTING_WORDS[cell.acting.outcome]
    # Asked for hardware alone, and tc says that the hardware has it not.
    return f"{taken}!" if cell.way == "tc skip_sw" and cell.in_hw is False else taken


def _show_acting(console: Console, cells: list[KernelCell]) -> None:
    tried = [(cell, cell.acting) for cell in cells if cell.acting is not None]
    if not tried:
        return
    console.print(summary(acting.outcome for _, acting in tried))
    reasons = [acting.detail for _, acting in tried if acting.outcome == "not tried"]
    for why in dict.fromkeys(reasons):
        text = f"not tried, {reasons.count(why)}×: {why}"
        console.print(Padding(text, (0, 0, 0, 2)), soft_wrap=False)
    for cell, acting in tried:
        if acting.outcome not in ("acts", "not tried"):
            text = f"{cell.pattern.name}, {cell.way} {cell.action}: {acting.outcome}"
            console.print(Padding(f"{text}: {acting.detail}", (0, 0, 0, 2)), soft_wrap=False)
    console.print()


class KernelCellOutput(Output):
    """One pattern with one action, in one way."""

    pattern: str
    #: `tc skip_hw`, `tc skip_sw`, `ntuple`.
    way: str
    action: str
    #: In the words of `tc` or `ethtool`.
    rule: str
    accepted: bool
    reason: str | None
    #: Whether the NIC has it; None: tc does not say.
    in_hw: bool | None
    acts: ActsOutput | None


class KernelRateOutput(Output):
    """Rules made by one run of tc."""

    way: str
    rules: int
    create_s: float
    create_per_s: float
    remove_s: float


@published("nic-probe-kernel", "JSON of `linerate nic probe kernel:INTERFACE --json`")
class KernelProbeOutput(Output):
    """Rules that an interface's driver takes in the kernel."""

    interface: str
    driver: str
    #: Rules of a probe that was killed, removed first.
    leftovers: int
    table: tuple[KernelCellOutput, ...]
    rates: tuple[KernelRateOutput, ...]


def output(found: KernelProbe) -> KernelProbeOutput:
    """For programs."""
    return KernelProbeOutput(
        interface=found.interface,
        driver=found.driver,
        leftovers=found.leftovers,
        table=tuple(map(_cell, found.cells)),
        rates=tuple(
            KernelRateOutput(
                way=one.way,
                rules=one.rules,
                create_s=one.create_s,
                create_per_s=one.rules / one.create_s,
                remove_s=one.remove_s,
            )
            for one in found.rates
        ),
    )


def _cell(cell: KernelCell) -> KernelCellOutput:
    pattern = cell.pattern
    ntuple = f"flow-type {pattern.ntuple} {NTUPLE_ACTIONS.get(cell.action, '')}"
    flower = f"protocol {pattern.flower} {cell.way.removeprefix('tc ')}"
    is_ntuple = cell.way == "ntuple"
    return KernelCellOutput(
        pattern=pattern.name,
        way=cell.way,
        action=cell.action,
        rule=ntuple if is_ntuple else f"{flower} {TC_ACTIONS[cell.action]}",
        accepted=cell.refused is None,
        reason=cell.refused,
        in_hw=cell.in_hw,
        acts=cell.acting and ActsOutput.model_validate(cell.acting),
    )
