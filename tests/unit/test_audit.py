"""`linerate audit`: its laws, its command, and tables that are none."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.command import result_of
from typer.testing import CliRunner

from linerate.analysis.audit import Figure, TableError, audit, figure, read_table, table_of
from linerate.base.line_rate import FRAME_BYTES_MAX, FrameRate
from linerate.base.published import plain
from linerate.cli.app import app
from linerate.report.audit import output

DATA = Path(__file__).parents[1] / "data"
HEADER = "card,driver,test,link_gbps,direction,frame_bytes,l1_gbps,l2_gbps,mpps,percent_of_line"
DIGITS = st.integers(0, 9)
FRAMES = st.integers(64, FRAME_BYTES_MAX)
LINKS = st.sampled_from([0.1, 1.0, 2.5, 10.0, 25.0, 40.0, 100.0])
SHARES = st.floats(0.0, 1.0)


def audited(text, link_bps=10e9):
    return audit(table_of(text.encode(), "table.csv", link_bps))


def row_of(frame, link, directions, pps, percent, digits=(9, 9, 9)):
    """A row whose bit rates are those of the packet rate."""
    rate = FrameRate(frame, pps)
    l1, l2, mpps = (
        f"{value:.{places}f}"
        for value, places in zip(
            (rate.l1_bps / 1e9, rate.l2_bps_no_fcs / 1e9, pps / 1e6), digits, strict=True
        )
    )
    way = {1: "uni", 2: "bidir"}[directions]
    return f"{HEADER}\ncard,driver,U1,{link},{way},{frame},{l1},{l2},{mpps},{percent}\n"


@given(FRAMES, LINKS, st.integers(1, 2), SHARES, DIGITS, st.tuples(DIGITS, DIGITS, DIGITS))
def test_a_row_rounded_to_any_digits_does_not_contradict_itself(
    frame, link, directions, share, places, digits
):
    percent = 100 * share
    pps = share * link * 1e9 * directions / ((frame + 20) * 8)
    found = audited(row_of(frame, link, directions, pps, f"{percent:.{places}f}", digits))
    assert found.findings == ()
    assert found.table.rows
    assert found.table.unreadable == ()


@given(FRAMES, LINKS, st.integers(1, 2), SHARES, DIGITS, DIGITS, st.floats(1.01, 1000))
def test_a_percentage_off_by_more_than_the_rounding_does(
    frame, link, directions, share, places, mpps_places, times
):
    pps = share * link * 1e9 * directions / ((frame + 20) * 8)
    # A digit of each: both are rounded, and both stand for what rounds to them.
    mpps_digit = FrameRate(frame, 1e6 * 10.0**-mpps_places).percent_of(link * 1e9, directions)
    off = times * (10.0**-places + mpps_digit) + 1e-6
    percent = f"{100 * share + off:.{places}f}"
    text = row_of(frame, link, directions, pps, percent, (9, 9, mpps_places))
    (found,) = audited(text).contradictions
    assert found.row.line == 2
    assert percent in found.sentence


def audited_or_line(content):
    """The findings, or the one line with the reason for none."""
    try:
        found = audit(table_of(content, "table.csv", 10e9))
    except TableError as error:
        return None, str(error)
    json.dumps(plain(output(found)), allow_nan=False)
    return found, ""


@given(st.binary(max_size=400))
@example(b"")
@example(b"\xff\xfe\x00a")
@example(b"frame_bytes,mpps,percent_of_line")
def test_any_bytes_are_a_table_or_one_line(content):
    found, line = audited_or_line(content)
    assert (found is None) == line.startswith("table.csv: ")
    assert "\n" not in line


CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "nan",
            "inf",
            "-1",
            "1e400",
            "1e-400",
            "0",
            "٣",
            "–",
            "1,5",
            "64",
            "10",
            "bidir",
            "99.9",
            "1.2.3",
            "65",
        ]
    ),
    st.sampled_from(['"', "\n", "100 %", "1" * 400, "0." + "0" * 300 + "1"]),
)
COLUMNS = st.sampled_from([*HEADER.split(","), "fps_64", "percent_64", "configuration", "notes"])


@given(st.lists(COLUMNS, max_size=12), st.lists(st.lists(CELLS, max_size=12), max_size=6))
def test_any_cells_are_a_loadtest_or_one_line(columns, cells):
    lines = [",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in cells]
    content = "\n".join([",".join(columns), *lines]).encode("utf-8", "surrogatepass")
    found, line = audited_or_line(content)
    assert "\n" not in line
    if found is None:
        return
    output = [found.sentence for found in found.findings] + [row.name for row in found.table.rows]
    for line in [*output, *(problem for _, problem in found.table.unreadable)]:
        assert "\n" not in line


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ("64,nan,1", "mpps: expected a number of 0 or more, not 'nan'"),
        ("64,inf,1", "mpps: expected a number of 0 or more, not 'inf'"),
        ("64,-1,1", "mpps: expected a number of 0 or more, not '-1'"),
        ("64,1e400,1", "mpps: expected a number of 0 or more, not '1e400'"),
        ("64,1," + "9" * 99, "percent_of_line: expected a number of 0 or more, not '" + "9" * 21),
        ("63,1,1", "frame_bytes: expected 64 to 9728, not '63'"),
        (",1,1", "frame_bytes: expected 64 to 9728, not ''"),
        ("64", None),
        ("64,,1", None),
        ("64,1,1,what,is,this", None),
    ],
)
def test_a_row_that_cannot_be_read_is_one_line(cells, problem):
    found = audited(f"frame_bytes,mpps,percent_of_line\n\n{cells}\n64,7.44,50.0\n")
    assert found.table.rows[-1].line == 4
    if problem is None:
        assert found.table.unreadable == ()
    else:
        ((line, output),) = found.table.unreadable
        assert line == 3
        assert output.startswith(problem)


def test_columns_come_in_any_order_and_others_stay():
    found = audited(
        "notes,percent_of_line,MPPS, frame_bytes ,direction,link_gbps\n"
        '"two\nlines",50.0,14.88,64,bidir,10\n,40,14.88,64,uni,10\n',
    )
    assert [found.row.line for found in found.contradictions] == [4]
    assert found.skipped == {"percentage": 0, "bit rate": 2, "above the line": 0}


def test_missing_figures_are_counted():
    found = audited(
        "frame_bytes,mpps,percent_of_line,l1_gbps\n64,,50,\n64,7.44,,5.0\n64,7.44,50,\n"
    )
    assert found.findings == ()
    assert found.skipped == {"percentage": 2, "bit rate": 2, "above the line": 1}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "expected the columns"),
        ("a,b\n1,2\n", "expected the columns"),
        ("fps_64\n1\n", "expected the columns"),
        ("fps_10,percent_10\n1,2\n", "expected the columns"),
        ("frame_bytes,mpps,percent_of_line\n", "no row below the columns"),
        ("frame_bytes,mpps,percent_of_line\n64," + "1" * 200_000, "line 2: field larger"),
        ("frame_bytes,mpps\0", "not a text"),
    ],
)
def test_a_file_that_is_no_table_is_one_line(text, what):
    with pytest.raises(TableError, match=what) as raised:
        audited(text)
    assert "\n" not in str(raised.value)


def test_figures_by_their_digits():
    assert Figure("88.1").span.low == pytest.approx(88.05)
    assert Figure("100").span.high == 100.5
    assert figure("88.1 %") == Figure("88.1")
    assert figure("5.") == Figure("5")
    assert figure("1,5") is figure("") is figure(".5") is None


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *arguments], env={"COLUMNS": "80"})


def test_the_command_prints_a_report_of_80_columns():
    done = run(str(DATA / "loadtests.csv"))
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert "64 loadtests, 8 contradictions" in lines[0]
    assert all(len(line) <= 80 for line in lines[1:])
    assert "      15.3 Mpps of 64 B are 41.1 % of 25 Gb/s, published 46.4 %" in lines
    assert "Above the line: more than 100 %" in lines


def test_the_command_prints_json():
    done = run(str(DATA / "loadtests.csv"), "--json")
    assert done.exit_code == 1
    output = result_of(done.stdout)
    assert [len(output[key]) for key in ("contradictions", "bit_rate", "above_the_line")] == [
        8,
        6,
        2,
    ]
    first = output["contradictions"][0]
    assert (first["line"], first["row"]) == (6, "i226-v dpdk B1")
    assert first["mpps"] == pytest.approx([0.4035, 0.4045])


def test_the_exit_code_says_what_was_found(tmp_path):
    table = tmp_path / "right.csv"
    table.write_text("frame_bytes,mpps,percent_of_line\n64,7.44,50.0\n64,x,1\n")
    done = run(str(table))
    assert done.exit_code == 0
    assert "1 loadtest, no contradiction" in done.stdout
    assert "line 3: mpps: expected" in done.stdout
    assert run(str(table), "--link", "25G").exit_code == 1
    for wrong in (run(str(table), "--link", "fast"), run(str(tmp_path)), run("absent.csv")):
        assert wrong.exit_code == 2
        assert len(wrong.stderr.splitlines()) == 1


def test_a_large_table_is_refused(tmp_path):
    table = tmp_path / "large.csv"
    shutil.copy(DATA / "loadtests.csv", table)
    os.truncate(table, 17 << 20)
    with pytest.raises(TableError, match="over 16 MiB"):
        read_table(table, 10e9)
