"""Options that most commands have: trials, where runs are kept, how results are printed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from linerate.cli.ci_files import JunitOption, SummaryOption
from linerate.cli.durations import as_label, as_seconds

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
DurationOption = Annotated[
    float, typer.Option(help="How long each trial sends.", parser=as_seconds, metavar="30s")
]
#: Shared by sweep and matrix.
RepeatOption = Annotated[
    int, typer.Option(help="Trials of each configuration and size.", min=1, max=100)
]
WaysOption = Annotated[
    int, typer.Option("--directions", help="1: one way; 2: both ways at once.", min=1, max=2)
]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where a run is kept, and how its results are printed."""

    runs: Annotated[Path, typer.Option("--runs", help="Where run folders are made.")] = Path("runs")
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait while another run uses the CPUs, rather than end.")
    ] = False
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            help="Words by which the run is found again; again for more.",
            metavar="KEY=VALUE",
            parser=as_label,
        ),
    ] = None
    as_json: JsonOption = False
    junit: JunitOption = None
    summary: SummaryOption = None
