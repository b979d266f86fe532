"""Questions that are ready to ask: one file of SQL each.

The first comment is the title; further ones are values that may be set: `-- $NAME: what it is`.
A value that is not set is NULL.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_VALUE = re.compile(r"-- \$([a-z_]+): (.+)")
_SUFFIX = ".sql"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the dataset."""

    name: str
    title: str
    #: By name, what may be set.
    values: dict[str, str]
    sql: str


@cache
def ready() -> dict[str, Question]:
    """All of them by name."""
    here = sorted(
        (file for file in files(__name__).iterdir() if file.name.endswith(_SUFFIX)),
        key=lambda file: file.name,
    )
    return {
        name: _question(name, file.read_text(encoding="utf-8"))
        for file in here
        if (name := file.name.removesuffix(_SUFFIX))
    }


def _question(name: str, text: str) -> Question:
    title, *lines = text.splitlines()
    found = (_VALUE.fullmatch(line) for line in lines)
    values = {match[1]: match[2] for match in found if match}
    return Question(name, title.removeprefix("-- "), values, text)
