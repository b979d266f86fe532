"""/metrics: what `linerate exporter` says, at the address of the pages."""

from fastapi import APIRouter, Response

from linerate.ui.exporter import metrics_text


def metrics() -> APIRouter:
    """The one route of Prometheus."""
    router = APIRouter()

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    def text() -> Response:
        """Metrics of every engine on this host, in Prometheus's text format."""
        document, kind = metrics_text()
        return Response(document, headers={"content-type": kind})

    return router
