"""Reference of a file that users write, made of its JSON Schema: a table for each part."""

import json
from collections.abc import Iterator
from typing import Any

from linerate.report.render.markdown import escaped

PART = "#/$defs/"


def reference(title: str, whole: str, schema: dict[str, Any]) -> str:
    """Markdown; `whole` names the file's own keys."""
    parts = {whole: schema} | dict(sorted(schema.get("$defs", {}).items()))
    sections = [section for name, part in parts.items() for section in _section(name, part)]
    return "\n\n".join((f"# {title}", *sections))


def _section(name: str, part: dict[str, Any]) -> Iterator[str]:
    fields = part.get("properties")
    if not fields:
        return
    yield f"## {_called(name)}"
    if about := part.get("description"):
        yield " ".join(map(escaped, about.split("\n\n")))
    required = part.get("required", ())
    rows = [
        f"| `{key}` | {_type(field)} | {_default(key, field, required)} | {_about(field)} |"
        for key, field in fields.items()
    ]
    yield "\n".join(("| key | value | default | |", "| --- | --- | --- | --- |", *rows))


def _about(field: dict[str, Any]) -> str:
    """Its description, whose code stays code."""
    return str(field.get("description", "")).replace("|", r"\|")


def _called(name: str) -> str:
    """A part of the schema by its class alone; two of one name keep their module's."""
    *modules, last = name.split("__")
    return f"{last} ({modules[-1]})" if modules else last


def _type(field: dict[str, Any]) -> str:
    if reference := field.get("$ref"):
        name = _called(reference.removeprefix(PART))
        anchor = name.lower().replace(" ", "-").replace("(", "").replace(")", "")
        return f"[{name}](#{anchor})"
    if "enum" in field:
        return ", ".join(f"`{_word(one)}`" for one in field["enum"])
    if "const" in field:
        return f"`{_word(field['const'])}`"
    if either := field.get("anyOf") or field.get("oneOf"):
        kinds = [one for one in either if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(map(_type, kinds)))
    if field.get("type") == "array":
        items: dict[str, Any] = field.get("items") or field.get("prefixItems", [{}])[0]
        return f"list of {_type(items)}"
    return f"{field.get('type', 'any')}{_range(field)}"


def _range(field: dict[str, Any]) -> str:
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    if low is None and high is None:
        return ""
    if high is None:
        return f", {low} or more" if "minimum" in field else f", above {low}"
    return f", {low} to {high}" if low is not None else f", up to {high}"


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _default(key: str, field: dict[str, Any], required: tuple[str, ...]) -> str:
    if key in required:
        return "required"
    value = field.get("default")
    return "" if value in (None, "", [], {}) or isinstance(value, dict) else f"`{_word(value)}`"
