"""Published tables, recomputed: which rows contradict themselves, and why."""

from linerate.audit.audit import Audit, audit
from linerate.audit.checks import Finding
from linerate.audit.span import Figure, Span, figure
from linerate.audit.table import Row, Table, TableError, read_table, table_of

__all__ = [
    "Audit",
    "Figure",
    "Finding",
    "Row",
    "Span",
    "Table",
    "TableError",
    "audit",
    "figure",
    "read_table",
    "table_of",
]
