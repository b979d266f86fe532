"""Options that commands share, each said once: what is tested, over what, where it is kept."""

from pathlib import Path
from typing import Annotated

import typer

TestbedArgument = Annotated[
    Path | None,
    typer.Argument(
        help="Testbed file; without one: a router on a virtual card.", metavar="[TESTBED.yaml]"
    ),
]
DutOption = Annotated[
    str | None, typer.Option("--dut", help="Device under test, as of `linerate bench`.")
]
CardOption = Annotated[
    str | None,
    typer.Option(
        "--card",
        help="Virtual card: a preset, limits, or both.",
        metavar="pps=2000000,link=10G",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", help="Workers of the device under test.", min=1, max=16),
]
WireOption = Annotated[str | None, typer.Option("--wire", help="What joins tester and device.")]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link", help="Rate that 100 % of the line is, of wires without one.", metavar="10G"
    ),
]
RunsOption = Annotated[Path, typer.Option("--runs", help="Where run folders are made.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
