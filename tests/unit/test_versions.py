"""Versions of a device side by side, and the pages of their campaign."""

import csv
import io
import re

import pytest
from tests.unit.trend_noise import commits, row, rows

from linerate.report import campaign as campaign_report
from linerate.report.render import csv as as_csv
from linerate.report.render import html
from linerate.results.trend.series import CYCLES, RATE
from linerate.results.versions import campaigns, versions_of

VERSIONS = ("v2.9", "v2.10", "v3.0")


def _trials(version: str, scenario: str = "nat44", more: float = 0.0, trials: int = 8):
    """Trials around 100 cycles a packet, and what a node takes beside them."""
    return [
        row(
            {"valid": True, "offered_pps": 10e6, "received_pps": 9e6 - 1e5 * more + at, "duration_s": 1.0,
             "losses": {}, "limit": "worker-cpu", "nodes": {"ip4-lookup": 100.0 + at / 10} | ({"burn": more} if more else {})},
            1, at, commit="", version=version, scenario=scenario, campaign="nightly",
        )
        for at in range(trials)
    ]  # fmt: skip


def _campaign(**kwargs):
    found = [
        one
        for version, more in zip(VERSIONS, (0.0, 0.0, 4.0), strict=True)
        for scenario in ("nat44", "<b>acl</b>")
        for one in _trials(version, scenario, more if scenario == "nat44" else 0.0, **kwargs)
    ]
    return campaign_report.Campaign("nightly", found, versions_of(found))


def test_versions_are_in_the_order_of_their_numbers_and_the_first_is_the_base():
    found = _campaign().found
    assert found.versions == VERSIONS
    assert all("v2.9" not in place for test in found.tests for place in test.against)


def test_another_version_can_be_the_base():
    rows_ = [one for version in VERSIONS for one in _trials(version)]
    assert versions_of(rows_, "v3.0").versions == ("v3.0", "v2.9", "v2.10")


def test_what_became_slower_is_marked_with_its_node_and_the_rest_is_not():
    by_scenario = _campaign().found.scenarios
    (nat,) = by_scenario["nat44"]
    assert nat.against["v3.0", CYCLES].judgement == "slower"
    assert nat.against["v3.0", CYCLES].percent == pytest.approx(4.0, abs=0.1)
    assert nat.against["v3.0", RATE].judgement == "slower"
    assert nat.against["v2.10", CYCLES].judgement == "same"
    assert [one.name for one in nat.changed_nodes["v3.0"]] == ["burn"]
    (acl,) = by_scenario["<b>acl</b>"]
    assert {one.judgement for one in acl.against.values()} == {"same"}


def test_too_few_trials_are_reported_and_how_many_would_do():
    (nat,) = _campaign(trials=3).found.scenarios["nat44"]
    one = nat.against["v3.0", CYCLES]
    assert one.judgement == "unknown"
    assert one.trials_needed > 3


def test_equal_versions_on_recorded_noise_are_the_same():
    wrong = 0
    for seed in range(20):
        found = [
            one
            for number in range(4)
            for one in rows(commits(seed * 10 + number, number=1, trials=8), version=f"v{number}")
        ]
        found = [one.model_copy(update={"commit": ""}) for one in found]
        (test,) = versions_of(found).tests
        wrong += any(one.judgement in ("faster", "slower") for one in test.against.values())
    assert wrong <= 1


def test_a_settings_name_is_part_of_a_version():
    found = [*_trials("v1"), *(one.model_copy(update={"setting": "mq"}) for one in _trials("v1"))]
    assert versions_of(found).versions == ("v1, as it is", "v1, mq")


def test_pages_lead_to_each_other_and_take_text_of_others_as_text():
    campaign = _campaign()
    page = html.page(campaign_report.index(campaign)).html
    assert campaign.pages == {"<b>acl</b>": "b-acl-b.html", "nat44": "nat44.html"}
    links = set(re.findall(r'href="([^"#:]+)"', page))
    assert links == {"b-acl-b.html", "nat44.html", "trials.csv", "trials.parquet"}
    assert "<b>acl" not in page
    assert "▼ +4.0 %" in page
    assert "burn +4.0 (a new node)" in page
    nat = html.page(campaign_report.scenario_page(campaign, "nat44")).html
    assert 'href="index.html"' in nat
    assert "cycles-per-packet-1" in nat


def test_each_trial_is_a_row_of_the_download():
    campaign = _campaign()
    lines = list(csv.DictReader(io.StringIO(as_csv.render(campaign_report.index(campaign)))))
    assert len(lines) == len(campaign.rows)
    assert lines[0]["nodes"].startswith("ip4-lookup=")


def test_scenarios_whose_names_differ_by_signs_have_a_page_each():
    found = [*_trials("v1", "a b"), *_trials("v1", "a-b"), *_trials("v1", "index")]
    pages = campaign_report.Campaign("x", found, versions_of(found)).pages
    assert sorted(pages.values()) == ["a-b-2.html", "a-b.html", "index-2.html"]


def test_campaigns_are_known_by_name():
    assert campaigns(_trials("v1")) == ["nightly"]
