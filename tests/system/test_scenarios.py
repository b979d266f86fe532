"""Runs of scenarios: what is refused, what they leave, pairs that take turns."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from linerate.host.netns.privilege import missing_privilege
from linerate.model.scenario import load

#: The check found what is wrong, or was refused as this host lacks something.
FAILED, REFUSED = 1, 2


def scenario(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the group; tests beside this one may have the CPUs for a while."""
    command = [sys.executable, "-m", "linerate", "scenario", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.smoke
def test_nothing_is_measured_of_a_box_that_is_wrong(tmp_path: Path) -> None:
    """The run ends with what is wrong, and leaves no folder."""
    text = Path(load("l2-patch").path).read_text(encoding="utf-8")
    file = tmp_path / "wrong.yaml"
    file.write_text(text.replace("back: unchanged", "back: forwarded", 1), encoding="utf-8")
    runs = tmp_path / "runs"
    done = scenario("run", str(file), "--box", "io", "--wait", "--runs", str(runs))
    assert done.returncode == FAILED, done.stdout + done.stderr
    assert "is not set up as expected: U3: ethernet.dst: expected" in done.stderr
    assert "nothing was measured" in done.stderr
    assert not list(runs.glob("*"))


def test_a_run_says_which_scenario_it_measured(tmp_path: Path) -> None:
    """By name, digest, box and values, beside its results."""
    words = ("l2-patch", "--box", "io", "--frame-bytes", "512", "--duration", "200ms")
    done = scenario("run", *words, "--wait", "--accept-suspect", "--runs", str(tmp_path), "--json")
    assert done.returncode in (0, FAILED), done.stderr
    (folder,) = tmp_path.iterdir()
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert run["scenario"] == {
        "name": "l2-patch",
        "digest": load("l2-patch").digest,
        "box": "io",
        "values": {"frame_bytes": "512"},
    }
    assert all(result["frame_bytes"] == 512 for result in run["results"])


def test_both_sides_of_a_pair_take_turns(tmp_path: Path) -> None:
    """Without, with, without, with; the cost is of pairs, and `cost` makes the same of them."""
    words = ("ecmp", "--box", "router", "--pair", "--repeat", "2", "--duration", "100ms")
    done = scenario("run", *words, "--wait", "--accept-suspect", "--runs", str(tmp_path), "--json")
    assert done.returncode in (0, FAILED), done.stderr
    folders = sorted(tmp_path.iterdir(), key=started)
    paths = [run_json(one)["scenario"]["values"]["paths"] for one in folders]
    assert paths == ["0", "8", "0", "8"]
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    assert (result["without"], result["with_it"]) == ("0", "8")
    assert done.returncode == FAILED or result["costs"]
    for one in result["costs"]:
        assert one["pairs"] <= 2
        assert one["cycles_interval"] is None
    sides = (",".join(map(str, folders[side::2])) for side in (0, 1))
    again = scenario("cost", *sides, "--json")
    assert json.loads(again.stdout)["result"] == result


def run_json(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return document


def started(folder: Path) -> str:
    return str(run_json(folder)["started"])


def test_what_is_not_there_is_a_line() -> None:
    """A box, a value, a scenario: each names those that are there."""
    for words, line in (
        (("check", "l2-patch", "--box", "vpp"), "l2-patch: no box 'vpp'; expected one of io, mac"),
        (("check", "l2-patch", "--box", "io", "--set", "x=1"), "l2-patch: no value 'x'; expected"),
        (("show", "l3"), "no scenario 'l3'; expected a file, or one of"),
    ):
        done = scenario(*words)
        assert done.returncode == REFUSED
        assert line in done.stderr
        assert "Traceback" not in done.stderr


pytestmark = pytest.mark.skipif(bool(missing_privilege("scenarios")), reason="needs root")
