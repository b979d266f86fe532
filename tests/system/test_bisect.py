"""Bisections of a real repository whose commits start our engine with a burning node, or without.

Each commit has a program in the place of the engine: it adds the node to the configuration that it
is given, and becomes the engine.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.labs import wait_for

from linerate.engine.engine_process import executable, live_engines

COMMITS, FIRST = 40, 23
BUILDS = 8
#: Cycles that the node burns a packet, before and from the change on. A new one takes some more, to
#: read the clock; the other makes all of a packet's cycles 4 % more.
CHANGES = {"a new node": (0, 4), "an old node": (200, 210)}
ROUND_SECONDS = 60.0
PROGRAM = """#!{python}
import json, os, sys
from pathlib import Path

path = Path(sys.argv[-1])
if path.suffix == ".json":
    config = json.loads(path.read_text())
    if "forwarder" in config and {clocks}:
        config["forwarder"]["burn"] = {{"clocks": {clocks}}}
        path.write_text(json.dumps(config))
os.execv("{engine}", ["linerate-engine", *sys.argv[1:]])
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def git(folder: Path, *words: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    done = subprocess.run(
        ["git", "-C", str(folder), *author, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(params=CHANGES)
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    before, since = CHANGES[request.param]
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    for number in range(1, COMMITS + 1):
        clocks = since if number >= FIRST else before
        program = PROGRAM.format(python=sys.executable, engine=executable(), clocks=clocks)
        (folder / "program").write_text(program + f"# {number}\n")
        git(folder, "add", "program")
        git(folder, "commit", "--quiet", "-m", f"change {number}")
        git(folder, "tag", f"c{number}")
    return folder


def bisect(tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    """Start it, with builds of its own."""
    build = "cp program engine && chmod +x engine && echo built >> ../../count"
    return subprocess.Popen(
        [sys.executable, "-m", "linerate", "bisect", "--good", "c1", "--bad", "main",
         "--build", build, "--engine", "engine", "--repo", str(tmp_path / "repository"),
         "--runs", str(tmp_path / "runs"), "--wait", "--json", *words],
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def events(tmp_path: Path) -> int:
    """Rounds that are written."""
    states = list((tmp_path / "runs").glob("*/state.json"))
    return len(json.loads(states[0].read_text())["events"]) if states else 0


def end_after_a_round(tmp_path: Path, number: int) -> int:
    """Start a bisection, end it by a signal once a round more is written; returns its exit code."""
    before = events(tmp_path)
    process = bisect(tmp_path)
    wait_for(lambda: events(tmp_path) > before, ROUND_SECONDS)
    process.send_signal(number)
    output, _ = process.communicate(timeout=ROUND_SECONDS)
    if number == signal.SIGINT:
        assert json.loads(output)["result"]["outcome"] == "unfinished"
    return process.returncode


def test_commit_23_of_40_is_found_in_8_builds_though_it_is_killed(repository, tmp_path):
    assert end_after_a_round(tmp_path, signal.SIGKILL) == -signal.SIGKILL
    kept = events(tmp_path)
    assert kept >= 1
    assert end_after_a_round(tmp_path, signal.SIGINT) == 128 + signal.SIGINT
    assert events(tmp_path) > kept

    process = bisect(tmp_path)
    output, _ = process.communicate(timeout=900)
    result = json.loads(output)["result"]
    assert process.returncode == 0
    (suspect,) = result["suspects"]
    assert suspect["commit"] == git(repository, "rev-parse", f"c{FIRST}")
    assert result["growth"]["account"].startswith("burn")
    assert result["growth"]["by"]["low"] > 0
    assert result["builds"] <= BUILDS
    assert len((tmp_path / "cache" / "linerate" / "count").read_text().split()) == result["builds"]

    (folder,) = (tmp_path / "runs").iterdir()
    assert sorted(one.name for one in folder.iterdir()) == ["lock", "state.json"]
    assert not [name for name in live_engines() if f"-{process.pid}-" in name]
    assert git(repository, "worktree", "list").count("\n") == 0
    assert git(repository, "status", "--porcelain") == ""
