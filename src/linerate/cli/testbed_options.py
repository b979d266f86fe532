"""Testbed options of all measuring commands."""

from dataclasses import dataclass
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
from linerate.model.testbed import ENGINE_MODES, STARTED, WIRES, Testbed, load, with_options
from linerate.model.worker_cpus import check_cpus
from linerate.ui.screen import complain

FOREIGN = tuple(name for name in STARTED if name != "engine")

TestbedArgument = Annotated[
    Path | None,
    typer.Argument(
        help="Testbed file; without one: a router on a virtual card.", metavar="[TESTBED.yaml]"
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


@dataclass(frozen=True, slots=True)
class TestbedOptions:
    """A testbed file, and what the command line sets instead."""

    testbed: TestbedArgument = None
    dut: Annotated[
        str | None,
        typer.Option(
            help=f"Device under test: ours ({', '.join(ENGINE_MODES)}), or "
            f"{', '.join(FOREIGN)} (testpmd:MODE).",
            autocompletion=one_of([*ENGINE_MODES, *FOREIGN]),
        ),
    ] = None
    card: Annotated[
        str | None,
        typer.Option(
            help=f"Virtual card: {', '.join(PRESETS)} or default; limits: pps=2000000,link=10G.",
            autocompletion=one_of([*PRESETS, "default"]),
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(help="Workers of the device under test.", min=1, max=16)
    ] = None
    wire: Annotated[
        str | None,
        typer.Option(
            help=f"Link between tester and device: {', '.join(WIRES)}.",
            autocompletion=one_of(WIRES),
        ),
    ] = None
    link: Annotated[
        str | None,
        typer.Option(
            help="Nominal link rate, for links that have none (veth, memif).", metavar="10G"
        ),
    ] = None

    def load(self, **others: Any) -> Testbed:  # noqa: ANN401 (of with_options)
        """Load the testbed; `others` are further options of with_options(). Raises TestbedError."""
        return chosen_testbed(
            self.testbed,
            dut=self.dut,
            card=self.card,
            workers=self.workers,
            wire=self.wire,
            link=self.link,
            **others,
        )


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
