"""The pages: the list of runs, one run, several side by side, and the live view."""

from html import escape
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from linerate.base.drivers import INTERFACE_DRIVERS
from linerate.model.nic_presets import PRESETS
from linerate.model.suites import SUITES
from linerate.model.testbed import ENGINE_MODES, RX_MODES, STARTED, TESTERS, WIRES
from linerate.report import comparison
from linerate.report.of_run import document_of
from linerate.report.render import html
from linerate.results.compare import CompareError
from linerate.results.index import QueryError
from linerate.results.journal import FILE as LIVE_FILE
from linerate.results.store import StoreError
from linerate.ui.serve import listing
from linerate.ui.serve.api import COMPARED_MAX, state_of
from linerate.ui.serve.gently import Gently
from linerate.ui.serve.library import Library, NoSuchRunError
from linerate.ui.serve.runner import Runner
from linerate.ui.serve.shell import options, page, template
from linerate.ui.web.guard import KNOWN


def pages(library: Library, runner: Runner | None) -> APIRouter:
    """All pages."""
    router = APIRouter(include_in_schema=False, route_class=Gently)
    _list(router, library)
    _run(router, library)
    _compare(router, library)
    _live(router, runner)
    return router


def _list(router: APIRouter, library: Library) -> None:
    @router.get("/")
    def runs(request: Request) -> HTMLResponse:
        """Filtered and sorted by the address, so that it works without a script."""
        asked = listing.asked_of(dict(request.query_params))
        try:
            rows, total = library.page(asked.query)
        except QueryError as error:
            return page("Runs", f'<h1>Runs</h1><p class="warning">{escape(str(error))}</p>',
                        "/", status=422)  # fmt: skip
        words = library.words(listing.CHOICES)
        return page("Runs", listing.render(asked, rows, total, words), "/")


def _run(router: APIRouter, library: Library) -> None:
    @router.get("/runs/{name}")
    def run(name: str) -> HTMLResponse:
        """All of the report's pictures."""
        where = quote(name)
        try:
            folder = library.folder(name)
            made = html.page(document_of(library.load(name), folder, library.evidence))
        except NoSuchRunError as error:
            return _failed(name, error)
        except StoreError as error:
            return _broken(library, name, folder, str(error))
        links = [
            f'<a href="/runs/{where}/report.html" download="{escape(name)}.html">report as one '
            "file</a>",
            f'<a href="/api/runs/{where}">run.json</a>',
        ]
        if library.has(name, LIVE_FILE):
            links.insert(0, f'<a href="/live?run={where}">as it was measured</a>')
        known = f'<p class="links">{escape(name)}: {", ".join(links)}</p>'
        top = f"<h1>{escape(made.heading)}</h1>{known}"
        return page(name, top + made.body, figures=made.figures)

    @router.get("/runs/{name}/report.html")
    def report(name: str) -> Response:
        """The page that `linerate report` makes, to be kept."""
        try:
            folder = library.folder(name)
            made = html.page(document_of(library.load(name), folder, library.evidence))
        except (NoSuchRunError, StoreError) as error:
            return _failed(name, error)
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        headers["content-disposition"] += ".html"
        return HTMLResponse(made.html, headers=headers)


def _compare(router: APIRouter, library: Library) -> None:
    @router.get("/compare")
    def compare(
        names: Annotated[list[str], Query(alias="run", max_length=COMPARED_MAX)] = [],  # noqa: B006
    ) -> HTMLResponse:
        """Each against the first."""
        title = "Side by side"
        if len(names) < 2:
            text = f'<h1>{title}</h1><p>Choose two runs or more in the <a href="/">list</a>.</p>'
            return page(title, text, status=422)
        try:
            made = html.page(comparison.document(library.compare(names)))
        except (NoSuchRunError, StoreError, CompareError) as error:
            return _failed(title, error)
        links = ", ".join(f'<a href="/runs/{quote(name)}">{escape(name)}</a>' for name in names)
        top = f'<h1>{title}</h1><p class="links">{links}</p><h2 class="unseen">All of them</h2>'
        return page(title, top + made.body, figures=made.figures)


def _failed(title: str, error: Exception) -> HTMLResponse:
    """A missing or broken run: shown in a page, without further effect."""
    status = 404 if isinstance(error, NoSuchRunError) else 422
    return page(
        title, f'<h1>{escape(title)}</h1><p class="warning">{escape(str(error))}</p>', status=status
    )


def _broken(library: Library, name: str, folder: Path, why: str) -> HTMLResponse:
    """A run that can't be read: why, and what there is of it. That is what was asked for: 200."""
    text = escape(why.removeprefix(f"{folder}/"))
    where = quote(name)
    kept = f'<a href="/live?run={where}">{LIVE_FILE}</a>'
    links = f"<p>There is of it: {kept}.</p>" if library.has(name, LIVE_FILE) else ""
    body = f'<h1>{escape(name)}</h1><p class="warning">This run is broken: {text}</p>'
    return page(name, f'{body}{links}<p class="note">In {escape(str(folder))}</p>')


def no_such_page(what: str) -> HTMLResponse:
    """Page for an unknown address."""
    text = f'<h1>No such page</h1><p>{escape(what)} is none; there is the <a href="/">list</a>.</p>'
    return page("No such page", text, status=404)


def _live(router: APIRouter, runner: Runner | None) -> None:
    @router.get("/live")
    def live(
        request: Request, name: Annotated[str, Query(alias="run", max_length=200)] = ""
    ) -> HTMLResponse:
        """The current measurement, or the history of a run's."""
        start = state_of(request, runner, KNOWN)
        title, now = (f"How {name} was measured", name) if name else ("Live", "What is measured")
        body = template("live.html").substitute(
            run=escape(name), start=_start(start, name), title=escape(title), now=escape(now)
        )
        return page(title, body, "" if name else "/live", ("draw.js", "charts.js", "live.js"))


def _start(state: str, name: str) -> str:
    """The form by which benches are started, or why there is none."""
    if name:
        return ""
    if state == "no":
        return '<p class="note">This server starts nothing (it runs with --no-start).</p>'
    if state == "token":
        return (
            '<p class="note">To start a bench from here, open the address with the token that '
            "<code>linerate serve</code> printed.</p>"
        )
    words: dict[str, Any] = {
        "suites": options(list(SUITES), "standard", "standard").replace(
            '<option value="">standard</option>', ""
        ),
        "duts": options([*ENGINE_MODES, *STARTED], "", "router"),
        "wires": options(list(WIRES), "", "card"),
        "rx_modes": options(list(RX_MODES), "", "polling"),
        "testers": options(list(TESTERS), "", "engine"),
        "drivers": options(list(INTERFACE_DRIVERS), "", "default"),
        "cards": "".join(f'<option value="{escape(name)}">' for name in PRESETS),
    }
    return template("start.html").substitute(words)
