"""Published schemas, for tests of what is printed and kept."""

import json
from typing import Any

import jsonschema
from tests.command import result_of

from linerate.cli.commands.schema import all_kinds

KINDS = all_kinds()


def valid_result(name: str, printed: str) -> Any:
    """Result that a command printed with `--json`; raises where that is not as its schema says."""
    keeps_to(name, json.loads(printed))
    return result_of(printed)


def keeps_to(name: str, document: object) -> None:
    """Raise where a document is not as its kind's schema says."""
    jsonschema.Draft202012Validator(KINDS[name].schema()).validate(document)
