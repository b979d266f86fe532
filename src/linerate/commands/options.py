"""Options that most commands have: where runs are kept, and how results are printed."""

from pathlib import Path
from typing import Annotated

import typer

RunsOption = Annotated[Path, typer.Option("--runs", help="Where run folders are made.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
