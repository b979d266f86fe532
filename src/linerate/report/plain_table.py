"""Tables without lines, for lists that a command prints."""

from rich.table import Table


def plain_table(*columns: tuple[str, str], gap: int = 2) -> Table:
    """Make a table without lines: columns of a name and `left` or `right`."""
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for name, side in columns:
        table.add_column(name, justify="left" if side == "left" else "right", no_wrap=True)
    return table
