"""Tables in narrow terminals: columns go, figures stay whole."""

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from linerate.report.document import Column, Table, figures, text
from linerate.report.render.terminal import fitted
from linerate.ui.console import Console

FIGURES = st.integers(0, 10**12).map(lambda value: f"{value:,}")
WORDS = st.text("abcdefgh ", min_size=1, max_size=40).map(lambda word: word.strip() or "a")


def printed(table, width):
    out = StringIO()
    console = Console(file=out, width=width)
    console.print(fitted(console, table))
    return out.getvalue()


@given(
    st.lists(st.tuples(WORDS, FIGURES, FIGURES, FIGURES, WORDS), min_size=1), st.integers(45, 200)
)
def test_no_figure_is_cut(rows, width):
    columns = (*text("test"), *figures("offered", "received", "lost"), Column("limit", "limit"))
    shown = printed(Table("", columns, tuple(rows)), width)
    assert "…" not in shown
    assert all(len(line) <= width for line in shown.splitlines())
    words = shown.split()
    for number, name in enumerate(("offered", "received", "lost"), 1):
        if name in words:
            assert {row[number] for row in rows} <= set(words)
        else:
            # The last ones go first.
            assert "lost" not in words


def test_words_keep_room():
    columns = (*text("test"), *figures(*"abcdefgh"), Column("limit", "limit"))
    row = ("U2*†", *["20,282,781"] * 8, "worker-cpu")
    shown = printed(Table("", columns, (row,)), 60)
    assert "U2*†" in shown
    assert "worker-cpu" in shown
    assert shown.count("20,282,781") == 4
