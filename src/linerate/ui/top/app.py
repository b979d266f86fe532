"""The live view: keys choose what is shown, nothing is ever asked of a worker."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

from linerate.engine.snapshot import Look, Snapshot
from linerate.ui.screen import one_line
from linerate.ui.top.change import Change, same_engine
from linerate.ui.top.plain import heading
from linerate.ui.top.views import FIGURE_WIDTH, VIEWS, Order, View, table, written

#: Takes a look at all engines; `flows` of the largest are wanted.
TakeLook = Callable[[int], Look]
#: Rows of the view of flows.
FLOWS = 20
HELP = (
    "[b]n[/]odes [b]p[/]orts [b]l[/]osses [b]e[/]rrors [b]r[/]ings [b]f[/]lows [b]s[/]treams"
    " latenc[b]y[/]\n"
    "[b]c[/]lear  [b]space[/] pause  [b]tab[/] engine  [b]w[/]orker  [b]←→[/] sort by"
    "  [b]o[/]rder  [b]q[/]uit"
)


class TopApp(App[None]):
    """One engine at a time, one view at a time."""

    CSS = """
    #head { height: auto; max-height: 6; background: $panel; padding: 0 1; }
    DataTable { height: 1fr; }
    #keys { height: 2; background: $panel; padding: 0 1; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(view.key, f"show('{view.name}')") for view in VIEWS.values()),
        Binding("c", "clear"),
        Binding("space", "pause"),
        Binding("w", "worker"),
        Binding("o", "order"),
        Binding("tab", "engine(1)", priority=True),
        Binding("shift+tab", "engine(-1)", priority=True),
        Binding("left", "sort(-1)", priority=True),
        Binding("right", "sort(1)", priority=True),
        Binding("q", "quit"),
    ]

    def __init__(self, take_look: TakeLook, seconds: float, view: str, engine: str | None) -> None:
        """Refresh at this interval in seconds."""
        super().__init__()
        self._take_look = take_look
        self._seconds = seconds
        self._view: View = VIEWS[view]
        self._orders = {name: Order(one.sort) for name, one in VIEWS.items()}
        self._engine = engine
        self._worker: str | None = None
        self._paused = False
        self._look = Look({})
        #: By engine: the snapshot before the last one, and the one when counters were cleared.
        self._before: dict[str, Snapshot] = {}
        self._base: dict[str, Snapshot] = {}
        self._shown: tuple[str, Order] | None = None

    def compose(self) -> ComposeResult:
        """Heading, table, keys."""
        yield Static(id="head", markup=False)
        yield DataTable(id="table", cursor_type="row", zebra_stripes=True, cell_padding=0)
        yield Static(HELP, id="keys")

    def on_mount(self) -> None:
        """Begin to look."""
        self.query_one(DataTable).focus()
        self.run_worker(self._watch(), exclusive=True)

    async def _watch(self) -> None:
        while True:
            if not self._paused:
                await self.look_now()
            await asyncio.sleep(self._seconds)

    async def look_now(self) -> None:
        """Read and show it; the view answers keys in between."""
        wanted = FLOWS if self._view.name == "flows" else 0
        seen = await asyncio.to_thread(self._take_look, wanted)
        if not self.query("#head"):
            return  # Closed in between: there is nothing to draw on.
        for name, one in self._look.snapshots.items():
            self._before[name] = one
        self._look = seen
        for known in (self._before, self._base):
            for name in list(known):
                now = seen.snapshots.get(name)
                if now is not None and not same_engine(known[name], now):
                    del known[name]
        self.draw()

    @property
    def change(self) -> Change | None:
        """Activity of the chosen engine since the last reading; None without any."""
        names = sorted(self._look.snapshots)
        if not names:
            return None
        if self._engine not in names:
            self._engine = names[0]
        now = self._look.snapshots[self._engine]
        return Change(now, self._before.get(self._engine, now), self._base.get(self._engine))

    def draw(self) -> None:
        """Show what was seen last."""
        change = self.change
        head = self.query_one("#head", Static)
        if change is None:
            message = [f"{name}: {why}" for name, why in self._look.silent.items()]
            message += [f"{path}: permission denied" for path in self._look.refused]
            head.update("\n".join(["no engine runs; waiting for one", *map(one_line, message)]))
            self.query_one(DataTable).clear()
            return
        lines = heading(change)
        names = sorted(self._look.snapshots)
        state = [self._view.name.upper()]
        if len(names) > 1:
            state.append(f"{names.index(change.now.name) + 1}/{len(names)}")
        state += [word for word in (self._worker, "PAUSED" if self._paused else None) if word]
        lines[0] = f"{' '.join(state)}  {lines[0]}"
        head.update("\n".join(map(one_line, lines)))
        self._fill(change)

    def _fill(self, change: Change) -> None:
        """Write the rows; columns anew only when they changed, so that the cursor stays."""
        widget: DataTable[Text] = self.query_one(DataTable)
        order = self._orders[self._view.name]
        shown = (self._view.name, order)
        if shown != self._shown:
            widget.clear(columns=True)
            for index, column in enumerate(self._view.columns):
                mark = ("▲" if order.ascending else "▼") if index == order.column else ""
                text = column.kind == "text"
                name = column.name + mark
                # A blank between columns.
                width = (column.width if text else max(FIGURE_WIDTH, len(name))) + 1
                title = Text(name, justify="left" if text else "right")
                widget.add_column(title, width=width)
            self._shown = shown
        at, scrolled = widget.cursor_row, widget.scroll_y
        widget.clear()
        for row in table(self._view, change, self._worker, order):
            widget.add_row(*self._cells(row))
        widget.move_cursor(row=min(at, max(widget.row_count - 1, 0)), scroll=False)
        widget.scroll_to(y=scrolled, animate=False)

    def _cells(self, row: tuple[str | int | float | None, ...]) -> list[Text]:
        return [
            Text(
                one_line(written(value, column.kind)),
                justify="left" if column.kind == "text" else "right",
            )
            for value, column in zip(row, self._view.columns, strict=True)
        ]

    def action_show(self, name: str) -> None:
        """Show another view."""
        self._view = VIEWS[name]
        self.draw()

    def action_clear(self) -> None:
        """Count from now on."""
        self._base.update(self._look.snapshots)
        self.draw()

    def action_pause(self) -> None:
        """Stop looking, or go on."""
        self._paused = not self._paused
        self.draw()

    def action_engine(self, step: int) -> None:
        """Show the next engine."""
        names = sorted(self._look.snapshots)
        if names:
            at = names.index(self._engine) if self._engine in names else 0
            self._engine = names[(at + step) % len(names)]
            self._worker = None
            self.draw()

    def action_worker(self) -> None:
        """Show the next worker alone; after the last one all together."""
        change = self.change
        if change is not None:
            names = [None, *(worker.name for worker in change.now.workers)]
            at = names.index(self._worker) if self._worker in names else 0
            self._worker = names[(at + 1) % len(names)]
            self.draw()

    def action_sort(self, step: int) -> None:
        """Sort by the next column."""
        order = self._orders[self._view.name]
        at = order.column if order.column is not None else -1 if step > 0 else 0
        column = (at + step) % len(self._view.columns)
        self._orders[self._view.name] = Order(column, order.ascending)
        self.draw()

    def action_order(self) -> None:
        """Turn the order around."""
        order = self._orders[self._view.name]
        column = order.column if order.column is not None else 0
        self._orders[self._view.name] = Order(column, not order.ascending)
        self.draw()
