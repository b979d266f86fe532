"""`linerate nic probe`: progress while it tries, a table or JSON when it has."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from linerate.base.errors import UserError
from linerate.base.published import Envelope, enveloped, json_text, printed
from linerate.cli.commands.report import write
from linerate.cli.completion import one_of
from linerate.cli.options import JsonOption
from linerate.cli.run_into_folder import BY_SIGNAL, Piped, new_progress, signals
from linerate.cli.usage import FAILED, USAGE, mistaken
from linerate.experiments.bench import Interrupted
from linerate.experiments.nic_probe import acting, kernel_probing, probing
from linerate.experiments.nic_probe.card_report import card_report
from linerate.experiments.nic_probe.kernel_port import KernelPort
from linerate.experiments.nic_probe.kernel_sender import between
from linerate.experiments.nic_probe.opening import CARD, CARDS, Opened, TargetError, opened
from linerate.experiments.nic_probe.peered import IN_USE, NO_PEER, Ends, peer_of, peered
from linerate.experiments.nic_probe.probing import Step
from linerate.experiments.nic_probe.rules import RuleTextError
from linerate.host.doctor import Host
from linerate.host.doctor.nics import nics
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_results import Cell, Filling
from linerate.model.kernel_rules import PATTERNS as KERNEL_PATTERNS
from linerate.report import kernel_probe, nic_comparison, nic_page, nic_probe
from linerate.report.host import printable
from linerate.report.render import html, terminal
from linerate.results.nic_probes import difference, read_nic_probe
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

#: Rules that a batch has at most: what the engine takes in one order.
BATCH_MAX = 10_000

#: PORT that is a Linux interface with its kernel driver.
KERNEL = "kernel:"

nic = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="What a NIC can do, found out by trying.",
)


@nic.callback()
def _group() -> None:
    """Options of the group itself: none."""


@nic.command(
    epilog="Examples:\n\n[bold]linerate nic probe card:x710[/] # the virtual card's flow table\n\n"
    "[bold]linerate nic probe 0000:05:00.0 --max-rules 2000[/] # a NIC bound to DPDK\n\n"
    "[bold]linerate nic probe kernel:eth0 --peer eth1[/] # what its kernel driver takes\n\n"
    '[bold]linerate nic probe card --rule "ingress pattern eth / ipv4 / end actions drop / end"[/]'
)
def probe(
    port: Annotated[
        str,
        typer.Argument(
            help=f"card (as card:{CARD}), card:PRESET, card:JSON; a PCI address or a device as "
            "net_tap0,iface=x; kernel:INTERFACE (tc, ethtool); or a port of a running engine.",
            metavar="PORT",
            autocompletion=one_of(["card", *(f"card:{name}" for name in CARDS)]),
        ),
    ],
    rule: Annotated[
        str | None,
        typer.Option(help="Try this rule alone, in testpmd's syntax.", metavar="TEXT"),
    ] = None,
    max_rules: Annotated[
        int, typer.Option(help="Largest number of rules.", min=1, max=1 << 20)
    ] = 10_000,
    queues: Annotated[
        int | None, typer.Option(help="Number of rx queues of the port.", min=1, max=16)
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Which engine, if several have PORT.", metavar="NAME")
    ] = None,
    create: Annotated[
        bool,
        typer.Option("--create", help="On a running engine's port, make rules too, not only ask."),
    ] = False,
    peer: Annotated[
        str | None,
        typer.Option(
            help="The other end of PORT's link, to send frames from: an interface, a PCI address "
            "or a device of DPDK.",
            metavar="PORT",
        ),
    ] = None,
    frames: Annotated[
        bool,
        typer.Option("--frames/--no-frames", help="Send frames, to see whether rules act."),
    ] = True,
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page with all of it here.", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find out which rte_flow rules a port takes, how many, how fast, and whether they act."""
    console = Console()
    if port.startswith(KERNEL):
        raise typer.Exit(_kernel(console, port.removeprefix(KERNEL), peer, max_rules, as_json))
    try:
        with signals():
            ends = Ends(port, peer_of(port, peer), queues)
            with opened(port, engine, queues) as target:
                creating = create or not target.live
                if rule is not None:
                    raise typer.Exit(_one(console, target, rule, creating, as_json))
                found = _taken(target, max_rules, creating)
            if frames and creating:
                why_not = IN_USE if target.live else "" if ends.peer else NO_PEER
                found = replace(found, cells=_acting(ends, found.cells, why_not))
            if page is not None:
                made = nic_page.document(found.port, found.cells, found.filling)
                write(page, html.page(made).html)
            _show(console, found, creating, as_json)
    except TargetError as error:
        complain(f"the command line: {error}")
        raise typer.Exit(USAGE) from error
    except RuleTextError as error:
        complain(error.shown())
        raise typer.Exit(USAGE) from error
    except Interrupted as interrupted:
        raise typer.Exit(BY_SIGNAL + interrupted.signal_number) from interrupted


@nic.command(
    "report",
    epilog="Examples:\n\n"
    "[bold]linerate nic report 0000:05:00.0[/] # writes nic-0000-05-00.0.json\n\n"
    "[bold]linerate nic probe 0000:05:00.0 --json > probe.json[/]\n\n"
    "[bold]linerate nic report 05:00.0 --probe probe.json[/] # with the rules that it takes",
)
def write_report(
    port: Annotated[
        str, typer.Argument(help="PCI address or interface of the NIC.", metavar="PORT")
    ],
    probe_file: Annotated[
        Path | None,
        typer.Option("--probe", help="What `linerate nic probe --json` printed.", metavar="FILE"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="The file; else nic-ADDRESS.json here.", metavar="FILE")
    ] = None,
    root: Annotated[Path, typer.Option(help="A recorded host's folder.", metavar="FOLDER")] = Path(
        "/"
    ),
    as_json: JsonOption = False,
) -> None:
    """Write a file to attach to a report on a NIC: no serial numbers, MAC addresses cut short."""
    host = Host(root)
    found = nics(host, (port,))
    if not found:
        mistaken(f"'{port}': no such NIC: expected a PCI address or an interface, as 0000:05:00.0")
    document = card_report(host, found[0], _probed(probe_file))
    text = json_text(_anonymous(document))
    if as_json:
        say(text)
        return
    path = output or Path(f"nic-{found[0].address.replace(':', '-')}.json")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        mistaken(f"{path}: {(error.strerror or str(error)).lower()}; name another with --output")
    say("\n".join(printable(line) for line in document["summary"]))
    say(f"written to {path}")


def _anonymous(document: dict[str, Any]) -> Envelope:
    """The report in its envelope, without the host's name and the paths of files."""
    named = enveloped("nic-report", document)
    return named.model_copy(update={"host": "", "command": ("linerate", "nic", "report")})


@nic.command(
    epilog="Examples:\n\n"
    "[bold]linerate nic compare fw20.json fw22.json[/] # what a firmware gained and lost\n\n"
    "[bold]linerate nic compare nic-a.json nic-b.json --json[/] # reports, with their drivers",
)
def compare(
    before: Annotated[
        Path,
        typer.Argument(
            help="What `nic probe --json` printed, or a report with it.", metavar="BEFORE"
        ),
    ],
    after: Annotated[Path, typer.Argument(help="The same, later.", metavar="AFTER")],
    as_json: JsonOption = False,
) -> None:
    """Compare two probes: rules gained and lost, how many fit, how fast, which releases.

    Exit codes: 0 where no rule was lost, else 1.
    """
    found = difference(read_nic_probe(before), read_nic_probe(after))
    if as_json:
        say(printed("nic-compare", nic_comparison.output(found)))
    else:
        terminal.show(Console(), nic_comparison.document((before.name, after.name), found))
    raise typer.Exit(FAILED if found.lost else 0)


def _probed(path: Path | None) -> object:
    """Read what a probe printed."""
    if path is None:
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return found.get("result", found)
    except (OSError, ValueError, AttributeError) as error:
        why = (error.strerror or "").lower() if isinstance(error, OSError) else ""
        mistaken(f"--probe: {path}: {why or 'expected what nic probe --json printed'}")


@contextmanager
def _bar(total: int) -> Iterator[Step]:
    """Show how far it is, on standard error, to people who watch."""
    progress = new_progress()
    piped = Piped()
    task = progress.add_task("starting", total=total)
    shown = -1

    def step(text: str, done: int) -> None:
        nonlocal shown
        if done * 100 // total != shown:
            shown = done * 100 // total
            progress.update(task, description=text, completed=done)
            progress.refresh()
            if progress.disable:
                piped.step(f"{text}, {done:,} of {total:,}")

    with progress:
        yield step


@dataclass(frozen=True, slots=True)
class Found:
    """Rules that a port takes, and how many."""

    port: str
    cells: list[Cell]
    filling: Filling | None


def _taken(target: Opened, max_rules: int, creating: bool) -> Found:
    with _bar(len(flow_rule_patterns.PATTERNS)) as step:
        cells = probing.table(target.rules, probing.make if creating else probing.ask, step)
    chosen = probing.best(cells)
    filling: Filling | None = None
    if chosen is not None:
        filling = _filled(target, chosen, max_rules)
    elif not target.live:
        filling = probing.batch_alone(target.rules, cells, BATCH_MAX)
    return Found(target.text, cells, filling)


def _acting(ends: Ends, cells: list[Cell], why_not: str) -> list[Cell]:
    """Try with frames whether the rules act, where there is an end that can send them."""
    made = [cell for cell in cells if cell.created]
    if not made:
        return cells
    if why_not:
        return acting.untried(cells, why_not)
    with _bar(len(made)) as step, peered(ends) as rounds:
        return acting.tried(cells, rounds, step)


def _show(console: Console, found: Found, creating: bool, as_json: bool) -> None:
    if as_json:
        say(printed("nic-probe", nic_probe.probe_output(found.port, found.cells, found.filling)))
        return
    console.print(f"rte_flow on {found.port}", style="bold")
    console.print()
    nic_probe.print_table(console, found.cells)
    console.print()
    if any(cell.acting is not None for cell in found.cells):
        nic_probe.print_acting(console, found.cells)
        console.print()
    if found.filling is not None:
        nic_probe.print_filling(console, found.filling)
    elif creating:
        console.print("no rule for a flow could be made: nothing to count or to time")
    else:
        console.print("only asked, not tried: a running engine's port (--create tries)")


def _kernel(
    console: Console, interface: str, peer: str | None, max_rules: int, as_json: bool
) -> int:
    """Try what a Linux interface's driver takes from tc and ethtool."""
    missing = [
        *missing_privilege("the probe of a Linux interface"),
        *missing_program("tc", "iproute2", "the probe"),
        *missing_program("ethtool", "ethtool", "the probe"),
    ]
    if missing:
        raise UserError("; ".join(map(str, missing)))
    for name in filter(None, (interface, peer)):
        if not Path(f"/sys/class/net/{name}").exists():
            mistaken(f"'{name}': no such interface")
    port = KernelPort(interface)
    try:
        with signals(), ExitStack() as stack:
            sender = peer and stack.enter_context(between(peer, interface))
            with _bar(len(KERNEL_PATTERNS)) as step:
                found = kernel_probing.probe(port, sender or None, max_rules, step)
    except Interrupted as interrupted:
        return BY_SIGNAL + interrupted.signal_number
    if as_json:
        say(printed("nic-probe-kernel", kernel_probe.output(found)))
    else:
        kernel_probe.show(console, found)
    return 0


def _filled(target: Opened, chosen: Cell, max_rules: int) -> Filling:
    def text_of(number: int) -> str:
        flow = flow_rule_patterns.nth_flow(chosen.pattern.text, number)
        return flow_rule_patterns.rule(flow, chosen.actions.text)

    with _bar(max_rules) as step:
        filling = probing.fill(target.rules, text_of, max_rules, step, flush=not target.live)
    if not target.live:
        count = max(1, min(filling.created, BATCH_MAX))
        filling.batch = target.rules.batch(text_of(0), count)
    return filling


def _one(
    console: Console,
    target: Opened,
    rule: str,
    creating: bool,
    as_json: bool,
) -> int:
    refusal = target.rules.validate(rule).refusal
    filling = Filling(rule, 1)
    if refusal is None and creating:
        with _bar(probing.REPEATS) as step:
            filling = probing.repeat(target.rules, rule, step)
    reason = refusal or filling.first_refusal
    if as_json:
        say(printed("nic-probe-rule", nic_probe.rule_output(target.text, refusal, filling)))
    elif reason is not None:
        console.print(f"{'refused' if refusal else 'validated, then refused'}: {reason}")
    else:
        console.print("accepted" if filling.created else "validated; not tried (--create tries)")
        nic_probe.print_times(console, filling)
    return FAILED if reason is not None else 0
