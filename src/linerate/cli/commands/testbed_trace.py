"""`linerate testbed trace`: ways of single packets through a box, recorded within a load."""

from pathlib import Path
from typing import Annotated

import typer

from linerate.base import ownership
from linerate.base.published import printed
from linerate.cli.commands.soak import parse_load
from linerate.cli.options import DurationOption, JsonOption
from linerate.cli.run_into_folder import signals
from linerate.cli.testbed_options import DEFAULT_LOADTEST, LoadtestOption, check_able
from linerate.cli.usage import report_user_errors
from linerate.engine import cleanup
from linerate.experiments.box_trace import trace_load
from linerate.host import cpu_locks, machine
from linerate.model.suites import select
from linerate.model.testbed import load
from linerate.report import box_trace as report
from linerate.ui.screen import say

EPILOG = (
    "Examples:\n\n[bold]linerate testbed trace box.yaml[/] # 50 packets within a load of 1 %\n\n"
    "[bold]linerate testbed trace box.yaml --load 100% --packets 1000[/] # a loss that is rare"
)
#: Each takes about a kilobyte of the box's memory.
PACKETS_MAX = 10_000


def trace(
    file: Annotated[Path, typer.Argument(help="Testbed file.", metavar="TESTBED.yaml")],
    offered: Annotated[
        str,
        typer.Option(
            "--load", help="Load: a share of the line (1%), or packets a second.", metavar="1%|100k"
        ),
    ] = "1%",
    packets: Annotated[
        int,
        typer.Option("--packets", help="Packets of each input of the box.", min=1, max=PACKETS_MAX),
    ] = 50,
    duration: DurationOption = "1s",  # type: ignore[assignment]  # the parser makes a number of it
    loadtest: LoadtestOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record packets in a box (VPP's `trace add`), and say where those that are lost end.

    It clears packets that somebody else traced there.
    """
    with report_user_errors():
        bed = load(file)
        if not bed.dut.is_box:
            raise ValueError(f"dut: expected a box that records packets, not '{bed.dut.kind}'")
        (one, *_others) = select("standard", loadtest or DEFAULT_LOADTEST)
        share = parse_load(offered)
        share = share if share <= 1 else share / one.full_pps(bed.line_bps)
    check_able(bed, (one,), "a trace")
    # A server has CPUs of its own.
    cpus = () if bed.by_server else bed.cpus or machine.allowed_cpus()
    with (
        report_user_errors(),
        signals(),
        cpu_locks.held(cpus),
        ownership.temporary_folder("trace") as folder,
    ):
        try:
            found = trace_load(bed, one, Path(folder), min(share, 1.0), duration, packets)
        finally:
            cleanup.remove(cleanup.find_own())
    ledger = found.measurement.packets
    if as_json:
        say(printed("box-trace", report.output(ledger, found.packets), bed))
    else:
        say(report.text(ledger, found.packets))
