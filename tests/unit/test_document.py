"""A document: the same content in each form, and tables that fit a terminal."""

import csv
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from linerate.report import sweep
from linerate.report.document import (
    LIMIT,
    Column,
    Document,
    Heading,
    Listing,
    Note,
    Table,
    table,
    text,
)
from linerate.report.of_run import document_of
from linerate.report.render import csv as as_csv
from linerate.report.render import html, markdown, terminal

HOSTILE = "<script>alert(1)</script>|*_`="


def document(*sections, **fields):
    return Document("Title", sections, dict, **fields)


def printed(made, width=80):
    out = io.StringIO()
    terminal.show(Console(file=out, width=width, highlight=False), made)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.fixture
def wide():
    columns = (*text("test"), Column("Mpps"), Column("L2 Gb/s", spare=2), *LIMIT)
    also = (Column("traffic", "text", spare=1),)
    return Table("Rates", (*columns, *also), (("U2", "14.88", "7.62", "line", "64 B many flows"),))


def test_spare_columns_go_first_where_there_is_little_room(wide):
    heads = {width: printed(document(wide), width)[3].split() for width in (80, 30, 20)}
    assert heads[80] == ["test", "Mpps", "L2", "Gb/s", "limit", "traffic"]
    assert heads[30] == ["test", "Mpps", "L2", "Gb/s", "limit"]
    assert heads[20] == ["test", "Mpps", "limit"]


def test_columns_that_belong_together_break_together():
    names = [f"{size} B" for size in (64, 128, 256, 512)]
    columns = [cell for name in names for cell in (name, "%")]
    row = ("router", *["12,345,678", "99.9"] * 4)
    made = table("", ("configuration", *columns), [row])
    blocks = Table("", made.columns, made.rows, titled=False, block=2)
    lines = printed(document(blocks), 50)
    heads = [line.split() for line in lines if line.startswith("configuration")]
    assert heads == [
        ["configuration", "64", "B", "%", "128", "B", "%"],
        ["configuration", "256", "B", "%", "512", "B", "%"],
    ]
    assert max(map(len, lines)) <= 50


def test_lines_fold_beneath_themselves():
    lines = printed(document(Listing("Why", ("test", "why"), (("U2", "word " * 30),))), 40)
    assert lines[2:4] == ["Why", "  U2   word word word word word"]
    assert all(line.startswith("       word") for line in lines[4:])


def test_text_stays_text_in_every_form():
    sections = (
        Heading(HOSTILE, "name", HOSTILE),
        Note(HOSTILE, "text", HOSTILE),
        table(HOSTILE, (HOSTILE,), [(HOSTILE,)]),
        Listing(HOSTILE, (HOSTILE, HOSTILE), ((HOSTILE, HOSTILE),)),
        Listing(HOSTILE, ("", ""), (("", HOSTILE),), closed=True),
    )
    made = document(*sections, sheet=lambda: [("=1+1", HOSTILE)])
    assert "<script>alert" not in html.page(made).body
    assert not re.search(r"(?<!\\)<script", markdown.render(made))
    assert next(csv.reader(io.StringIO(as_csv.render(made)))) == ["'=1+1", HOSTILE]


def test_the_status_is_first_in_a_page_and_last_in_a_terminal():
    status = Note(" by SIGINT", "warning", "interrupted:")
    made = document(Note("rates"), status=status, ending=(Note("it is there", "text"),))
    assert printed(made)[-2:] == ["interrupted: by SIGINT", "it is there"]
    assert markdown.render(made).splitlines()[2] == "**interrupted:** by SIGINT"
    assert html.page(made).body.index("interrupted: by SIGINT") < html.page(made).body.index(
        "rates"
    )


def test_a_sweep_and_a_matrix_have_tables_of_their_own(run, result, evidence):
    about = {"configurations": ["io"], "frame_bytes": [64], "repeats": 1, "directions": 2}
    one = result("io@64", evidence(), configuration="io")
    swept = document_of(run(one, sweep=about, suite="sweep"), Path("runs/s"))
    (row,) = csv.DictReader(io.StringIO(as_csv.render(swept)))
    assert (row["configuration"], row["fps_64"]) == ("io", f"{one.received_pps:.0f}")
    assert "| configuration | 64 B | % |" in markdown.render(swept)
    assert list(sweep.as_rows(run(one, sweep=about)))[1][0] == "io"
