"""Runs as tables for other programs: runs, labels, results, goals, losses, node cycles."""

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from linerate.model.ledger import NodeTime
from linerate.results.index.query import COLUMNS
from linerate.results.index.row import row_of
from linerate.results.store import Run, StoreError

if TYPE_CHECKING:
    import duckdb

Form = Literal["parquet", "csv"]
Row = dict[str, Any]

_TRIAL = {"run": "VARCHAR", "trial": "VARCHAR", "test": "VARCHAR"}
TABLES: dict[str, dict[str, str]] = {
    "runs": COLUMNS,
    "results": {
        **_TRIAL,
        "attempt": "INTEGER",
        "repeat": "INTEGER",
        "configuration": "VARCHAR",
        "valid": "BOOLEAN",
        "invalid": "VARCHAR",
        "suspect": "VARCHAR",
        "provisional": "BOOLEAN",
        "duration_seconds": "DOUBLE",
        "directions": "INTEGER",
        "frame_bytes": "DOUBLE",
        "asked_pps": "DOUBLE",
        "offered_pps": "DOUBLE",
        "received_pps": "DOUBLE",
        "l1_bps": "DOUBLE",
        "l2_bps": "DOUBLE",
        "line_percent": "DOUBLE",
        "loss_percent": "DOUBLE",
        "sent_packets": "BIGINT",
        "received_packets": "BIGINT",
        "unexplained_packets": "BIGINT",
        "limit": "VARCHAR",
        "confidence": "VARCHAR",
        "sentence": "VARCHAR",
    },
    "labels": {"run": "VARCHAR", "key": "VARCHAR", "value": "VARCHAR"},
    "goals": {
        "run": "VARCHAR",
        "loadtest": "VARCHAR",
        "frame_bytes": "DOUBLE",
        "loss_ratio": "DOUBLE",
        "found": "BOOLEAN",
        "lower_pps": "DOUBLE",
        "upper_pps": "DOUBLE",
        "forwarded_pps": "DOUBLE",
        "lower_trial": "VARCHAR",
        "upper_trial": "VARCHAR",
    },
    "losses": {**_TRIAL, "place": "VARCHAR", "packets": "BIGINT"},
    "node_cycles": {
        **_TRIAL,
        "worker": "VARCHAR",
        "role": "VARCHAR",
        "tsc_hz": "BIGINT",
        "elapsed_cycles": "BIGINT",
        "node": "VARCHAR",
        "calls": "BIGINT",
        "vectors": "BIGINT",
        "cycles": "BIGINT",
        "idle_calls": "BIGINT",
        "idle_cycles": "BIGINT",
    },
}
_SAME = (
    *("attempt", "repeat", "configuration", "valid", "provisional", "duration_seconds"),
    *("directions", "frame_bytes", "asked_pps", "offered_pps", "received_pps", "l1_bps", "l2_bps"),
    *("line_percent", "loss_percent"),
)


def export(runs: Iterable[tuple[str, Run]], folder: Path, form: Form) -> dict[str, int]:
    """Write FOLDER/TABLE.FORM for each table; returns their rows. Raises StoreError."""
    import duckdb  # noqa: PLC0415 (slow to load)

    counts = dict.fromkeys(TABLES, 0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="linerate-", dir=folder) as name:
            parts = {table: Path(name) / f"{table}.jsonl" for table in TABLES}
            files = {table: path.open("w", encoding="utf-8") for table, path in parts.items()}
            for run_name, run in runs:
                for table, row in _rows(run_name, run):
                    files[table].write(json.dumps(row) + "\n")
                    counts[table] += 1
            for file in files.values():
                file.close()
            for table, path in parts.items():
                _convert(path, TABLES[table], folder / f"{table}.{form}", form)
    except OSError as error:
        raise StoreError(f"{folder}: {(error.strerror or str(error)).lower()}") from error
    except duckdb.Error as error:
        raise StoreError(f"{folder}: {str(error).splitlines()[0]}") from error
    return counts


def relation(runs: Iterable[tuple[str, Run]], table: str) -> "duckdb.DuckDBPyRelation":
    """One table of some runs, in a database of its own, in memory."""
    import duckdb  # noqa: PLC0415 (slow to load)

    columns = TABLES[table]
    rows = [row for name, run in runs for kind, row in _rows(name, run) if kind == table]
    values = [[row[column] for row in rows] for column in columns]
    parts = (
        f'unnest(?::{kind.replace("TIMESTAMPTZ", "TIMESTAMP")}[]) AS "{name}"'
        for name, kind in columns.items()
    )
    database = duckdb.connect(":memory:")
    return database.sql(f"SELECT {', '.join(parts)}", params=values)


def _convert(lines: Path, columns: dict[str, str], output: Path, form: Form) -> None:
    """Turn lines of JSON into a file of columns, whole or not at all."""
    import duckdb  # noqa: PLC0415 (slow to load)

    named = {name: kind.replace("TIMESTAMPTZ", "TIMESTAMP") for name, kind in columns.items()}
    made = lines.with_suffix(f".{form}")
    database = duckdb.connect(":memory:", config={"threads": 1})
    relation = database.read_json(str(lines), columns=named, format="newline_delimited")
    if form == "parquet":
        relation.write_parquet(str(made), compression="zstd")
    else:
        relation.write_csv(str(made), header=True)
    database.close()
    made.chmod(0o644)
    made.replace(output)


def _spent(node: NodeTime) -> Row:
    counts = {"calls": node.calls, "vectors": node.vectors, "cycles": node.clocks}
    return counts | {"idle_calls": node.idle_calls, "idle_cycles": node.idle_clocks}


def _rows(name: str, run: Run) -> Iterator[tuple[str, Row]]:
    """All rows of one run, with their tables."""
    yield "runs", row_of(name, run)
    for key, value in run.labels.items():
        yield "labels", {"run": name, "key": key, "value": value}
    for search in run.searches:
        about = {"run": name, "loadtest": search.loadtest, "frame_bytes": search.frame_bytes}
        for goal in search.goals:
            yield "goals", {**about, "found": search.found, **goal.model_dump()}
    for result in run.results:
        trial = {"run": name, "trial": result.trial, "test": result.test}
        yield (
            "results",
            {
                **trial,
                **{field: getattr(result, field) for field in _SAME},
                "invalid": "; ".join(result.invalid),
                "suspect": "; ".join(result.suspect),
                "sent_packets": result.packets.sent,
                "received_packets": result.packets.received,
                "unexplained_packets": result.packets.unexplained,
                "limit": result.verdict.limit,
                "confidence": result.verdict.confidence,
                "sentence": result.verdict.sentence,
            },
        )
        for place, packets in result.packets.losses.items():
            yield "losses", {**trial, "place": place, "packets": packets}
        for ledger in result.time:
            worker = {"worker": ledger.worker, "role": ledger.role, "tsc_hz": ledger.tsc_hz}
            for node, spent in ledger.nodes.items():
                elapsed = {"elapsed_cycles": ledger.elapsed_clocks, "node": node}
                yield "node_cycles", {**trial, **worker, **elapsed, **_spent(spent)}
