"""Power in reports: columns only where it was measured, its error, its reason where it is missing."""

import io
import json
from pathlib import Path

import pytest
from tests.command import result_of

from linerate.base.published import json_text
from linerate.model.power import Estimate, MeterAbout, PowerTrial, PowerWindow
from linerate.report import comparison, power, sheet
from linerate.report.document import Listing
from linerate.report.figures import power_loads
from linerate.report.of_run import document_of
from linerate.report.render import csv, html, markdown, terminal
from linerate.report.render import json as as_json
from linerate.results.compare import compare, sides
from linerate.ui.console import Console
from linerate.ui.exporter.runs import _last

from .conftest import make_evidence, make_result, make_run

ABOUT = MeterAbout(
    source="shelly", covers="all that hangs on the plug", interval_seconds=1, resolution_watts=0.1
)


def window(watts: float, error: float = 0.3) -> PowerWindow:
    return PowerWindow(
        seconds=10,
        readings=10,
        watts=Estimate(value=watts, plus_minus=error),
        joules=Estimate(value=10 * watts, plus_minus=10 * error),
        by="integration",
    )


def powered(test: str = "U2", load: float = 57.25, idle: float = 41.0, **changes):
    trial = PowerTrial(
        about=ABOUT, idle_before=window(idle), load=window(load), idle_after=window(idle)
    ).model_copy(update=changes)
    return make_result(test, make_evidence(power=trial))


def in_terminal(document) -> str:
    out = io.StringIO()
    terminal.show(Console(width=240, file=out), document)
    return out.getvalue()


@pytest.fixture
def run():
    return make_run(powered("U1"), powered("U2", load=80.0))


def document(run):
    return document_of(run, Path("/runs/one"), lambda _folder, _trial: None)


class TestBench:
    def test_columns_and_note(self, run):
        shown = in_terminal(document(run))
        assert "57.2 ±0.3" in shown
        assert "nJ/packet" in shown
        assert (
            "power: shelly (all that hangs on the plug), read each 1 s, in steps of 0.1 W" in shown
        )
        assert "own error is not in ±" in shown

    def test_no_columns_without_a_meter(self):
        run = make_run(make_result("U1"))
        for text in (
            in_terminal(document(run)),
            markdown.render(document(run)),
            csv.render(document(run)),
            json_text(document(run).data()),
        ):
            assert "nJ/packet" not in text
            assert "nj_per_packet" not in text
            assert '"power"' not in text

    def test_missing_figures_have_their_reason(self):
        reason = "http://10.0.0.7: no answer within 5 s"
        run = make_run(powered(load=1, missing=reason) and _failed(reason))
        shown = in_terminal(document(run))
        assert "No power, because" in shown
        assert reason in shown

    def test_markdown(self, run):
        assert "57.2 ±0.3" in markdown.render(document(run))

    def test_page_has_the_picture(self, run):
        page = html.page(document(run)).html
        assert "Power over load" in page
        assert "W under load" in page

    def test_a_page_says_each_figure_once(self, run):
        page = html.page(document(run)).body
        assert page.count("80.0 ±0.3") == 1
        assert "nJ/packet over idle" in page

    def test_tests_of_different_traffic_are_not_joined_by_a_line(self, run):
        results = run.reported()
        (figure,) = power_loads.pictures(results)
        assert figure.plot is not None
        assert {one["mode"] for one in figure.plot["data"]} == {"markers"}
        of_one = [
            one.model_copy(update={"test": f"U2.{number}"}) for number, one in enumerate(results)
        ]
        (figure,) = power_loads.pictures(of_one)
        assert figure.plot is not None
        assert {one["mode"] for one in figure.plot["data"]} == {"lines+markers"}

    def test_json(self, run):
        found = result_of(as_json.render(document(run)))["trials"][0]["power"]
        assert found["watts"]["value"] == 57.25
        assert found["over_idle_watts"]["value"] == 16.25
        assert found["nj_per_packet"]["plus_minus"] > 0
        assert found["about"]["source"] == "shelly"

    def test_csv(self, run):
        head, first, *_ = list(sheet.trials(run))
        row = dict(zip(head, first, strict=True))
        assert row["watts"] == 57.25
        assert row["watts_plus_minus"] == 0.3
        assert row["power_source"] == "shelly"
        assert "watts" in csv.render(document(run)).splitlines()[0]

    def test_run_is_read_again(self, run):
        assert type(run).model_validate_json(run.model_dump_json()) == run

    def test_exporter(self, run):
        found = _last(json.loads(run.model_dump_json()))
        assert found is not None
        assert found.watts == 80.0
        assert found.idle_watts == 41.0
        assert found.nj_per_packet == pytest.approx(run.results[-1].power.nj_per_packet.value)


def _failed(reason: str):
    trial = PowerTrial(about=ABOUT, missing=reason)
    return make_result("U2", make_evidence(power=trial))


def test_reasons_that_many_trials_have_are_one_line():
    reason = "shelly: a load of less than 1 s"
    trial = PowerTrial(about=ABOUT, missing=reason)
    results = [make_result(name, make_evidence(power=trial)) for name in ("U1", "U2", "U3")]
    _, listing = power.notes(results)
    assert isinstance(listing, Listing)
    assert listing.rows == (("U1 and 2 more", reason),)


class TestCompare:
    def pair(self, other_load: float):
        base = make_run(powered("U2"), testbed={"name": "one"})
        other = make_run(powered("U2", load=other_load), testbed={"name": "two"})
        return compare(sides([[("one", base)], [("two", other)]]))

    def test_more_than_the_error(self):
        shown = in_terminal(comparison.document(self.pair(47.25)))
        assert "Power, each figure with its error" in shown
        assert "-10.0" in shown
        changes = {one.name: one for one in self.pair(47.25)[0].power}
        assert changes["W under load"].is_more_than_error
        assert not changes["idle W"].is_more_than_error

    def test_within_the_error(self):
        changes = {one.name: one for one in self.pair(57.5)[0].power}
        assert not changes["W under load"].is_more_than_error

    def test_json(self):
        (found,) = result_of(as_json.render(comparison.document(self.pair(47.25))))
        assert found["power"][1]["change"]["value"] == pytest.approx(-10)

    def test_meters_of_other_parts_are_not_compared(self):
        other = powered("U2")
        about = ABOUT.model_copy(update={"source": "rapl"})
        figures = other.power.model_copy(update={"about": about})
        runs = [
            make_run(powered("U2"), testbed={"name": "one"}),
            make_run(other.model_copy(update={"power": figures}), testbed={"name": "two"}),
        ]
        (pair,) = compare(sides([[("one", runs[0])], [("two", runs[1])]]))
        assert pair.power == ()


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (57.25, 0.3, "57.2 ±0.3"),
        (57.25, 0.123, "57.25 ±0.12"),
        (1234.5, 40, "1,234 ±40"),
        (0.19234, 0.0031, "0.192 ±0.003"),
        (5.0, 0.0, "5"),
    ],
)
def test_digits(value: float, error: float, text: str):
    assert power.shown(Estimate(value=value, plus_minus=error)) == text
