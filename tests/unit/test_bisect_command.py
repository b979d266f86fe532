"""`linerate bisect` over a repository on disk, whose engines a simulated lab measures."""

import json
import random
import shlex
import signal

import jsonschema
import pytest
from tests.unit.test_campaign_builds import git, repository
from typer.testing import CliRunner

from linerate.base.published import KINDS
from linerate.cli import bisect_traffic
from linerate.cli.app import app
from linerate.experiments.bench import Interrupted
from linerate.experiments.bisection.measuring import Measurer
from linerate.experiments.campaign import builds
from linerate.model.bisection import Trial

_ = repository
COMMITS, FIRST = 6, 4
WORDS = (
    "--good", "c1", "--bad", "main", "--engine", "engine", "--build", "cp source engine; chmod +x engine",
)  # fmt: skip


@pytest.fixture
def line(repository, tmp_path, monkeypatch):
    """Commits whose engine says which it is; the forwarder costs more from one on."""
    for number in range(1, COMMITS + 1):
        (repository / "source").write_text(f"#!/bin/sh\n# {number}\n")
        git(repository, "commit", "--quiet", "--all", "-m", f"change {number}")
        git(repository, "tag", f"c{number}")
    chance = random.Random(1)

    class Simulated(Measurer):
        """Reads the number of the commit in its engine."""

        def trial(self, engine, work):
            self.trials_left -= 1
            if self.trials_left < 0:
                raise Interrupted(signal.SIGINT)
            number = int(engine.read_text().split("#")[-1])
            nodes = {"rx": 50 * chance.gauss(1, 0.1)}
            if number >= self.dearer_from:
                nodes["burn"] = 4 * chance.gauss(1, 0.05)
            return Trial(nodes=nodes, packet_ns=70 * chance.gauss(1, 0.01))

        dearer_from = FIRST
        trials_left = 10_000

    monkeypatch.setattr(bisect_traffic, "Measurer", Simulated)
    monkeypatch.chdir(tmp_path)
    return Simulated


def run(*words: str, repo: str = "repository"):
    return CliRunner().invoke(app, ["bisect", *words, "--repo", repo], env={"COLUMNS": "80"})


def printed(*words: str):
    done = run(*words, "--json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, KINDS["bisect"].schema())
    return done.exit_code, document["result"]


def test_the_first_dearer_commit_is_named_with_its_size_and_node(line, repository):
    done = run(*WORDS)
    assert done.exit_code == 0, done.output
    digits = git(repository, "rev-parse", f"c{FIRST}")
    assert f"bisect: {digits[:8]} is dearer by" in done.stdout
    assert f"change {FIRST}" in done.stdout
    assert "burn: +4" in done.stdout
    before_again, _, again = done.stdout.partition("again: ")
    assert max(map(len, before_again.splitlines())) <= 80
    assert shlex.split(again)[:6] == [
        "linerate", "bisect", "--good", git(repository, "rev-parse", f"c{FIRST - 1}")[:8], "--bad", digits[:8],
    ]  # fmt: skip


def test_json_has_the_same_and_is_as_its_schema_says(line, repository):
    code, result = printed(*WORDS)
    assert (code, result["outcome"]) == (0, "found")
    (suspect,) = result["suspects"]
    assert suspect["commit"] == git(repository, "rev-parse", f"c{FIRST}")
    assert result["growth"]["account"] == "burn"
    assert result["growth"]["by"]["low"] <= 4.2
    assert result["builds"] <= 2 + 3
    assert result["measured"][0]["place"] == 0
    assert result["noise"] is None


def test_equal_ends_end_with_3_and_say_what_would_do(line):
    line.dearer_from = COMMITS + 1
    done = run(*WORDS)
    assert done.exit_code == 3
    assert "good and bad can't be distinguished" in done.stdout
    assert "pairs were too few to find 3.0 %" in " ".join(done.stdout.split())
    assert "--pairs" in done.stdout
    code, result = printed(*WORDS)
    assert (code, result["outcome"], result["growth"]) == (3, "alike", None)


def test_one_of_several_ends_with_4(line, repository):
    build = "cp source engine; chmod +x engine; ! grep -E '[345]' source"
    code, result = printed(*WORDS[:-1], build)
    assert (code, result["outcome"]) == (4, "range")
    assert [one["subject"] for one in result["suspects"]] == [
        "change 3",
        "change 4",
        "change 5",
        "change 6",
    ]
    assert {one["standing"].partition(":")[0] for one in result["measured"]} == {
        "good",
        "left out",
        "dearer",
    }
    builds._failed.clear()
    done = run(*WORDS[:-1], build)
    assert "Left out, and it may be one of them" in done.stdout


@pytest.mark.parametrize(
    ("trials", "known"), [(5, "good and bad are still measured"), (30, "one of 5")]
)
def test_ctrl_c_ends_with_what_is_known(line, trials, known):
    line.trials_left = trials
    done = run(*WORDS)
    assert done.exit_code == 128 + signal.SIGINT
    assert f"bisect: not finished, {known}" in done.stdout
    line.trials_left = 10_000
    assert run(*WORDS).exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "line_of_it"),
    [
        (("--good", "c9"), 1, "no commit 'c9'"),
        (("--good", "main"), 1, "main and main are one commit"),
        (("--good", "main", "--bad", "c1"), 1, "main is not an ancestor of c1"),
        (("--engine", "../engine"), 2, "--engine: expected a path below the checkout"),
        (("--build", "echo no compiler >&2; false"), 1, "--good: version"),
        (("--precision", "much"), 2, "--precision"),
        (("--significance", "0%"), 2, "--significance"),
        (("--loadtest", "X9"), 2, "X9"),
        (("--scenario", "nothing"), 2, "nothing"),
        (("--dut", "kernel"), 2, "kernel: expected a device of ours"),
    ],
)
def test_mistakes_end_with_a_line(line, words, code, line_of_it):
    done = run(*WORDS, *words)
    assert done.exit_code == code, done.output
    assert line_of_it in done.stderr + str(done.exception)
