"""Rows as the bytes of one Parquet file."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from linerate.base import ownership
from linerate.results.dataset.columns import COLUMNS
from linerate.results.dataset.row import TrialRow


def parquet_of(rows: Sequence[TrialRow]) -> bytes:
    """All columns of the rows, in their order."""
    import duckdb  # noqa: PLC0415 (slow to load)

    with ownership.temporary_folder("dataset") as name:
        lines, made = Path(name) / "rows.jsonl", Path(name) / "rows.parquet"
        lines.write_text("".join(f"{_line(row)}\n" for row in rows), encoding="utf-8")
        with duckdb.connect(":memory:", config={"threads": 1}) as database:
            relation = database.read_json(
                str(lines), columns=dict(COLUMNS), format="newline_delimited"
            )
            relation.write_parquet(str(made), compression="zstd")
        return made.read_bytes()


def utc(moment: datetime) -> datetime:
    """A moment without a zone, in UTC: as columns have it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _line(row: TrialRow) -> str:
    return row.model_copy(update={"started": utc(row.started)}).model_dump_json()
