"""Views of `linerate top`: each a table of what one engine did, one function each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from linerate.engine.snapshot import PortState, Snapshot
from linerate.model.measurement.counters import counters_since
from linerate.ui.top.change import Change

Value = str | int | float | None
Row = tuple[Value, ...]
#: Format of a column's values.
Kind = Literal["text", "count", "rate", "bits", "number", "percent", "seconds"]
#: Workers to show; none means all.
Only = str | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column."""

    name: str
    kind: Kind
    #: Width of text; figures have their own.
    width: int = 0
    #: Its key in JSON, where that is not its name.
    key: str = ""
    #: Its values in JSON, over those here.
    scale: float = 1

    @property
    def json_key(self) -> str:
        """Key in JSON."""
        return self.key or self.name

    def json_value(self, value: Value) -> Value:
        """Value in JSON."""
        return value * self.scale if self.scale != 1 and isinstance(value, float) else value


@dataclass(frozen=True, slots=True)
class View:
    """A table: which key shows it, and what its rows are made of."""

    key: str
    name: str
    columns: tuple[Column, ...]
    rows: Callable[[Change, Only], Iterator[Row]]
    #: The column that rows are sorted by, the largest first; None leaves them as they come.
    sort: int | None = None


VIEWS: dict[str, View] = {}


def _view(
    key: str, name: str, columns: tuple[Column, ...], sort: int | None = None
) -> Callable[[Callable[[Change, Only], Iterator[Row]]], Callable[[Change, Only], Iterator[Row]]]:
    def register(
        rows: Callable[[Change, Only], Iterator[Row]],
    ) -> Callable[[Change, Only], Iterator[Row]]:
        VIEWS[name] = View(key, name, columns, rows, sort)
        return rows

    return register


@_view(
    "n",
    "nodes",
    (
        Column("worker", "text", 11),
        Column("node", "text", 17),
        Column("calls", "count"),
        Column("vectors", "count"),
        Column("pps", "rate"),
        Column("v/call", "number", key="vectors_per_call"),
        Column("clk/pkt", "number", key="cycles_per_packet"),
        Column("share", "percent", key="share_percent"),
    ),
    sort=7,
)
def nodes(change: Change, only: Only) -> Iterator[Row]:
    """Nodes of each worker; calls and vectors since the counters were cleared, the rest now."""
    for ledger in change.ledgers():
        if only not in (None, ledger.worker):
            continue
        for name, node in ledger.nodes.items():
            total = change.total(ledger.worker, name)
            if not (total.calls or total.idle_calls or node.idle_calls):
                continue
            yield (
                ledger.worker,
                name,
                total.calls,
                total.vectors,
                change.rate(node.vectors, 0),
                node.vectors / node.calls if node.calls else None,
                node.clocks / node.vectors if node.vectors and not node.fused else None,
                ledger.percent(node.clocks),
            )
        for name, clocks in (
            ("(idle polls)", sum(node.idle_clocks for node in ledger.nodes.values())),
            ("(loop overhead)", ledger.overhead_clocks),
            ("(descheduled)", ledger.away_clocks),
            ("(asleep)", ledger.sleep_clocks),
        ):
            if clocks:
                yield ledger.worker, name, None, None, None, None, None, ledger.percent(clocks)


def _port(snapshot: Snapshot | None, name: str) -> PortState:
    found = snapshot.ports.get(name) if snapshot else None
    return found or PortState("", "", 0, {})


@_view(
    "p",
    "ports",
    (
        Column("port", "text", 10),
        Column("driver", "text", 10),
        Column("rx pps", "rate", key="rx_pps"),
        Column("rx bps", "bits", key="rx_bps"),
        Column("tx pps", "rate", key="tx_pps"),
        Column("tx bps", "bits", key="tx_bps"),
        Column("drops/s", "rate", key="drops_pps"),
        Column("drops", "count"),
    ),
)
def ports(change: Change, _only: Only) -> Iterator[Row]:
    """Rates of each port now; bits a second of frames with their FCS."""
    for name, port in change.now.ports.items():
        before = _port(change.before, name)

        def rate(key: str, now: PortState = port, then: PortState = before) -> float:
            return change.rate(now.counters.get(key, 0), then.counters.get(key, 0))

        yield (
            name,
            port.driver,
            rate("rx_packets"),
            8 * rate("rx_bytes"),
            rate("tx_packets"),
            8 * rate("tx_bytes"),
            change.rate(port.drops, before.drops),
            port.drops - _port(change.base, name).drops,
        )


def _places(snapshot: Snapshot | None, kind: str) -> dict[str, int]:
    ledger = snapshot.ledger if snapshot else ()
    return {str(row["place"]): int(row["packets"]) for row in ledger if row["kind"] == kind}


@_view(
    "l",
    "losses",
    (
        Column("place", "text", 48),
        Column("pps", "rate"),
        Column("packets", "count"),
        Column("share", "percent", key="share_percent"),
    ),
    sort=2,
)
def losses(change: Change, _only: Only) -> Iterator[Row]:
    """Places of the packet ledger where packets were lost, and their share of what was sent."""
    now, before, base = (_places(one, "loss") for one in (change.now, change.before, change.base))
    sent = sum(_places(change.now, "sent").values()) - sum(_places(change.base, "sent").values())
    for place, packets in now.items():
        lost = packets - base.get(place, 0)
        if lost:
            share = 100 * lost / sent if sent else None
            yield place, change.rate(packets, before.get(place, 0)), lost, share


def _errors(snapshot: Snapshot | None) -> dict[tuple[str, str, str], int]:
    drops = snapshot.errors if snapshot else ()
    return {(drop.worker, drop.node, drop.reason): drop.packets for drop in drops}


@_view(
    "e",
    "errors",
    (
        Column("worker", "text", 12),
        Column("node", "text", 20),
        Column("reason", "text", 24),
        Column("pps", "rate"),
        Column("packets", "count"),
    ),
    sort=4,
)
def errors(change: Change, only: Only) -> Iterator[Row]:
    """Reasons for which nodes dropped packets, as `show errors` has them."""
    before, base = _errors(change.before), _errors(change.base)
    for key, packets in _errors(change.now).items():
        since = packets - base.get(key, 0)
        if only in (None, key[0]) and since:
            yield *key, change.rate(packets, before.get(key, 0)), since


def _rings(snapshot: Snapshot | None) -> dict[str, dict[str, Any]]:
    return {str(row["name"]): row for row in (snapshot.rings if snapshot else ())}


@_view(
    "r",
    "rings",
    (
        Column("ring", "text", 34),
        Column("size", "count"),
        Column("used", "count"),
        Column("full", "percent", key="full_percent"),
        Column("enq/s", "rate", key="enqueued_pps"),
        Column("dropped", "count"),
    ),
    sort=3,
)
def rings(change: Change, _only: Only) -> Iterator[Row]:
    """Fill level of each ring; a card's counts modulo 2^32."""
    before, base = _rings(change.before), _rings(change.base)
    for name, row in _rings(change.now).items():
        enqueued = (row["enqueued"] - before.get(name, row)["enqueued"]) % 2**32
        dropped = (row["dropped"] - (base[name]["dropped"] if name in base else 0)) % 2**32
        full = 100 * row["used"] / row["size"] if row["size"] else None
        yield name, row["size"], row["used"], full, change.rate(enqueued, 0), dropped


@_view(
    "f",
    "flows",
    (
        Column("protocol", "text", 8),
        Column("low end", "text", 21, "low"),
        Column("high end", "text", 21, "high"),
        Column("pps", "rate"),
        Column("packets", "count"),
        Column("bytes", "count"),
    ),
    sort=3,
)
def flows(change: Change, _only: Only) -> Iterator[Row]:
    """Show the largest flows of a flow table, by packets a second."""
    for row in change.now.largest:
        yield (
            str(row["protocol"]),
            str(row["low"]),
            str(row["high"]),
            float(row["pps"]),
            row["packets_low"] + row["packets_high"],
            row["bytes_low"] + row["bytes_high"],
        )


def _streams(snapshot: Snapshot | None) -> dict[str, dict[str, int]]:
    rows = snapshot.streams if snapshot else ()
    return {
        str(row["name"]): {key: value for key, value in row.items() if isinstance(value, int)}
        for row in rows
    }


@_view(
    "s",
    "streams",
    (
        Column("stream", "text", 16),
        Column("tx pps", "rate", key="sent_pps"),
        Column("rx pps", "rate", key="received_pps"),
        Column("sent", "count"),
        Column("received", "count"),
        Column("lost", "count"),
        Column("late", "count", key="out_of_order"),
        Column("twice", "count", key="duplicated"),
    ),
)
def streams(change: Change, _only: Only) -> Iterator[Row]:
    """Say what became of each stream; late ones came out of order, or too late to tell."""
    now, before = _streams(change.now), _streams(change.before)
    total = counters_since(now, _streams(change.base))
    for name, row in now.items():
        earlier, since = before.get(name, {}), total[name]
        yield (
            name,
            change.rate(row["sent"], earlier.get("sent", 0)),
            change.rate(row["received"], earlier.get("received", 0)),
            since["sent"],
            since["received"],
            since["lost"],
            since["out_of_order"],
            since["duplicated"],
        )


@_view(
    "y",
    "latency",
    (
        Column("stream", "text", 16),
        Column("frames", "count", key="count"),
        Column("p50", "seconds", key="p50_us", scale=1e6),
        Column("p90", "seconds", key="p90_us", scale=1e6),
        Column("p99", "seconds", key="p99_us", scale=1e6),
        Column("p99.9", "seconds", key="p99_9_us", scale=1e6),
        Column("max", "seconds", key="max_us", scale=1e6),
        Column("disturb", "count", key="disturbed"),
    ),
)
def latency(change: Change, _only: Only) -> Iterator[Row]:
    """Latency of the frames of latency streams since their trial began, in seconds."""
    for one in change.now.latency:
        tops = [one.quantile_ns(share) for share in (0.5, 0.9, 0.99, 0.999, 1.0)]
        seconds = (None if top is None else top / 1e9 for top in tops)
        yield one.stream, one.count, *seconds, one.disturbed


#: From a thousand on with a letter.
_LETTERS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: Largest width of a figure.
FIGURE_WIDTH = 7


def written(value: Value, kind: Kind) -> str:
    """Write a value in at most FIGURE_WIDTH characters; text as it is."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if kind == "percent":
        return f"{value:.1f}%"
    if kind == "seconds":
        return f"{value * 1e6:.4g}µs" if value < 1e-3 else f"{value * 1e3:.4g}ms"
    return _figure(value, kind)


def _figure(value: float, kind: Kind) -> str:
    """Write whole numbers as such, others with four digits."""
    if kind == "count" and abs(value) < 1e6:
        return f"{value:.0f}"
    for size, letter in _LETTERS:
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}" if abs(value) < 1000 * size else f"{value:.1e}"
    return f"{value:.0f}" if kind in ("rate", "bits") else f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Order:
    """The column that rows are sorted by; none leaves them as they come."""

    column: int | None
    ascending: bool = False


def table(view: View, change: Change, only: Only = None, order: Order | None = None) -> list[Row]:
    """A view's rows, sorted; what has no value there comes last."""
    found = list(view.rows(change, only))
    chosen = order or Order(view.sort)
    column = chosen.column
    if column is None:
        return found
    reported = [row for row in found if row[column] is not None]
    reported.sort(key=lambda row: _key(row[column]), reverse=not chosen.ascending)
    return reported + [row for row in found if row[column] is None]


def _key(value: Value) -> tuple[float, str]:
    """Figures by size, text by its letters."""
    return (0.0, value) if isinstance(value, str) else (float(value or 0), "")
