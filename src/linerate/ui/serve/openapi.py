"""OpenAPI of the server: its own routes, and the published schemas that their answers keep to."""

import json
from typing import Any

from fastapi import FastAPI

from linerate.base.published import KINDS

DEFINITION = "#/$defs/"
COMPONENT = "#/components/schemas/"
#: Published schemas that answers keep to.
PUBLISHED = ("compare", "journal", "run")

Responses = dict[int | str, dict[str, Any]]


def answer(name: str, description: str) -> Responses:
    """A route's answer: the result of a published schema, without its envelope."""
    schema = {"$ref": f"{COMPONENT}{name}"}
    return {200: {"description": description, "content": {"application/json": {"schema": schema}}}}


class DescribedApi(FastAPI):
    """An application whose OpenAPI text has the published schemas, too."""

    def openapi(self) -> dict[str, Any]:
        """Made once."""
        document = super().openapi()
        schemas = document["components"]["schemas"]
        if PUBLISHED[0] not in schemas:
            for name in PUBLISHED:
                schemas |= _components(name)
        return document


def _components(name: str) -> dict[str, Any]:
    """A published result, and each of its parts under a name of its own."""
    found = KINDS[name].result_schema()
    text = json.dumps(found).replace(f'"{DEFINITION}', f'"{COMPONENT}{name}.')
    whole: dict[str, Any] = json.loads(text)
    parts = whole.pop("$defs", {})
    return {name: whole} | {f"{name}.{part}": schema for part, schema in parts.items()}
