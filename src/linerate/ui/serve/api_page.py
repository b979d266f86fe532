"""The page about the API: OpenAPI's text as HTML, made here; it loads nothing from elsewhere."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from linerate.ui.serve.gently import Gently
from linerate.ui.serve.shell import page

WHERE = "/docs"
COMPONENT = "#/components/schemas/"


def api_page() -> APIRouter:
    """The one route of the page."""
    router = APIRouter(include_in_schema=False, route_class=Gently)

    @router.get(WHERE)
    def docs(request: Request) -> HTMLResponse:
        """Routes, parameters, answers, schemas."""
        return page("API", _body(request.app.openapi()), WHERE)

    return router


def _body(document: dict[str, Any]) -> str:
    about = escape(document["info"]["description"])
    schemas = sorted(document["components"]["schemas"].items())
    return "\n".join(
        (
            "<h1>API</h1>",
            f'<p>{about} <a href="/api/openapi.json">OpenAPI</a> for programs.</p>',
            *_routes(document["paths"]),
            "<h2>Schemas</h2>",
            *(_schema(name, schema) for name, schema in schemas),
        )
    )


def _routes(paths: dict[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, route in methods.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
            text = route.get("description") or route["summary"]
            yield "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n"))
            parameters = [_parameter(one) for one in route.get("parameters", ())]
            yield _table("Parameters", ("name", "in", "type", "what"), parameters)
            body = route.get("requestBody", {}).get("content", {})
            yield _table("Body", ("content", "schema"), [_content(*one) for one in body.items()])
            answers = [row for code in route["responses"].items() for row in _answers(*code)]
            yield _table("Answers", ("status", "what", "content", "schema"), answers)


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Cells are HTML; nothing without rows."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def _parameter(one: dict[str, Any]) -> tuple[str, ...]:
    schema = one["schema"]
    default = f", {json.dumps(schema['default'])} by default" if "default" in schema else ""
    kind = f"{_type(schema)}{escape(default)}"
    required = "required" if one.get("required") else ""
    what = schema.get("description") or one.get("description") or required
    return f"<code>{escape(one['name'])}</code>", escape(one["in"]), kind, escape(what)


def _answers(status: str, answer: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    text = escape(answer.get("description", ""))
    contents = answer.get("content") or {"": {}}
    for kind, content in contents.items():
        yield (escape(status), text, *_content(kind, content))


def _content(kind: str, content: dict[str, Any]) -> tuple[str, str]:
    schema = content.get("schema") or {}
    return escape(kind), _type(schema) if schema else ""


def _type(schema: dict[str, Any]) -> str:
    """A schema in a word; one with a name links to it."""
    if reference := schema.get("$ref"):
        name = escape(reference.removeprefix(COMPONENT))
        return f'<a href="#schema-{name}">{name}</a>'
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(map(_type, either))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "enum" in schema:
        return escape(", ".join(map(str, schema["enum"])))
    return escape(str(schema.get("const", schema.get("type", "any"))))


def _schema(name: str, schema: dict[str, Any]) -> str:
    """One schema: its fields as a table, or its type."""
    required = schema.get("required", ())
    rows = [
        (
            f"<code>{escape(field)}</code>",
            _type(one),
            "" if field in required else "optional",
            escape(one.get("description", "")),
        )
        for field, one in schema.get("properties", {}).items()
    ]
    about = f"<p>{escape(schema['description'])}</p>" if "description" in schema else ""
    fields = _table(f"Fields of {name}", ("field", "type", "", "what"), rows)
    return (
        f'<details id="schema-{escape(name)}"><summary>{escape(name)}</summary>{about}'
        f"{fields or f'<p>{_type(schema)}</p>'}</details>"
    )
