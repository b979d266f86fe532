"""Pasting changes a command's output: none of that may change the result."""

import re
from collections.abc import Callable

from hypothesis import strategies as st

from linerate.parsers.files import evidence_of_text
from linerate.parsers.text import text_of

Mangle = Callable[[list[str]], list[str]]

STAMPS = (
    "2026-11-21 08:15:02 ",
    "2026-11-21T08:15:02.123456Z ",
    "[12:01:59.250] ",
    "12:01:59 ",
    "Nov 21 08:15:02 host vppctl[1234]: ",
)
PROMPTS = ("vpp# show runtime", "DBGvpp# sh err", "root@router:~# vppctl show int", "$ cat log")


def collapse_blanks(lines: list[str]) -> list[str]:
    """Leave one of several blanks, as a chat or an issue tracker does."""
    return [re.sub(r"[ \t]+", " ", line).rstrip() for line in lines]


def lose_indent(lines: list[str]) -> list[str]:
    return [line.lstrip() for line in lines]


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def tabs(lines: list[str]) -> list[str]:
    return [re.sub(r" {2,}", "\t", line) for line in lines]


def trailing_blanks(lines: list[str]) -> list[str]:
    return [line + "   " for line in lines]


def empty_lines(lines: list[str]) -> list[str]:
    """Put an empty line after each, as copying from a web page does."""
    return [part for line in lines for part in (line, "")]


def colours(lines: list[str]) -> list[str]:
    return ["\x1b[1;32m" + line + "\x1b[0m" for line in lines]


def html_blanks(lines: list[str]) -> list[str]:
    return [line.replace("  ", "\u00a0 ") for line in lines]


def stamped(stamp: str) -> Mangle:
    return lambda lines: [stamp + line for line in lines]


def prompted(prompt: str) -> Mangle:
    return lambda lines: [prompt, *lines, prompt.split(" ", maxsplit=1)[0]]


MANGLES: tuple[Mangle, ...] = (
    collapse_blanks,
    lose_indent,
    indent,
    tabs,
    trailing_blanks,
    empty_lines,
    html_blanks,
)


@st.composite
def mangled(draw, content):
    """The content as several hands passed it on, the last of them a terminal."""
    lines = content.splitlines()
    for mangle in draw(st.lists(st.sampled_from(MANGLES), max_size=4)):
        lines = mangle(lines)
    if draw(st.booleans()):
        lines = prompted(draw(st.sampled_from(PROMPTS)))(lines)
    if draw(st.booleans()):
        lines = stamped(draw(st.sampled_from(STAMPS)))(lines)
    if draw(st.booleans()):
        lines = colours(lines)
    return draw(st.sampled_from(("\n", "\r\n", "\r"))).join(lines)


@st.composite
def damaged(draw, content):
    """A slice of the content, with something else in its midst."""
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, len(content)))
    piece = content[start:end]
    at = draw(st.integers(0, len(piece)))
    cut = draw(st.integers(0, 8))
    inserted = draw(
        st.one_of(st.text(max_size=12), st.sampled_from(list("0123456789 \n\t-.,:e\"'")))
    )
    return piece[:at] + inserted + piece[at + cut :]


def read(content):
    return evidence_of_text(text_of(content, "pasted"))


def message(evidence, *fields):
    """The result, without positions and the number of blanks."""
    if evidence is None:
        return None

    def plain(thing):
        if isinstance(thing, dict):
            return {key: plain(value) for key, value in thing.items() if key != "line"}
        if isinstance(thing, list | tuple):
            return [plain(one) for one in thing]
        return " ".join(thing.split()) if isinstance(thing, str) else thing

    return {name: plain(value) for name, value in evidence.model_dump().items() if name in fields}
