"""Refusals and the end of an engine, as errors of the server."""

from collections.abc import Callable
from typing import TypeVar

from linerate.engine.telemetry import RefusedError, TelemetryError
from linerate.trex_server.traffic_engine import TrafficEngineError

Answer = TypeVar("Answer")


def reported(ask: Callable[[], Answer]) -> Answer:
    """The answer; raises TrafficEngineError with the engine's reason in one line."""
    try:
        return ask()
    except RefusedError as error:
        raise TrafficEngineError(str(error.answer.get("error", error))) from error
    except TelemetryError as error:
        raise TrafficEngineError(str(error)) from error
