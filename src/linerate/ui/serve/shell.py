"""Common part of all pages: head, navigation, scripts; all text in them is escaped."""

from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from fastapi.responses import HTMLResponse

from linerate.report.render import html
from linerate.ui.serve.assets import address

LINKS = (("/", "Runs"), ("/live", "Live"), ("/campaigns", "Campaigns"), ("/docs", "API"))


@cache
def template(name: str) -> Template:
    """A page's template, by the name of its file."""
    return Template((files(__package__) / "pages" / name).read_text(encoding="utf-8"))


def page(
    title: str,
    body: str,
    here: str = "",
    scripts: tuple[str, ...] = (),
    figures: str = "",
    status: int = 200,
) -> HTMLResponse:
    """A whole page; `body` is HTML, `figures` JSON for the report's script."""
    styles = ("page.css", "serve.css", *(("live.css",) if "live.js" in scripts else ()))
    drawn = html.SCRIPTS if figures not in ("", "{}") else ()
    return HTMLResponse(
        template("shell.html").substitute(
            title=escape(title),
            styles="\n".join(f'<link rel="stylesheet" href="{address(name)}">' for name in styles),
            first=address("serve.js"),
            icon=address("icon.svg"),
            links="\n".join(_link(where, name, here) for where, name in LINKS),
            body=body,
            figures=figures or "{}",
            scripts="\n".join(
                f'<script src="{address(name)}" defer></script>' for name in (*drawn, *scripts)
            ),
        ),
        status_code=status,
    )


def _link(where: str, name: str, here: str) -> str:
    current = ' aria-current="page"' if where == here else ""
    return f'<a href="{where}"{current}>{name}</a>'


def options(words: list[str], chosen: str, empty: str) -> str:
    """Options of a `select`; `empty` stands for no choice."""
    pairs = [("", empty), *((word, word) for word in words)]
    if chosen and chosen not in words:
        pairs.append((chosen, chosen))
    return "".join(
        f'<option value="{escape(value)}"{" selected" * (value == chosen)}>{escape(text)}</option>'
        for value, text in pairs
    )
