"""`linerate nic probe`: progress while it tries, a table or JSON when it has."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from linerate.base.published import Envelope, enveloped, json_text, printed
from linerate.cli.completion import one_of
from linerate.cli.options import JsonOption
from linerate.cli.run_into_folder import BY_SIGNAL, Piped, new_progress, signals
from linerate.cli.usage import FAILED, USAGE, mistaken
from linerate.experiments.bench import Interrupted
from linerate.experiments.nic_probe import probing
from linerate.experiments.nic_probe.card_report import card_report
from linerate.experiments.nic_probe.opening import CARD, CARDS, Opened, TargetError, opened
from linerate.experiments.nic_probe.probing import Step
from linerate.experiments.nic_probe.rules import RuleTextError
from linerate.host.doctor import Host
from linerate.host.doctor.nics import nics
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_results import Cell, Filling
from linerate.report import nic_comparison, nic_probe
from linerate.report.host import printable
from linerate.report.render import terminal
from linerate.results.nic_probes import difference, read_nic_probe
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

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
    '[bold]linerate nic probe card --rule "ingress pattern eth / ipv4 / end actions drop / end"[/]'
)
def probe(
    port: Annotated[
        str,
        typer.Argument(
            help=f"card (as card:{CARD}), card:PRESET, card:JSON; a PCI address or a device as "
            "net_tap0,iface=x; or a port of a running engine.",
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
    as_json: JsonOption = False,
) -> None:
    """Find out which rte_flow rules a port takes, how many, and how fast."""
    console = Console()
    try:
        with signals(), opened(port, engine, queues) as target:
            creating = create or not target.live
            if rule is None:
                code = _all(console, target, max_rules, creating, as_json)
            else:
                code = _one(console, target, rule, creating, as_json)
    except TargetError as error:
        complain(f"the command line: {error}")
        raise typer.Exit(USAGE) from error
    except RuleTextError as error:
        complain(error.shown())
        raise typer.Exit(USAGE) from error
    except Interrupted as interrupted:
        raise typer.Exit(BY_SIGNAL + interrupted.signal_number) from interrupted
    raise typer.Exit(code)


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


def _all(
    console: Console,
    target: Opened,
    max_rules: int,
    creating: bool,
    as_json: bool,
) -> int:
    with _bar(len(flow_rule_patterns.PATTERNS)) as step:
        cells = probing.table(target.rules, probing.make if creating else probing.ask, step)
    chosen = probing.best(cells)
    filling = None if chosen is None else _filled(target, chosen, max_rules)
    if as_json:
        say(printed("nic-probe", nic_probe.probe_output(target.text, cells, filling)))
        return 0
    console.print(f"rte_flow on {target.text}", style="bold")
    console.print()
    nic_probe.print_table(console, cells)
    console.print()
    if filling is not None:
        nic_probe.print_filling(console, filling)
    elif creating:
        console.print("no rule for a flow could be made: nothing to count or to time")
    else:
        console.print("only asked, not tried: a running engine's port (--create tries)")
    return 0


def _filled(target: Opened, chosen: Cell, max_rules: int) -> Filling:
    def text_of(number: int) -> str:
        flow = flow_rule_patterns.nth_flow(chosen.pattern.text, number)
        return flow_rule_patterns.rule(flow, chosen.actions.text)

    with _bar(max_rules) as step:
        return probing.fill(target.rules, text_of, max_rules, step, flush=not target.live)


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
