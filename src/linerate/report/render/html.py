"""A document as HTML: a page of its own that opens offline, or the body of another's page."""

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from linerate.report.document import Document, Figure, Heading, Lead, Section
from linerate.report.figures.picture import LIMIT_COLOURS

#: Words that stay in one line, however narrow the page.
SHORT = 34
#: Names of rows longer than this take several lines on a phone.
NAME_LENGTH = 14
#: Tests that a list of contents has one by one.
TESTS_LISTED = 16
#: They draw the figures; the second begins when it is read.
SCRIPTS = ("draw.js", "page.js")


@dataclass(frozen=True, slots=True)
class Page:
    """A page before its frame: that of a file, or that of a server."""

    title: str
    heading: str
    #: HTML, in which all text is escaped.
    body: str
    #: Plots by the id of their element: JSON that can stand in a script element.
    figures: str

    @property
    def html(self) -> str:
        """A file that asks for nothing from anywhere."""
        scripts = [part(name) for name in SCRIPTS] if self.drawn else []
        return _template("page.html").render(
            page=self,
            hashes=" ".join(f"'sha256-{_hash(code)}'" for code in scripts) or "'none'",
            style=part("page.css"),
            scripts=scripts,
        )

    @property
    def drawn(self) -> bool:
        """Whether there is a plot in it."""
        return self.figures != "{}"


def page(document: Document) -> Page:
    """The body of a document, and its plots."""
    sections = document.written
    plots = {
        section.name: section.plot
        for section in sections
        if isinstance(section, Figure) and section.plot is not None
    }
    groups = _grouped(sections)
    headed = [at for at, group in enumerate(groups) if isinstance(group[0], Heading)]
    contents = [one for one in sections if isinstance(one, Heading) and one.name]
    body = _template("body.html").render(
        about=document.about,
        groups=groups,
        led=next((one for one in sections if isinstance(one, Lead)), None),
        first_headed=headed[0] if headed else -1,
        contents=_contents(contents),
        names={one.name for one in contents},
        limits=LIMIT_COLOURS,
        short=SHORT,
        name_length=NAME_LENGTH,
    )
    return Page(document.page_title, document.title, body, plots_json(plots))


def _contents(headings: list[Heading]) -> list[tuple[str, str]]:
    """Names and texts; many tests are one link, as the table of all tests leads to each."""
    tests = [one for one in headings if one.name.startswith("test-")]
    if len(tests) <= TESTS_LISTED:
        return [(one.name, one.text) for one in headings]
    both = f"{tests[0].text} to {tests[-1].text}"
    kept = [one for one in headings if one is tests[0] or one not in tests]
    return [(one.name, both if one is tests[0] else one.text) for one in kept]


def _grouped(sections: tuple[Section, ...]) -> list[tuple[Section, ...]]:
    """Sections by the heading that they stand under."""
    starts = [at for at, section in enumerate(sections) if isinstance(section, Heading)]
    ends = [0, *starts, len(sections)]
    return [sections[start:end] for start, end in pairwise(ends) if start < end]


def plots_json(plots: Mapping[str, Any]) -> str:
    """JSON that can stand in a script element: nothing in it can end that."""
    text = json.dumps(_finite(plots), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _finite(value: Any) -> Any:  # noqa: ANN401 (what JSON can hold)
    """The same without what JSON has no number for: a foreign run may hold an infinity.

    A picture shows no more than six digits.
    """
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


@cache
def part(name: str) -> str:
    """A file of the page: page.css, draw.js, page.js."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Template:
    loader = PackageLoader("linerate.report.render", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _hash(code: str) -> str:
    """Hash of a script for a content security policy."""
    return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


def joined(body: Iterable[str]) -> str:
    """Parts of HTML as one, empty ones left out."""
    return "\n".join(one for one in body if one)
