"""Errors in a command line or a file, in a line; then the command ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from linerate.base.errors import SetupError, TestbedError
from linerate.ui.screen import complain, one_line

#: Exit codes: what was asked for can't be; it was tried, and failed.
USAGE = 2
FAILED = 1
#: Exit codes of `compare`, `trend` and `bisect`: a gate fails; too few repeats to tell.
GATE_FAILS = 3
GATE_UNKNOWN = 4


def usage(line: str) -> NoReturn:
    """Say what was wrong, and end."""
    complain(line)
    raise typer.Exit(USAGE)


def mistaken(text: str) -> NoReturn:
    """Say what was wrong with the words of the command line, and end."""
    usage(one_line(f"the command line: {text}"))


@contextmanager
def report_user_errors() -> Iterator[None]:
    """Report mistakes in a testbed file or in arguments as usage errors.

    What can't be reached, or is missing, is a failure, in one line too.
    """
    try:
        yield
    except TestbedError as error:
        usage("\n".join(map(one_line, error.lines)))
    except ValueError as error:
        mistaken(str(error))
    except SetupError as error:
        complain(one_line(str(error)))
        raise typer.Exit(FAILED) from error
