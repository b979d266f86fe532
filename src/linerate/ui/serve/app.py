"""The application: pages, API, files, and the guard before all of them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from linerate import __version__
from linerate.ui.serve.api import api
from linerate.ui.serve.api_page import api_page
from linerate.ui.serve.assets import assets
from linerate.ui.serve.campaigns import Campaigns, campaign_api, campaign_pages
from linerate.ui.serve.gently import bound_threads
from linerate.ui.serve.library import Library
from linerate.ui.serve.metrics import metrics
from linerate.ui.serve.openapi import DescribedApi
from linerate.ui.serve.pages import no_such_page, pages
from linerate.ui.serve.runner import Runner
from linerate.ui.web.guard import App, Guard, Rules


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the command."""

    runs: Path
    rules: Rules
    #: Whether benches can be started and stopped.
    start: bool = True
    #: Folder of the dataset whose campaigns are shown.
    dataset: Path = Path("dataset")


def _mistaken(_request: Request, error: Exception) -> Response:
    """Say what is wrong in one line, without what was sent: it may be anything."""
    assert isinstance(error, RequestValidationError)
    text = "; ".join(
        f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()
    )
    return Response(json.dumps({"detail": text}), 422, media_type="application/json")


async def _nowhere(request: Request, error: Exception) -> Response:
    """Say to people in a page, and to programs in JSON, that there is no such thing."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 404 and not path.startswith(("/api/", "/static/")):
        return no_such_page(path)
    return await http_exception_handler(request, error)


def make_app(settings: Settings) -> App:
    """Put it together; benches that it started end with it."""
    library = Library(settings.runs)
    # Now, so that the first visitor need not wait.
    library.running()
    runner = Runner(settings.runs) if settings.start else None

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        bound_threads()
        yield
        if runner is not None:
            runner.close()

    app = DescribedApi(
        title="linerate",
        version=__version__,
        description="Runs, comparisons and live data of linerate. Starting and stopping needs the "
        "token that `linerate serve` printed, as `Authorization: Bearer TOKEN`.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.add_exception_handler(RequestValidationError, _mistaken)
    app.add_exception_handler(HTTPException, _nowhere)
    app.include_router(api(library, runner))
    app.include_router(pages(library, runner))
    campaigns = Campaigns(settings.dataset)
    app.include_router(campaign_api(campaigns))
    app.include_router(campaign_pages(campaigns))
    app.include_router(api_page())
    app.include_router(assets())
    app.include_router(metrics())
    return Guard(app, settings.rules)
