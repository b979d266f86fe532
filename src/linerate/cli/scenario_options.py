"""Options of a scenario, its box and its values; mistakes in them, in a line each."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from linerate.base.errors import UserError
from linerate.cli.usage import report_user_errors, usage
from linerate.model.scenario import ScenarioError, load, names
from linerate.ui.screen import one_line


def _named(context: typer.Context) -> str:
    """The scenario that was named before, as an argument or an option."""
    return str(context.params.get("name") or context.params.get("scenario") or "")


def complete_box(context: typer.Context, typed: str) -> list[str]:
    """Boxes of the scenario that was named before."""
    with suppress(UserError, OSError):
        boxes = load(_named(context)).scenario.boxes
        return [name for name in boxes if name.startswith(typed)]
    return []


def _complete_value(context: typer.Context, typed: str) -> list[str]:
    """Values of the scenario that was named before."""
    with suppress(UserError, OSError):
        values = load(_named(context)).scenario.values
        words = [f"{name}={one.value}" for name, some in values.items() for one in some]
        return [word for word in words if word.startswith(typed)]
    return []


def complete_name(typed: str) -> list[str]:
    """Scenarios that come with linerate."""
    return [name for name in names() if name.startswith(typed)]


NameArgument = Annotated[
    str,
    typer.Argument(
        help="One that comes with linerate, or a file of your own.",
        metavar="NAME",
        autocompletion=complete_name,
    ),
]
BoxOption = Annotated[
    str,
    typer.Option(
        help="Kind of box, as the scenario has it: kernel, router, testpmd, …",
        metavar="KIND",
        autocompletion=complete_box,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Another of the values that are compared; again for more.",
        metavar="VALUE=CHOICE",
        autocompletion=_complete_value,
    ),
]
FrameBytesOption = Annotated[
    int | None,
    typer.Option("--frame-bytes", help="As --set frame_bytes=N.", min=64, max=9728, metavar="N"),
]
TestbedOption = Annotated[
    Path | None,
    typer.Option(
        "--testbed",
        help="Testbed file with CPUs, links, or a box of yours that is set up.",
        metavar="TESTBED.yaml",
    ),
]


@contextmanager
def mistakes() -> Iterator[None]:
    """Mistakes in a scenario's file, or in what was asked of it, in a line each."""
    with report_user_errors():
        try:
            yield
        except ScenarioError as error:
            usage("\n".join(map(one_line, error.lines)))
        except UserError as error:
            usage("\n".join(map(one_line, str(error).splitlines())))


def values_of(given: list[str] | None, frame_bytes: int | None) -> Mapping[str, str]:
    """Values by name, of the words of `--set`. Raises ValueError."""
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign:
            raise ValueError(f"--set: expected VALUE=CHOICE, as routes=10000; not '{text}'")
        found[name] = value
    if frame_bytes is not None:
        found["frame_bytes"] = str(frame_bytes)
    return found
