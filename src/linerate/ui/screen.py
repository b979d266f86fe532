"""The one place that prints: what comes from files, engines and profiles can't steer a terminal.

Names and errors are others' words. A control character among them could hide lines, move the
cursor or type for the user, a bidirectional override could show one name as another.
"""

import sys
import traceback
import unicodedata
from types import TracebackType

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_KEPT = frozenset("\n\t")


def clean(text: str) -> str:
    """Replace what a terminal obeys, and what is no text; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def one_line(text: str) -> str:
    """The same with all lines in one: who writes an error can't add a line to it."""
    return clean(" ".join(text.split()) if "\n" in text or "\r" in text else text)


def say(text: object = "", end: str = "\n") -> None:
    """Print what was asked for."""
    sys.stdout.write(clean(str(text)) + end)
    sys.stdout.flush()


def complain(text: object) -> None:
    """Print an error, a warning or how far it is: to standard error."""
    sys.stderr.write(clean(str(text)) + "\n")
    sys.stderr.flush()


def is_terminal() -> bool:
    """Whether the output is a terminal."""
    return sys.stdout.isatty()


def confirmed(question: str) -> bool:
    """Ask at the terminal. Raises typer.Abort."""
    import typer  # noqa: PLC0415 (one command asks)

    return typer.confirm(clean(question), err=True)


def answered(question: str, default: str) -> str:
    """Answer given at the terminal, or the default. Raises typer.Abort."""
    import typer  # noqa: PLC0415 (one command asks)

    return str(typer.prompt(clean(question), default=clean(default) or None, err=True))


def let_go() -> None:
    """The reader of a pipe is gone: no further output, no error at the end either."""
    sys.stderr.close()


def show_errors_clean() -> None:
    """Whatever else ends the program: its trace may quote others' words too."""
    sys.excepthook = _excepthook


def _excepthook(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    complain("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"))


def _shown(character: str) -> str:
    harmless = character.isprintable() or character in _KEPT
    # No-break spaces and the like are no controls.
    return character if harmless or unicodedata.category(character) == "Zs" else REPLACEMENT
