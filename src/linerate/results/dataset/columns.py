"""Columns of the dataset in DuckDB's types, made of the row's own."""

from datetime import datetime
from typing import get_args

from linerate.results.dataset.row import TrialRow

#: Moments are UTC, without a zone: readers of Parquet differ in what they make of one.
_TYPES: dict[object, str] = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    datetime: "TIMESTAMP",
    dict[str, str]: "MAP(VARCHAR, VARCHAR)",
    dict[str, int]: "MAP(VARCHAR, BIGINT)",
    dict[str, float]: "MAP(VARCHAR, DOUBLE)",
}


def _type_of(annotation: object) -> str:
    """Type of a column; None of a figure is NULL."""
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return _TYPES[annotation] if annotation in _TYPES else _TYPES[parts[0]]


#: By name, in the order of the row.
COLUMNS = {name: _type_of(field.annotation) for name, field in TrialRow.model_fields.items()}


def selected(there: set[str]) -> str:
    """All columns in SQL, of files that have those of `there`: the others are NULL."""
    parts = (
        f'CAST("{name}" AS {kind}) AS "{name}"' if name in there else f'NULL::{kind} AS "{name}"'
        for name, kind in COLUMNS.items()
    )
    return ", ".join(parts)
