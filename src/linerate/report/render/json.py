"""A document as JSON, for programs."""

import json

from linerate.report.document import Document


def render(document: Document) -> str:
    """The figures themselves, unrounded."""
    return json.dumps(document.data(), indent=1)
