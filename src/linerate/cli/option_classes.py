"""Options that several commands share, as classes: each field of a class is an option."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def with_option_classes(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command, as typer reads it, of a function that takes dataclasses of options.

    Each parameter whose type is a dataclass becomes one parameter a field, at its place.
    """
    declared = inspect.signature(function, eval_str=True)
    classes: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in declared.parameters.items()
        if is_dataclass(parameter.annotation)
    }

    @functools.wraps(function)
    def command(**given: Any) -> None:  # noqa: ANN401 (values of any option)
        options = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in classes.items()
        }
        function(**given, **options)

    parameters: list[inspect.Parameter] = []
    for name, parameter in declared.parameters.items():
        kind = classes.get(name)
        parameters += [parameter] if kind is None else _parameters_of(kind)
    command.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _parameters_of(kind: Any) -> list[inspect.Parameter]:  # noqa: ANN401 (a dataclass)
    types = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(kind)
    ]
