"""JSON that linerate prints and keeps: each kind has a model, whose JSON Schema is published."""

import ast
import inspect
import json
import platform
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    WithJsonSchema,
    create_model,
    model_serializer,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_jsonable_python

from linerate.base.frozen_model import FrozenModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: Written as it is: an integer stays one.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
#: Printed by a command, kept in a run's folder, or written by users: their keys have short names.
Form = Literal["printed", "kept", "written"]
T = TypeVar("T")


class Output(FrozenModel):
    """JSON for programs, of an object's attributes; an optional field that is not set is left out.

    Such a field has a default, so that its schema does not require it.
    """

    model_config = ConfigDict(
        defer_build=True, from_attributes=True, populate_by_name=True, serialize_by_alias=True
    )

    @model_serializer(mode="wrap")
    def _without_unset(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        unset = type(self).model_fields.keys() - self.model_fields_set
        return {name: value for name, value in document.items() if name not in unset}


class Envelope(Output):
    """Frame of every JSON that a command prints: schema, place, time and words, then the result."""

    #: Name of the schema.
    schema_name: str = Field(serialization_alias="schema")
    #: Version of the schema.
    version: int
    #: Name of the host on which the command ran; empty in what is made to be passed on.
    host: str
    #: Testbed of the run that is reported, with the keys of its run.json.
    testbed: dict[str, Any] = {}
    #: The command and its words.
    command: tuple[str, ...]
    #: When it was printed, UTC.
    time: str
    result: Any


def plain(output: object) -> Any:  # noqa: ANN401 (what JSON can hold)
    """Dictionaries and lists of models."""
    return to_jsonable_python(output)


def json_text(output: object, indent: int = 1) -> str:
    """Write JSON as commands print it, figures unrounded."""
    return json.dumps(plain(output), indent=indent)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of JSON."""

    name: str
    #: Where it is printed or kept.
    text: str
    #: Raised when a name or a unit changes, or a field goes.
    version: int
    model: Any
    form: Form

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema; of what is printed, in its envelope."""
        return self._schema_of(self._enveloped() if self.form == "printed" else self.model)

    def result_schema(self) -> dict[str, Any]:
        """Its JSON Schema without an envelope."""
        return self._schema_of(self.model)

    def _schema_of(self, model: Any) -> dict[str, Any]:  # noqa: ANN401 (a type)
        found = TypeAdapter(model).json_schema(
            by_alias=self.form != "kept",
            mode="validation" if self.form == "written" else "serialization",
            schema_generator=_Described,
        )
        about = {
            "$schema": DIALECT,
            "$id": f"urn:linerate:{self.name}:{self.version}",
            "title": self.text,
        }
        return about | {key: value for key, value in found.items() if key not in about}

    def _enveloped(self) -> Any:  # noqa: ANN401 (a model)
        """The envelope, with this kind's name, version and result."""
        fields: dict[str, Any] = {
            "schema_name": (Literal[self.name], Field(serialization_alias="schema")),
            "version": (Literal[self.version], ...),
            "result": (self.model, ...),
        }
        return create_model("Envelope", __base__=Envelope, __doc__=Envelope.__doc__, **fields)


#: Printed outputs have stood in an envelope since this version.
ENVELOPED = 2
#: By name. A kind is known as soon as the module that has its model is imported.
KINDS: dict[str, Kind] = {}


def published(
    name: str, text: str, version: int | None = None, form: Form = "printed"
) -> Callable[[T], T]:
    """Publish the schema of a model, or of a type that pydantic knows, under a name."""

    def register(model: T) -> T:
        first = ENVELOPED if form == "printed" else 1
        KINDS[name] = Kind(name, text, version or first, model, form)
        return model

    return register


def enveloped(name: str, result: object, testbed: BaseModel | None = None) -> Envelope:
    """Put a command's result into the envelope of its schema."""
    about = {} if testbed is None else {"testbed": testbed.model_dump(mode="json", by_alias=False)}
    return Envelope(
        schema_name=name,
        version=KINDS[name].version,
        host=platform.node(),
        command=("linerate", *sys.argv[1:]),
        time=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        result=result,
        **about,
    )


def printed(name: str, result: object, testbed: BaseModel | None = None) -> str:
    """The text that a command prints with `--json`."""
    return json_text(enveloped(name, result, testbed))


class _Described(GenerateJsonSchema):
    """Schemas whose fields are described by the comments (`#:`) above them."""

    def ser_schema(self, schema: Any) -> Any:  # noqa: ANN401 (pydantic's own)
        """Describe the fields of a model that leaves some out, too."""
        return None if schema["type"] == "function-wrap" else super().ser_schema(schema)

    def model_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 (pydantic's own)
        """Describe a model."""
        return _described(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 (pydantic's own)
        """Describe a dataclass."""
        return _described(super().dataclass_schema(schema), schema["cls"])


def _described(made: dict[str, Any], model: type) -> dict[str, Any]:
    """Give each field its comment; titles that repeat a field's name are left out."""
    texts = _comments(model)
    fields = getattr(model, "model_fields", {})
    texts = texts | {
        one.alias: texts[name] for name, one in fields.items() if one.alias and name in texts
    }
    for name, field in made.get("properties", {}).items():
        field.pop("title", None)
        if name in texts:
            field.setdefault("description", texts[name])
    return made


@cache
def _comments(model: type) -> dict[str, str]:
    """Comment above each field, of a class and those that it extends."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if one.__module__.startswith("linerate."):
            found |= _own_comments(one)
    return found


def _own_comments(model: type) -> dict[str, str]:
    try:
        lines = textwrap.dedent(inspect.getsource(model)).splitlines()
    except (OSError, TypeError):  # made by a program, of fields that it knows
        return {}
    (body,) = ast.parse("\n".join(lines)).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text: list[str] = []
            above = node.lineno - 2
            while lines[above].strip().startswith("#:"):
                text.insert(0, lines[above].strip().removeprefix("#:").strip())
                above -= 1
            if text:
                found[node.target.id] = " ".join(text)
    return found
