"""Scenario files: what is read, and the line that each mistake gets."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from linerate.cli.app import app
from linerate.model import scenario
from linerate.model.scenario import ScenarioError, facts, filled, load, names, parse

WHOLE: dict[str, Any] = {
    "name": "acl",
    "title": "Filtered",
    "loadtests": ["U2"],
    "values": {"rules": [0, 100]},
    "back": [{"where": {"udp.dst": "{rules}"}, "dropped": True}, {"change": ["forward"]}],
    "boxes": {"kernel": {"setup": ["nft add rule inet f {rules} # { } ${rules} {1..9} {count}"]}},
    "pair": "rules",
}


def test_values_are_placeholders() -> None:
    """The first is the default; a mapping brings others with it."""
    states = {False: {"count": 7}, True: {"count": 8}}
    read = parse({**WHOLE, "values": {"rules": [0, 100], "state": states}}, "f")
    assert read.defaults() == {"rules": 100, "state": "off", "count": 7}
    assert read.placeholders({"rules": "100"})["rules"] == 100
    assert read.placeholders({"rules": "250"})["rules"] == 250
    facts_of = {**facts(), **read.placeholders({"rules": "100"})}
    assert filled(read.boxes["kernel"].setup, facts_of) == [
        "nft add rule inet f 100 # { } ${rules} {1..9} 7"
    ]
    assert filled("{rules}", facts_of) == 100


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"title": None}, "f.yaml: title: expected text, not None"),
        ({"loadtests": []}, "f.yaml: expected either traffic or loadtests"),
        ({"loadtests": ["U9"]}, "f.yaml: loadtests: no 'U9'; expected some of U1, U2"),
        ({"pair": "state"}, "f.yaml: pair: expected a key of values"),
        ({"values": {"rules": [5, 6]}}, "f.yaml: pair: expected 0 or off as the first"),
        ({"values": {"rules": [0, 1], "e0": [1]}}, "f.yaml: values.e0: {e0} is a placeholder"),
        ({"back": "forward"}, "f.yaml: back: expected forwarded, unchanged, dropped, or cases"),
        ({"back": {"changes": []}}, "f.yaml: back.0.changes: no such key"),
        ({"back": {"change": [{"pop_vlan": 1, "do": "ttl"}]}}, "expected one change, as `forward`"),
        ({"back": {"dropped": True, "copies": 2}}, "dropped: expected without change and copies"),
        ({"boxes": {}}, "f.yaml: boxes: "),
        ({"boxes": {"kernel": {"setup": ["ip {eo}"]}}}, "boxes.kernel: no such placeholder {eo}"),
    ],
)
def test_each_mistake_has_a_line(change: dict[str, Any], line: str) -> None:
    """It names the key, and what was expected there."""
    document = {**WHOLE, "boxes": {"kernel": {}}}
    with pytest.raises(ScenarioError) as caught:
        parse({**document, **change}, "f.yaml")
    assert any(line in one for one in caught.value.lines), caught.value.lines


@pytest.mark.parametrize(
    ("chosen", "line"),
    [
        ({"speed": "1"}, "acl: no value 'speed'; expected one of rules"),
        ({"rules": "many"}, "rules: expected one of 0, 100, not 'many'"),
    ],
)
def test_values_that_are_not_there_are_named(chosen: dict[str, str], line: str) -> None:
    """Both the name and the value."""
    document = {**WHOLE, "boxes": {"kernel": {}}}
    with pytest.raises(ValueError, match="expected one of") as caught:
        parse(document, "f").placeholders(chosen)
    assert str(caught.value) == line


def test_every_scenario_of_the_library_is_read() -> None:
    """Each is named as its folder, and has a digest."""
    for name in names():
        loaded = load(name)
        assert loaded.scenario.name == name
        assert len(loaded.digest) == 16


def test_a_file_is_read_by_its_path_or_its_folder(tmp_path: Path) -> None:
    """Another file beside it makes another scenario."""
    text = (scenario.library() / "ip4-route" / "scenario.yaml").read_text(encoding="utf-8")
    (tmp_path / "scenario.yaml").write_text(text, encoding="utf-8")
    first = load(str(tmp_path))
    assert first.scenario == load("ip4-route").scenario
    (tmp_path / "rules.nft").write_text("flush ruleset\n", encoding="utf-8")
    assert load(str(tmp_path / "scenario.yaml")).digest != first.digest


def test_what_is_no_scenario_is_a_line(tmp_path: Path) -> None:
    """A name, a file that is not there, one that is no YAML."""
    with pytest.raises(ScenarioError, match="no scenario 'acle'; expected a file, or one of"):
        load("acle")
    with pytest.raises(ScenarioError, match="no such file"):
        load(str(tmp_path / "none.yaml"))
    (tmp_path / "list.yaml").write_text("[1]", encoding="utf-8")
    with pytest.raises(ScenarioError, match="expected keys and values"):
        load(str(tmp_path / "list.yaml"))


def test_a_box_that_loses_frames_without_the_feature_has_no_pair() -> None:
    done = CliRunner().invoke(app, ["scenario", "run", "vlan", "--box", "router", "--pair"])
    assert done.exit_code == 2
    assert done.stderr == (
        "vlan on router: not all frames are received without it: there is no pair; "
        "expected --box ovs\n"
    )
