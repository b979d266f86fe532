"""A document as JSON, for programs."""

from linerate.base.published import json_text
from linerate.report.document import Document


def render(document: Document) -> str:
    """The figures themselves, unrounded."""
    return json_text(document.data())
