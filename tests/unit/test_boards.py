"""Grafana's boards and what provisions them: what Grafana would only find out when it opens them.

That each query is one and has data is tested with a real Prometheus in tests/system.
"""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "dashboards"
BOARDS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
COLUMNS = 24
#: Grafana's identifiers of units that rates, times, shares and counts here need; another word would
#: be shown as a suffix, without a warning.
UNITS = {"none", "short", "percentunit", "s", "hertz", "ops", "pps", "cps", "bps", "Bps", "bytes"}
#: Grafana's own variables.
BUILT_IN = {"__rate_interval", "__interval", "__range"}
VARIABLE = re.compile(r"\$\{?(\w+)")


def of_file(name: str, key: str) -> list[str]:
    """Values of a key in a YAML file, which are all on lines of their own."""
    text = (FOLDER / name).read_text()
    return re.findall(rf"^[ -]*{key}: +(\S+)$", text, re.MULTILINE)


def panels_of(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )


def test_three_boards_that_lead_to_each_other():
    assert len(BOARDS) == len({board["uid"] for board in BOARDS.values()}) == 3
    assert len({board["title"] for board in BOARDS.values()}) == 3
    for name, board in BOARDS.items():
        # Grafana takes 40 characters.
        assert re.fullmatch(r"[a-z-]{1,40}", board["uid"]), name
        assert "id" not in board, "a number of one Grafana's database is none of another's"
        assert board["schemaVersion"] >= 36
        assert board["refresh"] in board["timepicker"]["refresh_intervals"]
        (link,) = board["links"]
        assert link["type"] == "dashboards"
        assert set(link["tags"]) <= set(board["tags"])


@pytest.mark.parametrize("name", BOARDS)
def test_panels_have_places_ids_and_units(name):
    panels = BOARDS[name]["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels_of(BOARDS[name])}) == len(
        panels_of(BOARDS[name])
    )
    for panel in panels:
        place = panel["gridPos"]
        assert place.keys() == {"x", "y", "w", "h"}
        assert 0 <= place["x"] < place["x"] + place["w"] <= COLUMNS
        assert place["y"] >= 0
        assert place["h"] > 0
    for one, other in itertools.combinations(panels, 2):
        assert not overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])
    for panel in panels_of(BOARDS[name]):
        assert panel["type"] == "timeseries"
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in UNITS, panel["title"]
        if defaults["custom"]["scaleDistribution"]["type"] == "log":
            assert defaults.get("min") != 0, "a logarithmic axis has no zero"


@pytest.mark.parametrize("name", BOARDS)
def test_queries_know_their_variables_and_source(name):
    board = BOARDS[name]
    variables = board["templating"]["list"]
    # The source first: the others are asked of it.
    assert (variables[0]["name"], variables[0]["type"]) == ("datasource", "datasource")
    known = {one["name"] for one in variables} | BUILT_IN
    source = {"type": "prometheus", "uid": "${datasource}"}
    asked = [one for one in variables if one["type"] == "query"]
    assert all(one["definition"] == one["query"]["query"] for one in asked)
    queries = [(one["datasource"], one["definition"]) for one in asked]
    for panel in panels_of(board):
        assert panel["datasource"] == source
        targets = panel["targets"]
        assert targets
        assert len({target["refId"] for target in targets}) == len(targets), panel["title"]
        queries += [(target["datasource"], target["expr"]) for target in targets]
        legends = [word for target in targets
                   for word in re.findall(r"{{(.*?)}}", target["legendFormat"])]  # fmt: skip
        assert all(re.fullmatch(r"[a-z_]+", word) for word in legends), panel["title"]
    loadtests = [one for one in board["annotations"]["list"] if one["name"] == "Loadtests"]
    queries += [(one["datasource"], one["expr"]) for one in loadtests]
    assert len(loadtests) == 1
    for where, query in queries:
        assert where == source, query
        assert set(VARIABLE.findall(query)) <= known, query
    used = {word for _, query in queries for word in VARIABLE.findall(query)} | {"datasource"}
    assert {one["name"] for one in variables} <= used, "a variable that changes nothing"


def test_what_is_the_testers_is_known_by_its_kind_not_by_names():
    """A device's port may be called as it likes."""
    assert len(BOARDS) == 3
    for board in BOARDS.values():
        for panel in panels_of(board):
            for target in panel["targets"]:
                assert not re.search(r"node[!=]~", target["expr"]), panel["title"]


def test_provisioning_agrees_with_the_documentation_and_with_prometheus():
    page = (FOLDER.parent / "docs" / "exporter.md").read_text()
    (path,) = of_file("provisioning/dashboards/linerate.yml", "path")
    assert f"cp dashboards/linerate-*.json {path}/\n" in page
    for kind in ("dashboards", "datasources"):
        copied = f"cp dashboards/provisioning/{kind}/linerate.yml /etc/grafana/provisioning/{kind}/"
        assert copied in page
        assert of_file(f"provisioning/{kind}/linerate.yml", "apiVersion") == ["1"]
    # $__rate_interval is made of it: were it shorter than the scrapes, rates would have no points.
    (interval,) = of_file("provisioning/datasources/linerate.yml", "timeInterval")
    assert of_file("prometheus.yml", "scrape_interval") == [interval]
