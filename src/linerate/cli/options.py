"""Options that most commands have: where runs are kept, and how results are printed."""

from pathlib import Path
from typing import Annotated

import typer

RunsOption = Annotated[Path, typer.Option("--runs", help="Where run folders are made.")]
WaitOption = Annotated[
    bool, typer.Option("--wait", help="Wait while another run uses the CPUs, rather than end.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
