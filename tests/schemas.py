"""Published schemas, for tests of what is printed and kept."""

import jsonschema

from linerate.cli.commands.schema import all_kinds

KINDS = all_kinds()


def keeps_to(name: str, document: object) -> None:
    """Raise where a document is not as its kind's schema says."""
    jsonschema.Draft202012Validator(KINDS[name].schema()).validate(document)
