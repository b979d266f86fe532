"""`linerate top` without a live view: one table as text, or all of them as JSON."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field, create_model

from linerate.base.published import published
from linerate.engine.snapshot import Snapshot
from linerate.model.ledger import TimeLedger
from linerate.ui.top.change import Change
from linerate.ui.top.views import FIGURE_WIDTH, VIEWS, Kind, View, table, written

#: Uses of a worker's time, in the line above the tables.
SPENT: tuple[tuple[str, Callable[[TimeLedger], int]], ...] = (
    ("busy", lambda ledger: ledger.node_clocks),
    ("idle", lambda ledger: ledger.idle_clocks),
    ("loop", lambda ledger: ledger.overhead_clocks),
    ("away", lambda ledger: ledger.away_clocks),
    ("asleep", lambda ledger: ledger.sleep_clocks),
)


def heading(change: Change) -> list[str]:
    """The engine, its trial, and its workers, a line each."""
    now = change.now
    trial = now.trial
    lines = [f"{now.name} {now.info.get('mode', '')}"]
    if trial.get("trial"):
        seconds = trial.get("elapsed_us", 0) / 1e6
        sent, received = trial.get("sent_packets", 0), trial.get("received_packets", 0)
        lines[0] += (
            f": trial {trial['trial']} {trial.get('state', '')}, {seconds:.1f} s, "
            f"{written(sent, 'count')} sent, {written(received, 'count')} back"
        )
    for ledger in change.ledgers():
        message = ", ".join(
            f"{ledger.percent(clocks(ledger)):.1f}% {name}"
            for name, clocks in SPENT
            if clocks(ledger) or name == "busy"
        )
        lines.append(f"{ledger.worker} (CPU {_cpu(now, ledger.worker)}): {message}")
    return lines


def _cpu(snapshot: Snapshot, worker: str) -> int | str:
    return next((one.cpu for one in snapshot.workers if one.name == worker), "?")


def text_table(view: View, change: Change) -> list[str]:
    """A view as lines of text: the head, then its rows."""
    lines = [" ".join(_cell(c.name, c.width, c.kind) for c in view.columns).rstrip()]
    for row in table(view, change):
        cells = (
            _cell(written(value, column.kind), column.width, column.kind)
            for value, column in zip(row, view.columns, strict=True)
        )
        lines.append(" ".join(cells).rstrip())
    if len(lines) == 1:
        lines.append("(nothing)")
    return lines


def _cell(text: str, width: int, kind: str) -> str:
    return f"{text:<{width}.{width}}" if kind == "text" else f"{text:>{FIGURE_WIDTH}}"


#: Values of a column in JSON.
_TYPES: dict[Kind, Any] = {"text": str, "count": int | None}


def _model(name: str, types: dict[str, Any]) -> type[BaseModel]:
    """A model whose keys need be no names of Python's."""
    fields: dict[str, Any] = {
        f"field_{number}": (kind, Field(serialization_alias=key))
        for number, (key, kind) in enumerate(types.items())
    }
    return create_model(name, **fields)


def _row_model(view: View) -> type[BaseModel]:
    types = {one.json_key: _TYPES.get(one.kind, float | None) for one in view.columns}
    return _model(f"{view.name.capitalize()}Row", types)


published("top", "JSON of `linerate top --json`")(
    _model(
        "Top",
        {"engine": str, "seconds": float, "info": dict[str, Any], "trial": dict[str, Any]}
        | {view.name: list[_row_model(view)] for view in VIEWS.values()},  # type: ignore[misc]
    )
)


def document(change: Change) -> dict[str, Any]:
    """All views of one sample; figures as they are."""
    tables = {
        view.name: [
            {
                column.json_key: column.json_value(value)
                for column, value in zip(view.columns, row, strict=True)
            }
            for row in table(view, change)
        ]
        for view in VIEWS.values()
    }
    return {
        "engine": change.now.name,
        "seconds": round(change.seconds, 6),
        "info": change.now.info,
        "trial": change.now.trial,
        **tables,
    }
