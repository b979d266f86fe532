"""Published tables, recomputed: which rows contradict themselves, and why."""

from linerate.analysis.audit.audit import Audit, audit
from linerate.analysis.audit.checks import Finding
from linerate.analysis.audit.span import Figure, Span, figure
from linerate.analysis.audit.table import Row, Table, TableError, read_table, table_of

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
