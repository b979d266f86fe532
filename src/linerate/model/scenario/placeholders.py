"""Placeholders `{name}` in a scenario's texts, and the values that fill them in.

A brace that follows a `$`, holds a blank or begins with a digit is a shell's or nftables' own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

#: A value of a placeholder, as YAML has it.
Scalar = str | int | float
PLACEHOLDER = re.compile(r"(?<![$\\])\{([a-z][a-z0-9_]*)\}")


class PlaceholderError(ValueError):
    """A placeholder that nothing fills in."""


def names_in(part: Any) -> Iterator[str]:  # noqa: ANN401 (of YAML)
    """Names of all placeholders in a text, or in all texts of a list or mapping."""
    if isinstance(part, str):
        yield from PLACEHOLDER.findall(part)
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from names_in(key)
            yield from names_in(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from names_in(value)


def filled(part: Any, facts: Mapping[str, Scalar]) -> Any:  # noqa: ANN401 (of YAML)
    """The same with placeholders filled in; a text that is one placeholder becomes its value.

    Raises PlaceholderError.
    """
    if isinstance(part, str):
        return _filled_text(part, facts)
    if isinstance(part, Mapping):
        return {filled(key, facts): filled(value, facts) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [filled(value, facts) for value in part]
    return part


def _filled_text(text: str, facts: Mapping[str, Scalar]) -> Scalar:
    whole = PLACEHOLDER.fullmatch(text)
    if whole:
        return _fact(whole[1], facts)
    return PLACEHOLDER.sub(lambda found: str(_fact(found[1], facts)), text)


def _fact(name: str, facts: Mapping[str, Scalar]) -> Scalar:
    if name not in facts:
        known = ", ".join(f"{{{one}}}" for one in facts)
        raise PlaceholderError(f"no such placeholder {{{name}}}; expected one of {known}")
    return facts[name]
