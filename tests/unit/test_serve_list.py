"""The list of runs as a page: outcome first, what went wrong in colour, a sparkline a device."""

import pytest

from linerate.results.index.row import RunRow, broken_row, loadtests_text
from linerate.ui.serve import listing, trends

ROW = {
    "name": "20261125-182912-router",
    "started": "2026-11-25T18:29:12Z",
    "command": "linerate bench",
    "suite": "standard",
    "dut": "router",
    "wire": "card",
    "card": "10 Gb/s",
    "workers": 1,
    "loadtests": "U1,U2",
    "trials": 2,
    "received_pps": 29.5e6,
    "best_test": "B2",
    "line_percent": 100.3,
    "ndr_pps": None,
    "verdict": "line, invalid",
    "status": "complete",
    "problem": "",
    "cpu": "a CPU",
    "labels": "rack=7",
    "host": "rack-7",
    "commit": "0123456789ab",
}


def row(**changes):
    return RunRow(**(ROW | changes)).model_dump()


def rendered(*rows):
    choices: dict[str, list[str]] = {name: [] for name in listing.CHOICES}
    return listing.render(listing.asked_of({}), list(rows), len(rows), choices)


def test_the_outcome_comes_first_and_no_line_is_more_than_full():
    made = rendered(row())
    labels = [part.partition('"')[0] for part in made.split('data-label="')[1:]]
    assert labels[:5] == ["Mpps", "% of line", "Limit", "Date (UTC)", "Device"]
    assert ">29.500<" in made
    assert ">100.0<" in made
    assert "100.3" not in made
    assert "rack-7" in made
    assert "rack=7" in made
    assert ">router</a>" in made
    assert 'title="0123456789ab">01234567<' in made
    assert ">card, 10 Gb/s<" in made


def test_a_column_of_which_no_row_has_anything_is_left_out():
    assert "NDR Mpps</a>" not in rendered(row(labels=""))
    assert "Labels</a>" not in rendered(row(labels=""))
    made = rendered(row(labels=""), row(ndr_pps=9e6))
    assert "NDR Mpps</a>" in made
    assert "Labels</a>" in made


def test_what_went_wrong_is_in_colour():
    made = rendered(row(), row(status="failed", problem="no <engine>"))
    assert '<span class="warning">invalid</span>' in made
    assert '<span class="badge bad">failed</span>' in made
    assert "no &lt;engine&gt;" in made
    assert ">complete<" not in made
    assert made.count('class="badge') == 1
    assert "broken" in rendered(broken_row("x", "run.json: no such file"))


def test_a_device_measured_twice_has_a_sparkline():
    rows = [row(received_pps=pps, started=f"2026-11-2{at}T00:00:00Z")
            for at, pps in enumerate((10e6, 20e6, 15e6))]  # fmt: skip
    made = trends.strip([*rows, row(dut="io")])
    assert made.count("<li>") == 1
    assert "15.00 <small>Mpps" in made
    assert "3 runs, 10.000 to 20.000 Mpps" in made
    assert trends.strip([row()]) == ""


@pytest.mark.parametrize(
    ("loadtests", "text"),
    [
        ("U2.1,U2.2,U2.3", "U2"),
        ("U1,U2", "U1, U2"),
        ("U1,U2,U3,U4,B1", "U1 … B1 (5)"),
        ("", ""),
    ],
)
def test_loadtests_are_a_few_words(loadtests, text):
    assert loadtests_text(loadtests) == text
