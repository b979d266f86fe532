"""JSON-RPC 2.0: methods by name, single requests and batches, errors as answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from linerate.trex_server import framing
from linerate.trex_server.errors import (
    BadParametersError,
    BadRequestError,
    BadTextError,
    FailedError,
    NoMethodError,
    RpcError,
)
from linerate.trex_server.server import Server
from linerate.trex_server.traffic_engine import TrafficEngineError

#: Requests in a batch.
BATCH_MAX = 65536
Handler = Callable[[Server, Any], Any]


@dataclass(frozen=True, slots=True)
class _Method:
    parameters: type[BaseModel]
    handler: Handler
    #: Called before a client has its `api_h`.
    free: bool


_METHODS: dict[str, _Method] = {}


def method(
    name: str, parameters: type[BaseModel], *, free: bool = False
) -> Callable[[Handler], Handler]:
    """Register the handler of a method; `free` ones need no API handle."""

    def register(handler: Handler) -> Handler:
        assert name not in _METHODS, name
        _METHODS[name] = _Method(parameters, handler, free)
        return handler

    return register


def method_names() -> list[str]:
    """All that are registered."""
    return sorted(_METHODS)


def answer(server: Server, data: bytes) -> bytes:
    """The answer to a message of any bytes."""
    deflated = framing.is_deflated(data)
    try:
        document = _parsed(framing.unpack(data).text)
        reply: Any = (
            _batch(server, document) if isinstance(document, list) else _one(server, document)
        )
    except RpcError as error:
        reply = _error(None, error)
    text = json.dumps(reply, separators=(",", ":"), allow_nan=False).encode()
    return framing.pack(framing.Message(text, deflated))


def _parsed(text: bytes) -> Any:  # noqa: ANN401 (of JSON)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadTextError("no JSON") from error


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _batch(server: Server, requests: list[Any]) -> Any:  # noqa: ANN401 (of JSON)
    """A batch of one is answered as an object, as TRex does."""
    if not requests or len(requests) > BATCH_MAX:
        raise BadRequestError(f"batch of {len(requests)}; expected 1 to {BATCH_MAX} requests")
    replies = [_one(server, request) for request in requests]
    return replies[0] if len(replies) == 1 else replies


def _one(server: Server, request: object) -> dict[str, Any]:
    number = request.get("id") if isinstance(request, dict) else None
    number = number if isinstance(number, (int, str)) else None
    try:
        return {"jsonrpc": "2.0", "id": number, "result": _result(server, request)}
    except RpcError as error:
        return _error(number, error)
    except TrafficEngineError as error:
        return _error(number, FailedError(str(error)))


def _result(server: Server, request: object) -> Any:  # noqa: ANN401 (of JSON)
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        raise BadRequestError("expected an object with jsonrpc: 2.0")
    name, given = request.get("method"), request.get("params", {})
    if not isinstance(name, str) or not isinstance(given, dict):
        raise BadRequestError("expected a method's name and its parameters")
    found = _METHODS.get(name)
    if found is None:
        raise NoMethodError(name)
    if not found.free and given.get("api_h") != server.api_handle:
        raise FailedError("api_h: not of this server: call api_sync_v2 first")
    try:
        parameters = found.parameters.model_validate(given)
    except ValidationError as error:
        raise BadParametersError(_mistake(name, error)) from error
    return found.handler(server, parameters)


def _mistake(name: str, error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(map(str, first["loc"]))[:120]
    return f"{name}: {where}: {first['msg']}"[:300]


def _error(number: int | str | None, error: RpcError) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": error.document()}
