"""Testbed options of all measuring commands."""

from pathlib import Path
from typing import Annotated, Any

import typer

from linerate.cli.completion import one_of, several_of
from linerate.cli.usage import usage
from linerate.host import machine
from linerate.lab import rig
from linerate.lab.negotiated_rate import with_link
from linerate.model.nic_presets import PRESETS
from linerate.model.suites import Loadtest, find
from linerate.model.testbed import DUTS, ENGINE_MODES, WIRES, Testbed, load, with_options
from linerate.model.worker_cpus import check_cpus
from linerate.ui.screen import complain

FOREIGN = tuple(name for name in DUTS if name != "engine")

TestbedArgument = Annotated[
    Path | None,
    typer.Argument(
        help="Testbed file; without one: a router on a virtual card.", metavar="[TESTBED.yaml]"
    ),
]
DutOption = Annotated[
    str | None,
    typer.Option(
        "--dut",
        help=f"Device under test: ours ({', '.join(ENGINE_MODES)}), or "
        f"{', '.join(FOREIGN)} (testpmd:MODE).",
        autocompletion=one_of([*ENGINE_MODES, *FOREIGN]),
    ),
]
CardOption = Annotated[
    str | None,
    typer.Option(
        "--card",
        help=f"Virtual card: {', '.join(PRESETS)} or default; limits: pps=2000000,link=10G.",
        autocompletion=one_of([*PRESETS, "default"]),
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", help="Workers of the device under test.", min=1, max=16),
]
WireOption = Annotated[
    str | None,
    typer.Option(
        "--wire",
        help=f"What joins tester and device: {', '.join(WIRES)}.",
        autocompletion=one_of(WIRES),
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link", help="Nominal link rate, for links that have none (veth, memif).", metavar="10G"
    ),
]
#: Default loadtest.
DEFAULT_LOADTEST = "U2"
LoadtestOption = Annotated[
    str | None,
    typer.Option(
        "--loadtest",
        help=f"Loadtests of the standard suite, whose frames are sent ({DEFAULT_LOADTEST}).",
        metavar="U2",
        autocompletion=several_of(lambda: [test.name for test in find("standard").loadtests]),
    ),
]


def chosen_testbed(
    file: Path | None,
    **options: Any,  # noqa: ANN401 (of with_options)
) -> Testbed:
    """The file's testbed, or a router on a virtual card, with what the command line says instead.

    `options` are those of with_options(). Raises TestbedError.
    """
    testbed = with_options(load(file) if file else Testbed(), **options)
    check_cpus(testbed, machine.allowed_cpus())
    return with_link(testbed, complain)


def check_able(testbed: Testbed, loadtests: tuple[Loadtest, ...], what: str) -> None:
    """End, with a line, when our tester can't offer one of the loadtests for `what`."""
    for one in loadtests:
        if lacking := rig.lacking(testbed, one, what):
            usage(lacking)
