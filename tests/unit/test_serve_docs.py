"""OpenAPI of the server and the page about it: complete, of one piece, nothing from elsewhere."""

import json
import re

import jsonschema
import pytest
from tests.many_runs import make_many
from tests.unit.test_serve_api import get

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture
def runs(tmp_path):
    make_many(tmp_path, 2)
    return tmp_path


@pytest.fixture
def document(runs):
    return json.loads(get(runs, "/api/openapi.json")[2])


def answers(document):
    """Method, path and each content of a route's answer that is no refusal."""
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            good = [one for code, one in route["responses"].items() if code.startswith("2")]
            assert good, (method, path)
            for one in good:
                for kind, content in one["content"].items():
                    yield method, path, kind, content["schema"]


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_every_route_has_a_schema_of_its_answer(document):
    schemas = document["components"]["schemas"]
    found = list(answers(document))
    assert {path for _, path, *_ in found} == set(document["paths"])
    for _method, _path, kind, schema in found:
        if kind == "application/json":
            name = schema["$ref"].removeprefix("#/components/schemas/")
            assert {"properties", "items", "anyOf"} & schemas[name].keys(), name
        else:
            assert schema["type"] == "string"


def test_every_reference_leads_somewhere(document):
    schemas = document["components"]["schemas"]
    found = set(references(document))
    assert found
    assert {one.removeprefix("#/components/schemas/") for one in found} <= schemas.keys()


def test_answers_keep_to_their_schemas(runs, document):
    names = sorted(path.name for path in runs.glob("2*"))
    asked = {
        "/api/runs": ("/api/runs", ""),
        "/api/runs/{name}": (f"/api/runs/{names[0]}", ""),
        "/api/compare": ("/api/compare", f"run={names[0]}&run={names[1]}"),
        "/api/bench": ("/api/bench", ""),
    }
    schemas = {(method, path): schema for method, path, _, schema in answers(document)}
    for path, (where, query) in asked.items():
        status, _, text = get(runs, where, query=query.encode())
        assert status == 200, text
        schema = document | {"$schema": DIALECT, **schemas["get", path]}
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))


def test_the_page_has_every_route_and_schema(runs, document):
    status, _, body = get(runs, "/docs")
    page = body.decode()
    assert status == 200
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page
    links = set(re.findall(r'href="#(schema-[^"]+)"', page))
    assert links
    assert links <= set(re.findall(r'id="(schema-[^"]+)"', page))


def test_the_page_loads_nothing_from_elsewhere(runs):
    page = get(runs, "/docs")[2].decode()
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert loaded
    assert all(one.startswith(("/", "#")) and not one.startswith("//") for one in loaded)
    assert "@import" not in page
