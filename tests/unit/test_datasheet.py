"""A page a box: the best evidence of each size, power, price, and a ranking."""

import io

import pytest
from tests.command import result_of

from linerate.model.measurement.latency import LatencyFigures, LatencyLoads, LatencyPoint
from linerate.model.power import Estimate, MeterAbout, PowerTrial, PowerWindow
from linerate.model.run_records import Goal, Search
from linerate.report import datasheet as report
from linerate.report.render import csv, html, markdown, terminal
from linerate.report.render import json as as_json
from linerate.results.compare import Side
from linerate.results.datasheet import Price, common_frames, ranking, sheet
from linerate.ui.console import Console

from .conftest import make_evidence, make_result, make_run

ABOUT = MeterAbout(source="shelly", covers="the plug", interval_seconds=1, resolution_watts=0.1)


def window(watts: float) -> PowerWindow:
    return PowerWindow(
        seconds=10,
        readings=10,
        watts=Estimate(value=watts, plus_minus=0.3),
        joules=Estimate(value=10 * watts, plus_minus=3),
        by="integration",
    )


def trial(name: str, watts: float | None = None):
    power = None
    if watts is not None:
        power = PowerTrial(about=ABOUT, idle_before=window(40), load=window(watts))
    return make_result(name, make_evidence(power=power))


def searched(ndr_pps: float, watts: float | None = None):
    """A search with an NDR of 64 B frames."""
    result = trial("U2.1", watts)
    search = Search(
        loadtest="U2",
        text=result.text,
        frame_bytes=64,
        width=0.005,
        duration_seconds=1,
        min_pps=1e5,
        max_pps=14.88e6,
        line_pps=14.88e6,
        found=True,
        goals=(
            Goal.model_validate(
                {
                    "loss_ratio": 0.0,
                    "lower_pps": ndr_pps,
                    "upper_pps": ndr_pps * 1.004,
                    "lower_trial": "U2.1",
                    "upper_trial": "",
                    "forwarded_pps": ndr_pps,
                }
            ),
        ),
    )
    return make_run(result, searches=(search,))


def box(name: str, *runs, price: Price | None = None):
    return sheet(Side(name, runs), price)


def in_terminal(document) -> str:
    out = io.StringIO()
    terminal.show(Console(width=220, file=out), document)
    return out.getvalue()


def test_ndr_is_better_evidence_than_what_came_through():
    found = box("one", make_run(trial("U2", 60.0)), searched(5e6, 57.0))
    line = found.line("64 B")
    assert line is not None
    assert (line.kind, line.pps) == ("NDR", 5e6)
    assert line.power is not None
    assert line.power.watts is not None
    assert line.power.watts.value == 57


def test_what_came_through_says_that_it_is_no_ndr():
    found = box("one", make_run(trial("U2")))
    assert [line.kind for line in found.lines] == ["received"]
    assert "is no NDR" in in_terminal(report.document([found]))


def test_page():
    found = box("Mini PC", searched(5e6, 57.0), price=Price(249, "EUR"))
    shown = in_terminal(report.document([found]))
    for part in ("Mini PC", "5 Mpps of 64 B (NDR)", "40.0 ±0.3 W idle", "249 EUR", "pps per EUR",
                 "20,080", "shelly", "linerate search --traffic imix"):  # fmt: skip
        assert part in shown
    assert "Ranking" not in shown


def test_narrow_terminal_keeps_names_and_power():
    out = io.StringIO()
    found = box("Mini PC", searched(5e6, 57.0), price=Price(249, "EUR"))
    terminal.show(Console(width=80, file=out), report.document([found]))
    shown = out.getvalue()
    row = next(line for line in shown.splitlines() if line.startswith("64 B"))
    assert "57.0 ±0.3" in row
    assert " nJ/packet" in shown


def test_p99_of_a_latency_run():
    timed = make_result("U2.9", make_evidence())
    figures = LatencyFigures.model_validate(
        dict.fromkeys(LatencyFigures.model_fields)
        | {"stream": "a", "direction": "up", "count": 9, "p99_us": 41.5, "lost": 0,
           "duplicated": 0, "out_of_order": 0, "disturbed": 0, "damaged": 0, "histogram": ""}
    )  # fmt: skip
    loads = LatencyLoads(
        loadtest="U2",
        text=timed.text,
        frame_bytes=64,
        top="NDR",
        top_pps=5e6,
        line_pps=14.88e6,
        points=(LatencyPoint(percent=100, pps=5e6, trial="U2.9"),),
    )
    latency = make_run(timed.model_copy(update={"latency": (figures,)}), latencies=(loads,))
    line = box("one", searched(5e6), latency).line("64 B")
    assert line is not None
    assert (line.kind, line.p99_us) == ("NDR", 41.5)


def test_no_power_no_columns():
    shown = in_terminal(report.document([box("one", searched(5e6))]))
    assert "nJ/packet" not in shown
    assert "names a meter" in shown


class TestRanking:
    @pytest.fixture
    def boxes(self):
        return [
            box("small", searched(5e6, 45.0), price=Price(100, "EUR")),
            box("large", searched(9e6, 150.0), price=Price(900, "EUR")),
        ]

    @pytest.mark.parametrize(
        ("by", "names"),
        [
            ("rate", ["large", "small"]),
            ("energy", ["small", "large"]),
            ("price", ["small", "large"]),
        ],
    )
    def test_order(self, boxes, by, names):
        # Energy of a packet is of what came through in the trial, the same in both.
        assert [one.sheet.name for one in ranking(boxes, "64 B", by)] == names

    def test_table(self, boxes):
        shown = in_terminal(report.document(boxes, "energy"))
        assert "Ranking by energy a packet, 64 B" in shown

    def test_boxes_without_the_figure_are_last(self, boxes):
        boxes.insert(0, box("unpriced", searched(20e6)))
        assert [one.sheet.name for one in ranking(boxes, "64 B", "price")][-1] == "unpriced"

    def test_evidence_of_different_kinds_is_noted(self, boxes):
        boxes.append(box("third", make_run(trial("U2"))))
        assert "figures of different kinds" in in_terminal(report.document(boxes))

    def test_nothing_in_common(self, boxes):
        boxes.append(box("third", make_run()))
        assert common_frames(boxes) is None
        assert "no ranking" in in_terminal(report.document(boxes))

    def test_all_forms(self, boxes):
        document = report.document(boxes)
        assert "small" in markdown.render(document)
        assert "Ranking" in html.page(document).html
        head, *rows = csv.render(document).splitlines()
        assert head.startswith("box,frames,loadtest")
        assert len(rows) == 2
        first, _ = result_of(as_json.render(document))
        assert first["lines"][0]["watts"]["value"] == 45
        assert first["price"] == {"amount": 100, "currency": "EUR"}
