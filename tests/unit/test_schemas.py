"""Published schemas: current, listed, and kept by what commands print and runs hold."""

import json
import platform
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.command import run_command
from tests.schemas import KINDS, keeps_to, valid_result

from linerate.base.drivers import INTERFACE_DRIVERS
from linerate.model.port_queues import PortQueues
from linerate.model.testbed import DUTS, WIRES, load
from linerate.results.store import load_run

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
RUNS = DATA / "runs-0.1"
HOST = str(DATA / "hosts" / "box-n6005")


@pytest.mark.parametrize("name", KINDS)
def test_schemas_are_well_formed(name):
    schema = KINDS[name].schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:linerate:{name}:{KINDS[name].version}"


def test_the_kept_schemas_are_current():
    """Mended by `make schemas`."""
    kept = {path.stem: path.read_text() for path in (ROOT / "docs" / "schemas").glob("*.json")}
    made = {name: json.dumps(kind.schema(), indent=1) + "\n" for name, kind in KINDS.items()}
    assert kept == made


def test_the_reference_of_testbeds_is_current(linerate):
    """Mended by `linerate schema testbed --markdown > docs/testbed-reference.md`."""
    kept = (ROOT / "docs" / "testbed-reference.md").read_text()
    assert linerate("schema", "testbed", "--markdown").stdout == kept


@pytest.mark.parametrize("part", ["Dut", "TesterSpec", "TesterPort", "Memory"])
def test_every_key_of_a_testbed_is_described(part):
    schema = KINDS["testbed"].schema()
    fields = schema["properties"] | schema["$defs"][part]["properties"]
    shared = PortQueues.model_fields.keys()
    assert [
        key for key, one in fields.items() if "description" not in one and key not in shared
    ] == []


def test_an_editor_finds_the_words_of_a_key():
    schema = KINDS["testbed"].schema()
    assert schema["properties"]["wire"]["enum"] == list(WIRES)
    for key, words in (("kind", DUTS), ("driver", INTERFACE_DRIVERS)):
        assert f'"{words[0]}"' in json.dumps(schema["$defs"]["Dut"]["properties"][key])


def test_the_page_has_every_schema():
    linked = re.findall(r"\]\(schemas/([\w-]+)\.json\)", (ROOT / "docs" / "json.md").read_text())
    assert sorted(linked) == sorted(KINDS)


def test_the_command_lists_and_prints_them(linerate):
    listed = linerate("schema").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(KINDS)
    assert json.loads(linerate("schema", "bench").stdout) == KINDS["bench"].schema()


def test_the_command_writes_them_all(linerate, tmp_path):
    assert linerate("schema", "--folder", "made").stdout == f"made: {len(KINDS)} schemas\n"
    made = {file.stem: json.loads(file.read_text()) for file in (tmp_path / "made").iterdir()}
    assert made == {name: kind.schema() for name, kind in KINDS.items()}


def test_an_unknown_name_is_refused_in_a_line(linerate):
    done = linerate("schema", "benhc")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("the command line: 'benhc': no such schema; expected one of audit, ")


def test_names_are_completed(linerate):
    words = {
        "_LINERATE_COMPLETE": "complete_bash",
        "COMP_WORDS": "linerate schema expl",
        "COMP_CWORD": "2",
    }
    assert linerate(**words).stdout.split() == ["explain", "explain-files"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("explain", ("explain", "base")),
        ("explain", ("explain", "other", "--test", "U2")),
        ("explain-files", ("explain", str(DATA / "cases" / "pcie.dmesg.txt"))),
        ("compare", ("compare", "base", "other")),
        ("show-ledger", ("show", "ledger", "base")),
        ("runs", ("runs", "--runs", ".")),
        ("audit", ("audit", str(DATA / "loadtests.csv"))),
        ("doctor", ("doctor", "--root", HOST)),
        ("line", ("line", "10G", "64")),
        ("clean", ("clean", "--dry-run")),
        ("traffic-show", ("traffic", "show", "imix")),
        ("nic-report", ("nic", "report", "05:00.0", "--root", HOST)),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else None,
)
def test_what_commands_print_keeps_to_its_schema(fake_environment, tmp_path, name, words):
    for run in ("base", "other"):
        shutil.copytree(RUNS / run, tmp_path / run)
    done = run_command((*words, "--json"), tmp_path, {})
    document = json.loads(done.stdout)
    keeps_to(name, document)
    assert document["schema"] == name
    asked = words[:2] if name == "nic-report" else (*words, "--json")
    assert document["command"] == ["linerate", *asked]
    assert document["host"] == ("" if name == "nic-report" else platform.node())


@pytest.mark.parametrize("file", sorted(RUNS.glob("*/run.json")), ids=lambda file: file.parent.name)
def test_runs_of_version_0_1_keep_to_their_schemas_once_they_are_read(file):
    keeps_to("run", load_run(file).model_dump(mode="json", by_alias=False))
    for evidence in (file.parent / "evidence").iterdir():
        keeps_to("evidence", json.loads(evidence.read_text()))


def kept_files(folder):
    """Check all files of a run."""
    keeps_to("run", json.loads((folder / "run.json").read_text()))
    evidence = list((folder / "evidence").iterdir())
    assert evidence
    for file in evidence:
        keeps_to("evidence", json.loads(file.read_text()))
    lines = (folder / "live.jsonl").read_text().splitlines()
    for line in lines:
        keeps_to("journal", json.loads(line))
    assert {json.loads(line)["event"] for line in lines} >= {"status", "trial", "closed", "result"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bench", ("bench", "--only", "U2,B2", "--repeat", "2")),
        ("bench", ("bench", "--traffic", "imix", "--latency")),
        ("sweep", ("sweep", "--sizes", "64,128", "--repeat", "2")),
        ("search", ("search",)),
        ("search", ("search", "--sizes", "64,1518")),
        ("rfc2544", ("search", "--rfc2544", "--sizes", "64", "--repeat", "1")),
        ("latency", ("latency", "--loads", "50,100", "--ndr", "1e6")),
        ("soak", ("soak", "--for", "60s", "--every", "1s", "--load", "50%")),
        ("matrix", ("matrix", "--only", "loopback-2,router", "--duration", "1s")),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else None,
)
def test_what_is_measured_keeps_to_its_schema(linerate, tmp_path, name, words):
    done = linerate(*words, "--json", FAKE_DUT_PPS="5e6")
    document = valid_result(name, done.stdout)
    folder = tmp_path / document["run"]
    kept_files(folder)
    if name == "soak":
        for line in (folder / "minutes.jsonl").read_text().splitlines():
            keeps_to("minutes", json.loads(line))


def test_a_matrix_that_is_only_listed_keeps_to_its_schema(linerate):
    assert valid_result("matrix-list", linerate("matrix", "--list", "--json").stdout)


TESTBEDS = (
    "wire: card\ncard: cx4-lx\n",
    "card: {preset: cx4-lx, rx_queues: 1}\ndut: {mode: io, workers: 2}\n",
    "wire: veth\nlink: 2.5G\ndut: {kind: kernel}\n",
    "link: 10000000000\ncpus: [0, 1]\nmemory: {pages: 4k}\n",
)


@pytest.mark.parametrize("text", TESTBEDS)
def test_testbeds_keep_to_their_schema(text, tmp_path):
    file = tmp_path / "testbed.yaml"
    file.write_text(text)
    load(file)
    document = yaml.safe_load(text)
    keeps_to("testbed", document)
    with pytest.raises(jsonschema.ValidationError):
        keeps_to("testbed", document | {"more": 1})
