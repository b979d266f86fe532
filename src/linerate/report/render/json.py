"""A document as JSON, for programs."""

from linerate.base.published import printed
from linerate.report.document import Document


def render(document: Document) -> str:
    """The figures themselves, unrounded."""
    return printed(document.schema, document.data(), document.testbed)
