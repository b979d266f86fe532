"""The exporter's application: GET /metrics alone, behind the same door as `linerate serve`."""

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from linerate.ui.exporter.collector import Exporter
from linerate.ui.web.guard import App, Guard, Rules

INDEX = "linerate exporter: metrics are at /metrics\n"


def make_app(exporter: Exporter, token: str | None) -> App:
    """Metrics for this host, or with a token for who has it."""

    async def metrics(_request: Request) -> Response:
        document, kind = await run_in_threadpool(exporter.text)
        return Response(document, headers={"content-type": kind})

    def index(_request: Request) -> Response:
        return PlainTextResponse(INDEX)

    app = Starlette(routes=[Route("/metrics", metrics), Route("/", index)])
    rules = Rules(closed=False) if token is None else Rules(closed=True, token=token)
    return Guard(app, rules)
