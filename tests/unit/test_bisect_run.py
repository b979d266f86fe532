"""Bisections that are killed, and commits that can't be built or measured: the loop and its record."""

import os
import random
import signal
import threading
from pathlib import Path

import pytest
from tests.unit.bisected import COMMITS, as_recorded
from tests.unit.test_campaign_builds import BUILD, count, git, repository, version

from linerate.base.errors import UserError
from linerate.experiments.bisection.measuring import NoTrialError
from linerate.experiments.bisection.record import RecordError, RecordFolder
from linerate.experiments.bisection.run import Runner
from linerate.experiments.campaign import builds, children
from linerate.experiments.campaign.builds import BuildError, engine_of, full_commit
from linerate.host.git_commits import GitError, Repository
from linerate.model.bisection import Trial
from linerate.results.bisection.answer import outcome
from linerate.results.bisection.search import Asked, Bisection

_ = repository
FIRST = 23
QUESTION = {"good": COMMITS[0], "bad": COMMITS[-1], "build": "make"}


class Killed(BaseException):
    """As a signal that nothing handles."""


class Lab:
    """Builds and measures commits that cost as recorded ones; is killed after some trials."""

    def __init__(
        self, trials_left: int = 10_000, unbuilt: int = 0, invalid: int = 0, life: int = 0
    ) -> None:
        self.cost = as_recorded(FIRST)
        self.chance = random.Random(life)
        self.trials_left = trials_left
        self.unbuilt, self.invalid = unbuilt, invalid
        self.built: list[str] = []
        self.trials: list[int] = []
        self.left_outs: list[str] = []

    def build(self, commit: str) -> Path:
        self.built.append(commit)
        if COMMITS.index(commit) + 1 == self.unbuilt:
            raise BuildError("no compiler")
        return Path(commit)

    def trial(self, engine: Path, work: Path) -> Trial:
        self.trials_left -= 1
        if self.trials_left < 0:
            raise Killed
        place = COMMITS.index(engine.name) + 1
        self.trials.append(place)
        if place == self.invalid:
            raise NoTrialError("the tester fell short")
        nodes = self.cost(place, self.chance)
        return Trial(nodes=nodes, packet_ns=70.0 + sum(nodes.values()) / 1000)

    def building(self, bisection, commit) -> None:
        """No progress is shown."""

    def measuring(self, bisection, seconds_a_round) -> None:
        assert bisection.wanted.done < bisection.wanted.look_at

    def left_out(self, one) -> None:
        self.left_outs.append(one.reason)


def run(lab: Lab, runs: Path) -> tuple[Bisection, RecordFolder]:
    bisection, folder = Bisection(COMMITS, Asked()), RecordFolder(runs, QUESTION)
    with folder.held():
        Runner(bisection, folder, lab.build, lab, lab).run()
    return bisection, folder


def found(bisection: Bisection) -> int:
    assert outcome(bisection) == "found"
    return bisection.high + 1


@pytest.mark.parametrize("every", [5, 20])
def test_a_bisection_that_is_killed_again_and_again_goes_on_where_it_stopped(tmp_path, every):
    labs = []
    for life in range(200):
        labs.append(Lab(trials_left=every, life=life))
        try:
            bisection, folder = run(labs[-1], tmp_path)
            break
        except Killed:
            continue
    assert found(bisection) == FIRST
    assert len(labs) > 2
    # A round that was begun is lost, no more; a build's engine is asked for once in each life.
    rounds = len(folder.record.events)
    assert sum(len(lab.trials) for lab in labs) <= 3 * rounds + 2 * len(labs)
    assert len(folder.record.built) <= 8
    assert len(list(folder.path.iterdir())) == 2


def test_an_answer_is_given_again_without_a_trial(tmp_path):
    run(Lab(), tmp_path)
    again = Lab(trials_left=0)
    bisection, _ = run(again, tmp_path)
    assert found(bisection) == FIRST
    assert again.built == []


def test_trials_are_in_turn_there_and_back(tmp_path):
    lab = Lab()
    run(lab, tmp_path)
    last = len(COMMITS)
    assert lab.trials[:8] == [1, last, last, 1, 1, last, last, 1]


def test_a_commit_that_can_not_be_built_or_measured_is_left_out(tmp_path):
    for name, lab in (("a", Lab(unbuilt=20)), ("b", Lab(invalid=20))):
        bisection, folder = run(lab, tmp_path / name)
        assert found(bisection) == FIRST
        assert len(lab.left_outs) == 1
        assert 19 in bisection.left_out
        # Given again, it is left out without another try.
        again, _ = run(Lab(trials_left=0), tmp_path / name)
        assert again.left_out == bisection.left_out
        assert len(folder.record.built) <= 9


@pytest.mark.parametrize(
    ("lab", "words"),
    [(Lab(unbuilt=1), "--good: no compiler"), (Lab(unbuilt=40), "--bad: no compiler"),
     (Lab(invalid=40), "3 trials in a row have no result, the last one: the tester fell short")],
)  # fmt: skip
def test_an_end_that_can_not_be_measured_ends_with_a_line(tmp_path, lab, words):
    with pytest.raises(UserError, match=words):
        run(lab, tmp_path)


def test_a_record_is_of_one_question_and_one_process(tmp_path):
    first, other = (
        RecordFolder(tmp_path, QUESTION),
        RecordFolder(tmp_path, QUESTION | {"build": ""}),
    )
    assert first.path != other.path
    with first.held(), pytest.raises(RecordError, match="runs already"), first.held():
        pass
    (first.path / "state.json").write_text("{")
    with pytest.raises(RecordError, match="not a bisection's record; move"), first.held():
        pass


def test_a_line_is_that_of_first_parents(repository):
    git(repository, "switch", "--quiet", "--create", "side", "v1")
    for number in (1, 2):
        git(repository, "commit", "--quiet", "--allow-empty", "-m", f"side {number}")
    git(repository, "switch", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "-m", "merge", "side")
    commits = Repository(repository).line("v1", "main")
    assert [one.subject for one in commits] == ["1", "2", "merge"]
    assert commits[0].digits == git(repository, "rev-parse", "v1")
    assert all(len(one.authored) == 10 for one in commits)
    assert Repository(repository).top == repository.resolve()
    with pytest.raises(GitError, match="main and main are one commit"):
        Repository(repository).line("main", "main")
    with pytest.raises(GitError, match="main is not an ancestor of v1: give their merge base"):
        Repository(repository).line("main", "v1")
    with pytest.raises(GitError, match="no commit 'v9'"):
        Repository(repository).line("v9", "main")


def test_ctrl_c_ends_a_build_and_leaves_no_checkout(repository, tmp_path):
    """Its processes are ended, and what it had made so far is removed."""
    pid = tmp_path / "pid"
    full = full_commit("v1", str(repository))
    waiting = version(full, f"sleep 600 & echo $! > {pid}.new; mv {pid}.new {pid}; wait")

    def interrupt() -> None:
        while not pid.exists():
            threading.Event().wait(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        engine_of(waiting, str(repository))
    thread.join()
    assert not Path("/proc", pid.read_text().strip(), "exe").exists()
    assert [one for one in builds.folder_of_builds().iterdir() if one.is_dir()] == []
    # The next one is built whole.
    assert engine_of(version(full, BUILD), str(repository)) is not None
    assert count() == 1
    assert not children.ended()
