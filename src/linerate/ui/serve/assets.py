"""Scripts and styles: files of the package."""

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Response

from linerate import __version__
from linerate.report.render import html

#: Content types by name.
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
         "svg": "image/svg+xml"}  # fmt: skip
OWN = ("serve.css", "live.css", "serve.js", "live.js", "campaigns.js", "charts.js", "icon.svg")
#: Names have the version in their query: they need not be asked for again.
KEPT = {"cache-control": "private, max-age=86400"}


@cache
def _text(name: str) -> str:
    if name in ("page.css", *html.SCRIPTS):
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
