"""Campaigns in the pages and the API of `linerate serve`: what `campaign status` prints."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.test_serve_api import get

from linerate.experiments.campaign.state import StateFolder
from linerate.model.campaign import CampaignState, Failure
from linerate.model.campaign import TestbedState as Bed
from linerate.report.campaign_progress import list_document, status_page
from linerate.report.render import markdown


def state_of(**changes):
    """One that goes on: two testbeds, of which one is set aside."""
    now = datetime.now(UTC)
    failure = Failure(
        time=now, unit="0" * 64, text="main <one>", testbed="lab-b", reason="the host was busy"
    )
    given = {
        "name": "nightly",
        "seed": 1,
        "host": "rack-7",
        "started": now - timedelta(minutes=10),
        "updated": now,
        "units": 40,
        "done": 20,
        "found_done": 10,
        "testbeds": (
            Bed(name="lab-a", status="measuring", measured=10, now="main two", seconds=90),
            Bed(name="lab-b", status="set aside", failed=3, reason="3 <failed> in a row"),
        ),
        "failures": (failure,),
    }
    return CampaignState(**(given | changes))


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder of no runs, beside a dataset."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def written(*states):
    for state in states:
        StateFolder("dataset", state.name).write(state)


def test_a_page_has_progress_testbeds_and_reasons(runs):
    written(state_of())
    status, _, body = get(runs, "/campaigns/nightly")
    text = body.decode()
    assert status == 200
    assert '<progress id="progress" max="40" value="20"' in text
    assert "<strong>20</strong> of 40 units" in text
    assert "<dt>left</dt><dd>20</dd>" in text
    assert "<dt>time left</dt><dd>20 min</dd>" in text
    assert "Testbeds: 1 measuring, 1 set aside." in text
    assert "main two" in text
    assert "3 &lt;failed&gt; in a row" in text
    assert "main &lt;one&gt;: the host was busy" in text
    assert "/static/campaigns.js" in text


def test_the_list_leads_to_each_and_names_what_is_broken(runs, tmp_path):
    finished = state_of(name="release", status="finished", done=40)
    written(state_of(), finished)
    odd = tmp_path / "dataset/campaigns/odd"
    odd.mkdir()
    (odd / "state.json").write_text("[<")
    moved = tmp_path / "dataset/campaigns/moved"
    moved.mkdir()
    (moved / "state.json").write_text(finished.model_dump_json())
    text = get(runs, "/campaigns")[2].decode()
    for name in ("nightly", "release"):
        assert f'<a href="campaigns/{name}">{name}</a>' in text
    assert "odd/state.json: not a campaign&#x27;s state" in text
    assert "moved/state.json: of another campaign, release" in text
    assert 'href="/campaigns" aria-current="page"' in text


def test_without_campaigns_the_page_says_how_one_begins(runs, tmp_path):
    assert f"No campaign has begun in {tmp_path}/dataset" in get(runs, "/campaigns")[2].decode()
    assert json.loads(get(runs, "/api/campaigns")[2]) == {"campaigns": [], "broken": []}


def test_programs_get_what_status_prints(runs):
    written(state_of())
    (one,) = json.loads(get(runs, "/api/campaigns")[2])["campaigns"]
    assert one == json.loads(get(runs, "/api/campaigns/nightly")[2])
    assert CampaignState.model_validate(one).testbeds[1].reason == "3 <failed> in a row"


@pytest.mark.parametrize("name", ["none", "..", "%2e%2e", "nightly/state.json"])
def test_only_campaigns_that_are_listed_have_a_page(runs, name):
    written(state_of())
    assert get(runs, f"/campaigns/{name}")[0] == 404
    assert get(runs, f"/api/campaigns/{name}")[0] == 404


def test_no_link_leads_out_of_the_dataset(runs, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "state.json").write_text(state_of(name="stolen").model_dump_json())
    written(state_of())
    (tmp_path / "dataset/campaigns/stolen").symlink_to(elsewhere)
    text = get(runs, "/campaigns")[2].decode()
    assert get(runs, "/campaigns/stolen")[0] == 404
    assert 'href="campaigns/stolen"' not in text
    assert "stolen/state.json: " in text


def test_a_killed_run_has_no_time_left():
    silent = state_of(updated=datetime.now(UTC) - timedelta(hours=1))
    text = markdown.render(status_page(silent))
    assert "killed" in text
    assert "time left –" in text
    listed = markdown.render(list_document([silent]))
    assert "| nightly | killed" in listed
