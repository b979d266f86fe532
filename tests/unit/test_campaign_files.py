"""Campaign files: what they make, and a line for each mistake in them."""

import json
from pathlib import Path

import pytest
from tests.unit.campaigns import CAMPAIGN, prepared, written

from linerate.experiments.campaign.prepared import prepare
from linerate.model.campaign import Campaign, CampaignError, load
from linerate.model.testbed import load as load_testbed

from tests.unit.test_mistakes import patterns  # isort: skip

TLS = "scheduler: tls://127.0.0.1:8786\ntls: keys\n"


def mistakes(folder: Path, campaign: str) -> list[str]:
    with pytest.raises(CampaignError) as caught:
        prepared(folder, campaign)
    return [line.removeprefix(f"{folder}/campaign.yaml: ") for line in caught.value.lines]


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("name", "a b", "name: expected 1 to 40 letters, digits, '-', '_', '.' and ':', not 'a b'"),
        ("repeat", "0", "repeat: expected 1 or more, not 0"),
        ("duration", "soon", "duration: expected a duration as 5s, not 'soon'"),
        ("duration", "1ms", "duration: expected 0.05 or more, not '1ms'"),
        ("repeats", "3", "repeats: no such key"),
        ("versions", "[a, a]", "versions: 'a' is there twice"),
        ("testbeds", "[a, a]", "testbeds: 'a' is there twice"),
        ("testbeds", "[]", "testbeds: expected a list of 1 or more, not of 0"),
        ("versions", "[{name: a, build: make}]", "versions.0: build: expected a commit, too"),
        (
            "versions",
            "[{name: a, commit: main}]",
            "versions.0: engine: required beside a commit: which file of it is measured",
        ),
        (
            "versions",
            "[{name: a, commit: -x, engine: e}]",
            "versions.0.commit: expected a commit, tag or branch, not '-x'",
        ),
        (
            "versions",
            "[{name: a, commit: main, engine: ../e}]",
            "versions.0.engine: expected a path without '..', not '../e'",
        ),
        ("scheduler", "tcp://127.0.0.1:8786", "scheduler: expected tls://HOST:PORT, not "),
        ("scheduler", "tls://lab:8786", "tls: required beside a scheduler; see `linerate campaign"),
        ("loads", "[100%, 50%]", "loads: expected 100%, not '50%': scenario quick has loadtests"),
        ("scenarios", "[nonsense]", "scenarios: no scenario 'nonsense'"),
        ("scenarios", "[{name: ./quick.yaml, box: ovs}]", "scenarios: ./quick.yaml: no box 'ovs'"),
        (
            "scenarios",
            "[{name: ./quick.yaml, box: io, values: {flow: 1}}]",
            "scenarios: quick: no value 'flow'; expected one of flows",
        ),
        (
            "scenarios",
            "[{name: ./quick.yaml, box: io, testbeds: [lab-c]}]",
            "scenarios: ./quick.yaml: no testbed 'lab-c'; expected some of lab-a, lab-b",
        ),
        (
            "scenarios",
            "[{name: ./quick.yaml, box: io}, {name: ./quick.yaml, box: [mac, io]}]",
            "scenarios: twice the same: old one quick flows=1 io 100% #1",
        ),
    ],
)
def test_each_mistake_is_a_line(tmp_path: Path, key: str, value: str, line: str) -> None:
    kept = [one for one in CAMPAIGN.strip().splitlines() if not one.startswith(f"{key}:")]
    found = mistakes(tmp_path, "\n".join([*kept, f"{key}: {value}"]))
    assert len(found) == 1
    assert found[0].startswith(line)


@pytest.mark.parametrize("text", ["", "- a\n", "name: [\n", "name: nightly\n"])
def test_what_is_no_campaign_is_refused(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text)


def test_every_pattern_of_a_campaign_file_has_words() -> None:
    from linerate.base.validation import _EXPECTED_TEXT

    assert set(patterns(Campaign.model_json_schema())) <= set(_EXPECTED_TEXT)


PROFILE = """
name: quick
title: Frames of several sizes through a bridge
traffic: imix
values: {routes: [1]}
back: unchanged
boxes: {io: {}}
"""


def test_what_is_measured_is_one_command(tmp_path: Path) -> None:
    campaign = CAMPAIGN + "loads: [50%]\naccept_suspect: true\n"
    found = prepare(written(tmp_path, campaign, PROFILE))
    words = found.job(found.units[0], "lab-a").words(Path("bed.yaml"))
    assert words[:2] == ["scenario", "run"]
    assert Path(words[2]).samefile(tmp_path / "quick.yaml")
    assert words[3:12] == [
        "--box", "io", "--set", "routes=1", "--testbed", "bed.yaml", "--duration", "100ms", "--rate",
    ]  # fmt: skip
    assert "--accept-suspect" in words
    assert "version=old" in words
    assert words[-3:] == [str(tmp_path / "runs"), "--wait", "--json"]


def test_a_testbed_is_its_file_with_what_the_campaign_says(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\ncpus: [0, 1]\n")
    bed = CAMPAIGN.replace("[lab-a, lab-b]", "[{name: lab-a, file: a.yaml, wire: veth}]")
    found = prepared(tmp_path, bed)
    made = found.job(found.units[-1], "lab-a").bed()
    assert (made.name, made.wire, made.dut.workers, made.cpus) == ("a", "veth", 2, (0, 1))
    # A worker writes the same.
    (tmp_path / "b.yaml").write_text(json.dumps(made.model_dump(mode="json", by_alias=True)))
    assert load_testbed(tmp_path / "b.yaml") == made


def test_paths_are_beside_the_file(tmp_path: Path) -> None:
    here = load(written(tmp_path))
    assert here.dataset == str(tmp_path / "dataset")
    assert here.runs == tmp_path / "runs"
    elsewhere = load(written(tmp_path, CAMPAIGN + TLS))
    # On the machines of the testbeds: their own.
    assert elsewhere.runs == Path("runs")
    assert elsewhere.tls is not None
    assert elsewhere.tls.key == tmp_path / "keys" / "key.pem"


def test_a_unit_is_every_combination(tmp_path: Path) -> None:
    units = prepared(tmp_path).units
    assert len(units) == 2 * 2 * 2 * 3
    assert len({unit.key for unit in units}) == len(units)


def test_a_key_is_of_the_content_alone(tmp_path: Path) -> None:
    keys = {unit.key for unit in prepared(tmp_path).units}
    # Other testbeds, another name and order: the same is measured.
    other = CAMPAIGN.replace("nightly", "weekly").replace("[old, new]", "[new, old]")
    other = other.replace("[lab-a, lab-b]", "[lab-c]")
    assert {unit.key for unit in prepared(tmp_path, other).units} == keys
    for changed in (
        CAMPAIGN.replace("100ms", "200ms"),
        CAMPAIGN.replace("workers: 1", "rx_mode: adaptive").replace("workers: 2", "card: cx5-en"),
        CAMPAIGN + "series: 2026-11-27\n",
    ):
        assert not keys & {unit.key for unit in prepared(tmp_path, changed).units}
    with_more = CAMPAIGN.replace("repeat: 3", "repeat: 5")
    assert keys < {unit.key for unit in prepared(tmp_path, with_more).units}


def test_another_scenario_file_is_another_unit(tmp_path: Path) -> None:
    keys = {unit.key for unit in prepared(tmp_path).units}
    file = tmp_path / "campaign.yaml"
    (tmp_path / "quick.yaml").write_text((tmp_path / "quick.yaml").read_text() + "# changed\n")
    assert not keys & {unit.key for unit in prepare(file).units}
