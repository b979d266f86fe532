"""A meter's table read afterwards: its formats, and the power that it gives a run by its times."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from linerate.model.power import MeterAbout
from linerate.parsers.meter_csv import MeterTableError, read_table
from linerate.results.power_attached import attach, spans
from linerate.results.store import RunFolder, StoreError, load_measurement, load_run

from .conftest import make_evidence, make_result, make_run

START = 1_795_000_000.0


class TestTable:
    @pytest.mark.parametrize(
        "text",
        [
            "time,watts\n1795000000,41.5\n1795000001,41.7\n",
            "1795000000;41,5\n1795000001;41,7\n",
            "id\tTimestamp\tVoltage\tPower\n1\t1795000000\t230\t41.5\n2\t1795000001\t230\t41.7\n",
            "\ufeffdate,w\r\n1795000000000,41.5\r\n1795000001000,41.7\r\n",
            "time,watts\n1795000001,41.7\n\n1795000000,41.5\n",
        ],
    )
    def test_forms(self, text: str):
        found = read_table(text, "meter.csv")
        assert [(row.at, row.watts) for row in found.rows] == [(START, 41.5), (START + 1, 41.7)]
        assert found.interval_seconds == 1
        assert found.resolution_watts == pytest.approx(0.1)

    def test_times_with_and_without_a_zone(self):
        text = "time,watts\n2026-11-24T12:00:00Z,40\n2026-11-24 12:00:05,41\n"
        found = {row.watts: row.at for row in read_table(text, "meter.csv").rows}
        assert found[40] == 1795521600
        assert found[41] == datetime(2026, 11, 24, 12, 0, 5).timestamp()

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "empty"),
            ("time,volts\n1,2\n", "expected columns"),
            ("time,watts\n", "no rows"),
            ("time,watts\n1795000000\n", "too few columns"),
            ("time,watts\n1795000000,lots\n", "row 2"),
            ("time,watts\nnoon,5\n", "row 2"),
            ("time,watts\n1795000000,-5\n", "row 2"),
            ("time,watts\n1795000000,nan\n", "row 2"),
            ("time,watts\n1795000000,1e300\n", "row 2"),
        ],
    )
    def test_mistakes(self, text: str, why: str):
        with pytest.raises(MeterTableError, match=why) as error:
            read_table(text, "meter.csv")
        assert str(error.value).startswith("meter.csv: ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two trials of 10 s, 20 s from each other."""
    made = RunFolder.create(tmp_path, "router")
    results = [make_result("U1"), make_result("U2")]
    lines = []
    for number, result in enumerate(results, start=1):
        made.save_measurement(result.trial, make_evidence())
        begin = START + 20 * number
        lines += [
            {"event": "trial", "number": number, "at": begin - 1},
            {"event": "sending", "number": number, "at": begin},
            {"event": "draining", "number": number, "at": begin + 10},
            {"event": "closed", "number": number, "at": begin + 10.2},
            {"event": "measured", "number": number, "trial": result.trial, "at": begin + 10.3},
        ]
    made.save(make_run(*results))
    text = "\n".join(map(json.dumps, lines)) + "\n"
    (made.path / "live.jsonl").write_text(text)
    return made.path


def table(late: float = 0.0):
    """A meter that shows 90 W under load, else 40 W; its clock is late by some seconds."""
    rows = []
    for second in range(80):
        at = START + second
        loaded = any(START + 20 * n <= at <= START + 20 * n + 10 for n in (1, 2))
        rows.append(f"{at - late},{90.0 if loaded else 40.0}")
    return read_table("time,watts\n" + "\n".join(rows), "meter.csv")


ABOUT = MeterAbout(source="meter.csv", covers="", interval_seconds=1, resolution_watts=0.1)


class TestAttach:
    def test_spans(self, folder: Path):
        assert [(one.trial, one.begin - START, one.end - START) for one in spans(folder)] == [
            ("U1", 20, 30),
            ("U2", 40, 50),
        ]

    @pytest.mark.parametrize("late", [0.0, 3.5])
    def test_power_of_each_trial(self, folder: Path, late: float):
        attach(load_run(folder), folder, table(late), ABOUT, late)
        for result in load_run(folder).results:
            assert result.power is not None
            assert result.power.watts is not None
            assert result.power.watts.value == 90
            assert result.power.idle_watts is not None
            assert result.power.idle_watts.value == 40
            measured = load_measurement(folder, result.trial)
            assert measured.power is not None
            assert measured.power.load is not None
            assert measured.power.load.joules.value == 900

    def test_clocks_that_differ(self, folder: Path):
        with pytest.raises(StoreError, match="--shift"):
            attach(load_run(folder), folder, table(3600), ABOUT, 0.0)

    def test_rows_that_end_early_are_noted(self, folder: Path):
        whole = table()
        early = type(whole)(whole.rows[:35], whole.resolution_watts)
        attach(load_run(folder), folder, early, ABOUT, 0.0)
        first, second = load_run(folder).results
        assert first.power is not None
        assert first.power.watts is not None
        assert second.power is not None
        assert "no row" in second.power.missing

    def test_run_without_times(self, folder: Path):
        (folder / "live.jsonl").unlink()
        with pytest.raises(StoreError, match="no times"):
            attach(load_run(folder), folder, table(), ABOUT, 0.0)
