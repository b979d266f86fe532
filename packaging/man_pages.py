"""Manual pages of `linerate` and its commands, made of the same help that `--help` shows.

Arguments: the folder that they are written to, and the engine. There are linerate.1, a page for
each command (linerate-bench.1), and linerate-engine.1.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import linerate
from linerate.cli.app import app

#: Fonts for rich's markup in help texts; all other brackets are text.
MARKUP = {"[bold]": r"\fB", "[/bold]": r"\fR", "[/]": r"\fR"}
FILES = (
    ("runs/", "One folder a run: run.json, and evidence of each trial."),
    ("testbed.yaml", "Tester ports, links and device under test, given as an argument."),
)
ENVIRONMENT = (
    ("LINERATE_ENGINE", "Engine to run instead of the installed one."),
    ("NO_COLOR", "No colours, whatever the terminal can show."),
)


@dataclass(frozen=True, slots=True)
class Page:
    """One manual page in the language of man(7)."""

    name: str
    text: str


def escaped(text: str) -> str:
    """Text as roff shows it literally, rich's markup as fonts."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    for mark, font in MARKUP.items():
        text = text.replace(mark, font)
    return "\n".join(
        rf"\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines()
    )


def title(name: str, summary: str) -> str:
    """Heading and NAME section."""
    return (
        f'.TH "{name.upper()}" "1" "" "linerate {linerate.__version__}" "linerate"\n'
        f".SH NAME\n{escaped(name)} \\- {escaped(summary.rstrip('.'))}\n"
    )


def section(name: str, text: str) -> str:
    """A section, none when it is empty."""
    return f".SH {name}\n{text}\n" if text.strip() else ""


def described(entries: Iterator[tuple[str, str]]) -> str:
    """Tagged paragraphs: an option or a command, and its description."""
    return "\n".join(f".TP\n\\fB{escaped(tag)}\\fR\n{escaped(text)}" for tag, text in entries)


def records(command: Any, ctx: Any, kind: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Names and help of a command's parameters of one kind, as `--help` has them."""
    for parameter in command.get_params(ctx):
        if parameter.param_type_name != kind:
            continue
        record = parameter.get_help_record(ctx)
        if record is not None:
            yield record[0], record[1] or ""
        elif kind == "argument":
            yield parameter.make_metavar(ctx), getattr(parameter, "help", None) or ""


def paragraphs(text: str) -> str:
    """Prose: a paragraph where the text has an empty line, a break within one nowhere."""
    blocks = re.split(r"\n\s*\n", text.strip())
    return "\n.PP\n".join(escaped(" ".join(block.split())) for block in blocks)


def examples(epilog: str) -> str:
    """The lines of `Examples:`, each on a line of its own."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", epilog.strip())]
    lines = [block for block in blocks if block and block != "Examples:"]
    return "\n".join(f".PP\n{escaped(line)}" for line in lines)


def synopsis(command: Any, ctx: Any) -> str:  # noqa: ANN401
    """The usage line."""
    words = " ".join(command.collect_usage_pieces(ctx))
    return f"\\fB{escaped(ctx.command_path)}\\fR {escaped(words)}"


def body(command: Any, ctx: Any) -> str:  # noqa: ANN401
    """Everything of a command below its name."""
    children = list(subcommands(command, ctx))
    nested = "\n".join(
        f".SS {escaped(child_ctx.command_path)}\n{paragraphs(child.help or '')}\n.PP\n"
        f"{synopsis(child, child_ctx)}\n{described(records(child, child_ctx, 'argument'))}\n"
        f"{described(records(child, child_ctx, 'option'))}\n{examples(child.epilog or '')}"
        for child, child_ctx in children
    )
    return (
        section("SYNOPSIS", synopsis(command, ctx))
        + section("DESCRIPTION", paragraphs(command.help or ""))
        + section("ARGUMENTS", described(records(command, ctx, "argument")))
        + section("OPTIONS", described(records(command, ctx, "option")))
        + section("COMMANDS", nested)
        + section("EXAMPLES", examples(command.epilog or ""))
    )


def subcommands(command: Any, ctx: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    """The commands of a group, loaded, each with its context."""
    for name in getattr(command, "commands", {}):
        child = command.resolve_command(ctx, [name])[1]
        yield child, typer.Context(child, info_name=name, parent=ctx)


def summary_of(command: Any) -> str:  # noqa: ANN401
    """First sentence of the help."""
    return " ".join((command.help or "").split()).split(". ")[0]


def lab_pages() -> Iterator[Page]:
    """linerate(1), and a page for each of its commands."""
    top = typer.main.get_command(app)
    ctx = typer.Context(top, info_name="linerate")
    pages = list(subcommands(top, ctx))
    commands = described((f"linerate-{c.info_name}(1)", summary_of(child)) for child, c in pages)
    yield Page(
        "linerate",
        title("linerate", summary_of(top))
        + section("SYNOPSIS", synopsis(top, ctx))
        + section("OPTIONS", described(records(top, ctx, "option")))
        + section("COMMANDS", commands)
        + section("FILES", described(iter(FILES)))
        + section("ENVIRONMENT", described(iter(ENVIRONMENT)))
        + section("EXIT STATUS", "0 on success, 1 on failure, 2 on a mistake in the command line.")
        + section("SEE ALSO", r"\fBlinerate\-engine\fR(1)"),
    )
    for command, inner in pages:
        name = f"linerate-{inner.info_name}"
        see = section("SEE ALSO", r"\fBlinerate\fR(1)")
        yield Page(name, title(name, summary_of(command)) + body(command, inner) + see)


def engine_page(engine: Path) -> Page:
    """linerate-engine(1), of the engine's own `--help`."""
    shown = subprocess.run([engine, "--help"], capture_output=True, text=True, check=True)
    usage, _, rest = (shown.stdout or shown.stderr).partition("\n")
    sentence, options = rest.strip().split("\n", 1)
    text = (
        title("linerate-engine", "packet graphs on DPDK: tester, forwarders, virtual card")
        + section("SYNOPSIS", escaped(usage.removeprefix("usage: ")))
        + section("DESCRIPTION", escaped(sentence))
        + section("OPTIONS", ".nf\n" + escaped(options) + "\n.fi")
        + section("SEE ALSO", r"\fBlinerate\fR(1)")
    )
    return Page("linerate-engine", text)


def main() -> None:
    """Write all pages into the folder that is named on the command line."""
    folder, engine = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for page in (*lab_pages(), engine_page(engine)):
        (folder / f"{page.name}.1").write_text(page.text, encoding="utf-8")


if __name__ == "__main__":
    main()
