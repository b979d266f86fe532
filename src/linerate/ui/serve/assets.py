"""Scripts and styles: files of the package, and plotly's script from its package."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Response
from plotly.offline import get_plotlyjs

from linerate import __version__
from linerate.report.render import html

#: Content types by name.
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
         "svg": "image/svg+xml"}  # fmt: skip
OWN = ("serve.css", "live.css", "serve.js", "live.js", "charts.js", "icon.svg")
#: Names have the version in their query: they need not be asked for again.
KEPT = {"cache-control": "private, max-age=86400"}

#: The one style sheet that plotly's script has in it, for maps; it puts it into each page.
_MAPS = re.compile(r"createElement\(\"style\"\);\w+\.id=\"\w+\",\w+\.textContent='([^'\\]*)'")


@cache
def style_hashes() -> tuple[str, ...]:
    """Name the style elements that plotly makes, as a content security policy does.

    One is empty, and its rules are added by script; one has the style of maps. Should another
    plotly write that otherwise, browsers refuse it and say so, and no picture of ours lacks it.
    """
    return tuple(map(_hash, ("", *_MAPS.findall(_text("plotly.js"))[:1])))


def _hash(style: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


@cache
def _text(name: str) -> str:
    if name == "plotly.js":
        return str(get_plotlyjs())
    if name in ("page.css", "page.js"):
        return html.part(name)
    if name in OWN:
        return (files(__package__) / "static" / name).read_text(encoding="utf-8")
    raise KeyError(name)


def address(name: str) -> str:
    """Where a file is."""
    return f"/static/{name}?v={__version__}"


def assets() -> APIRouter:
    """Files by their names; there are no others."""
    router = APIRouter(include_in_schema=False)

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        try:
            text = _text(name)
        except KeyError as error:
            raise HTTPException(404, "no such file") from error
        kind = KINDS[name.rpartition(".")[2]]
        return Response(text, media_type=kind, headers=KEPT)

    @router.get("/favicon.ico")
    def icon() -> Response:
        return Response(_text("icon.svg"), media_type=KINDS["svg"], headers=KEPT)

    return router
