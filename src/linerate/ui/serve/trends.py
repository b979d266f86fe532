"""Rates of each device over its runs as sparklines, above the list."""

from collections.abc import Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT, ROOM = 150, 34, 4
#: Devices that have one; those of most runs first.
SHOWN_MAX = 6
Row = dict[str, Any]


def strip(rows: Sequence[Row]) -> str:
    """A card for each device with two results or more of one test; nothing without any."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["started"] or ""):
        if row["received_pps"]:
            key = tuple(row[name] for name in ("dut", "wire", "card", "best_test"))
            groups.setdefault(key, []).append(row)
    several = {key: group for key, group in groups.items() if len(group) > 1}
    chosen = sorted(several, key=lambda key: -len(several[key]))[:SHOWN_MAX]
    cards = "".join(_card(key, several[key]) for key in chosen)
    return f'<ul class="trends" aria-label="rates over time">{cards}</ul>' if cards else ""


def _card(key: tuple[str, ...], group: list[Row]) -> str:
    dut, wire, card, test = key
    values = [row["received_pps"] / 1e6 for row in group]
    where = escape(", ".join(filter(None, (f"over {wire}", card, test))))
    words = f"{len(values)} runs, {min(values):.3f} to {max(values):.3f} Mpps"
    return (
        f'<li><strong>{escape(dut)}</strong> <span class="note">{where}</span>'
        f'<span class="latest">{values[-1]:.2f} <small>Mpps</small></span>'
        f'{_line(values)}<span class="note">{words}</span></li>'
    )


def _line(values: list[float]) -> str:
    """From zero, so that what looks like a fall is one; the last run has a dot."""
    top = max(values)
    points = [
        (
            ROOM + at * (WIDTH - 2 * ROOM) / (len(values) - 1),
            HEIGHT - ROOM - value / top * (HEIGHT - 2 * ROOM),
        )
        for at, value in enumerate(values)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'preserveAspectRatio="xMinYMid" aria-hidden="true">'
        f'<polyline points="{path}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="3"/></svg>'
    )
