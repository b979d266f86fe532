"""The API: runs, comparisons, benches as JSON; live data as events. OpenAPI describes it."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request, Response
from pydantic import BaseModel

from linerate.base.errors import TestbedError
from linerate.base.published import json_text
from linerate.report import comparison
from linerate.results.compare import CompareError
from linerate.results.index import Query as Selection
from linerate.results.index import QueryError
from linerate.results.index.row import RunRow
from linerate.results.store import StoreError
from linerate.ui.serve.gently import Gently
from linerate.ui.serve.library import Library, NoSuchRunError
from linerate.ui.serve.openapi import Responses, answer
from linerate.ui.serve.runner import BusyError, Order, Runner, State
from linerate.ui.serve.stream import EventStream, Streams, live

NAME_MAX = 200
COMPARED_MAX = 12
#: A name as in an address, and a number.
EVENT_ID_MAX = 1000
#: No file is longer, and none can be asked for what is behind.
OFFSET_MAX = 2**62


class Refusal(BaseModel):
    """Why not, in one line."""

    detail: str


class RunList(BaseModel):
    """One page of the list."""

    total: int
    runs: list[RunRow]


class BenchState(State):
    """The bench of this server, and the run of whoever measures now."""

    #: Whether benches may be started here at all.
    allowed: bool
    run: str | None = None


#: Responses of all: the guard's refusals too.
REFUSED: Responses = {
    400: {"model": Refusal, "description": "Not asked rightly"},
    401: {"model": Refusal, "description": "The token is missing or wrong"},
    403: {"model": Refusal, "description": "Not from this page, or not on this server"},
    422: {"model": Refusal, "description": "What was asked can't be had"},
    503: {"model": Refusal, "description": "Too many at a time"},
}
#: The text of all events; `data` of each is a line of live.jsonl.
EVENTS = {"type": "string", "contentMediaType": "text/event-stream",
          "x-event": {"$ref": "#/components/schemas/journal"}}  # fmt: skip
NOT_FOUND: Responses = {404: {"model": Refusal, "description": "No such run"}}
BODY: Responses = {
    408: {"model": Refusal, "description": "The request did not come in time"},
    413: {"model": Refusal, "description": "The request is too long"},
    409: {"model": Refusal, "description": "A bench runs already"},
}
Filters = Annotated[
    list[str], Query(alias="filter", max_length=20, description="dut=router, mpps>5, or words")
]
Names = Annotated[list[str], Query(alias="run", min_length=2, max_length=COMPARED_MAX)]


def api(library: Library, runner: Runner | None) -> APIRouter:
    """All routes under /api; without a runner nothing can be started."""
    router = APIRouter(prefix="/api", responses=REFUSED, route_class=Gently)
    _runs(router, library)
    _benches(router, library, runner)
    _live(router, library)
    return router


def _runs(router: APIRouter, library: Library) -> None:
    @router.get("/runs")
    def runs(
        filters: Filters = [],  # noqa: B006 (FastAPI copies it)
        sort: Annotated[str, Query(max_length=NAME_MAX)] = "-started",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> RunList:
        """List runs, the newest first."""
        try:
            rows, total = library.page(Selection(tuple(filters), sort, limit, offset))
        except QueryError as error:
            raise HTTPException(422, str(error)) from error
        return RunList(total=total, runs=[RunRow(**row) for row in rows])

    @router.get("/runs/{name}", responses=NOT_FOUND | answer("run", "run.json"))
    def run(name: str) -> Response:
        """One run: its run.json, if this version reads it."""
        folder = _found(library, name)
        try:
            document = library.document(name)
        except OSError as error:
            raise HTTPException(404, f"{name}: no run.json that can be read") from error
        except StoreError as error:
            raise HTTPException(422, str(error).removeprefix(f"{folder}/")) from error
        return Response(document, media_type="application/json")

    @router.get("/compare", responses=NOT_FOUND | answer("compare", "A pair for each other run"))
    def compare(names: Names) -> Response:
        """Runs side by side: each against the first."""
        try:
            text = json_text(comparison.outputs(library.compare(names)))
            return Response(text, media_type="application/json")
        except NoSuchRunError as error:
            raise HTTPException(404, str(error)) from error
        except (CompareError, StoreError) as error:
            raise HTTPException(422, str(error)) from error


def _state(library: Library, runner: Runner | None) -> BenchState:
    """The current measurement, here or by others."""
    if runner is None:
        return BenchState(allowed=False, run=library.running())
    text = runner.state()
    run = library.run_of(text.pid) if text.running and text.pid else library.running()
    return BenchState(**text.model_dump(), allowed=True, run=run)


def _allowed(runner: Runner | None) -> Runner:
    if runner is None:
        raise HTTPException(403, "this server starts nothing: it runs with --no-start")
    return runner


def _start(library: Library, runner: Runner, order: Order) -> None:
    """Start a bench, if its options are right and nothing else runs."""
    try:
        order.check()
    except TestbedError as error:
        raise HTTPException(422, "; ".join(error.lines)) from error
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    if (run := library.running_now()) is not None:
        raise HTTPException(409, f"a bench runs already: {run}")
    try:
        runner.start(order)
    except BusyError as error:
        raise HTTPException(409, str(error)) from error


def _benches(router: APIRouter, library: Library, runner: Runner | None) -> None:
    @router.get("/bench")
    def bench() -> BenchState:
        """The current measurement."""
        return _state(library, runner)

    @router.post("/bench", status_code=202, responses=BODY)
    def start(order: Order) -> BenchState:
        """Start a bench."""
        _start(library, _allowed(runner), order)
        return _state(library, runner)

    @router.delete("/bench", responses=BODY)
    async def stop() -> BenchState:
        """Stop the bench that was started here; what it measured is kept.

        By the event loop: threads may all be at work behind a bench that has every CPU.
        """
        stopped = _allowed(runner).stop()
        run = library.known_run_of(stopped.pid) if stopped.running and stopped.pid else None
        return BenchState(**stopped.model_dump(), allowed=True, run=run)


def _live(router: APIRouter, library: Library) -> None:
    streams = Streams()

    @router.get(
        "/live",
        responses=NOT_FOUND | {200: {"content": {"text/event-stream": {"schema": EVENTS}}}},
        response_class=Response,
    )
    def events(
        name: Annotated[str | None, Query(alias="run", max_length=NAME_MAX)] = None,
        offset: Annotated[int, Query(ge=0, le=OFFSET_MAX)] = 0,
        last_event_id: Annotated[str, Header(max_length=EVENT_ID_MAX)] = "",
    ) -> Response:
        """Server-sent events: each line of live.jsonl of the run, or of the one that runs."""
        if not streams.enter():
            raise HTTPException(503, "too many watch: try again later")
        try:
            if name is not None:
                _found(library, name)
            return EventStream(live(library, name, offset, last_event_id), streams)
        except BaseException:
            streams.leave()
            raise


def state_of(request: Request, runner: Runner | None, known: str) -> str:
    """Whether a page may start benches: `no`, `token` (it has to be given first), or `yes`."""
    if runner is None:
        return "no"
    return "yes" if request.scope.get(known) else "token"


def _found(library: Library, name: str) -> Any:  # noqa: ANN401 (a Path; see Library.folder)
    try:
        return library.folder(name)
    except NoSuchRunError as error:
        raise HTTPException(404, str(error)) from error
