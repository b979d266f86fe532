"""Versions of a campaign: built once a machine, of their commit, with a reason where they are not."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from linerate.experiments.campaign import builds, children, machine_turn
from linerate.experiments.campaign.builds import BuildError, engine_of, full_commit
from linerate.model.campaign import Version

#: Notes each build, so that they can be counted.
BUILD = "cp source engine && chmod +x engine && echo built >> ../../count"


def git(folder: Path, *words: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    done = subprocess.run(
        ["git", "-C", str(folder), *author, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Two commits whose source differs; caches and locks of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LINERATE_LOCKS", str(tmp_path / "locks"))
    monkeypatch.setattr(builds, "_failed", {})
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    for number in (1, 2):
        (folder / "source").write_text(f"#!/bin/sh\necho {number}\n")
        git(folder, "add", "source")
        git(folder, "commit", "--quiet", "-m", f"{number}")
        git(folder, "tag", f"v{number}")
    return folder


def version(commit: str, build: str = BUILD, engine: str = "engine") -> Version:
    return Version(name="a", commit=commit, build=build, engine=engine)


def count() -> int:
    path = builds.folder_of_builds().parent / "count"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_each_commit_is_built_once(repository):
    for commit, output in (("v1", "1"), ("v2", "2"), ("v1", "1")):
        full = full_commit(commit, str(repository))
        engine = engine_of(version(full), str(repository))
        assert engine is not None
        assert subprocess.check_output([engine], text=True).strip() == output
    assert count() == 2
    # Another command is another build.
    engine_of(version(full_commit("v1", str(repository)), BUILD + " "), str(repository))
    assert count() == 3


def test_a_build_that_was_killed_is_done_again(repository):
    full = full_commit("v1", str(repository))
    engine = engine_of(version(full), str(repository))
    assert engine is not None
    (engine.parent / builds.BUILT).unlink()
    engine.unlink()
    assert engine_of(version(full), str(repository)) == engine
    assert count() == 2


def test_a_failed_build_says_its_last_line_and_is_not_tried_for_each_unit(repository):
    full = full_commit("main", str(repository))
    failing = version(full, "echo built >> ../../count; echo no compiler >&2; exit 1")
    for _ in range(2):
        with pytest.raises(BuildError, match="version a: not built: no compiler"):
            engine_of(failing, str(repository))
    assert count() == 1


def test_a_build_without_the_engine_is_none(repository):
    full = full_commit("main", str(repository))
    with pytest.raises(BuildError, match="no such program"):
        engine_of(version(full, "true"), str(repository))


def test_commits_are_found_in_full(repository):
    head = git(repository, "rev-parse", "HEAD")
    assert full_commit("main", str(repository)) == head
    assert full_commit("v2", str(repository)) == head
    assert full_commit(head, "https://nowhere.example/x.git") == head
    assert full_commit("v1", f"file://{repository}") == git(repository, "rev-parse", "v1")
    for nowhere in ("nonsense", "v3"):
        with pytest.raises(BuildError, match=f"no commit '{nowhere}'"):
            full_commit(nowhere, str(repository))


def test_without_a_commit_the_installed_engine_or_a_path_is_measured(tmp_path):
    assert engine_of(Version(name="installed"), ".") is None
    with pytest.raises(BuildError, match=r"version a: .*: no such program"):
        engine_of(Version(name="a", engine="missing"), ".")
    path = tmp_path / "engine"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    assert engine_of(Version(name="a", engine=str(path)), ".") == path


def test_a_machine_does_one_thing_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setenv("LINERATE_LOCKS", str(tmp_path))

    def refused(turn) -> bool:
        try:
            with turn(lambda: True):
                return False
        except children.EndedError:
            return True

    with machine_turn.beside_others(lambda: True):
        assert not refused(machine_turn.beside_others)
        assert refused(machine_turn.alone)
    with machine_turn.alone(lambda: True):
        assert refused(machine_turn.beside_others)
        assert refused(machine_turn.alone)
    assert not refused(machine_turn.alone)


def test_a_child_says_how_it_ended():
    def words(script: str) -> str:
        return children.run(["sh", "-c", script], os.environ, 60).last_words

    assert words("echo first >&2; echo last >&2; exit 3") == "last"
    assert words("echo linerate: no such box >&2; exit 1") == "no such box"
    assert words("exit 3") == "exit code 3"
    assert words("kill -9 $$") == "ended by SIGKILL"


def test_a_child_that_hangs_is_ended_with_all_that_it_started():
    done = children.run(["sh", "-c", "sleep 600 & echo $! >&2; wait"], os.environ, 0.5)
    assert done.code < 0
    assert "took longer than" in done.last_words


def test_children_end_with_their_worker_and_none_begins_after():
    try:
        children.end_all()
        with pytest.raises(children.EndedError):
            children.run(["sleep", "600"], os.environ, 60)
        assert children.ended()
    finally:
        children.begin_again()


def test_children_end_with_their_task_and_the_next_task_has_its_own():
    """Others' tasks are not concerned, nor is one of the same worker after it."""
    with children.task("a"), ThreadPoolExecutor(1) as thread:
        running = thread.submit(children.run, ["sleep", "600"], os.environ, 60)
        children.end_task("b")
        assert not children.ended()
        children.end_task("a")
        with pytest.raises(children.EndedError):
            running.result()
        assert children.ended()
    with children.task("a"):
        assert not children.ended()
        assert children.run(["true"], os.environ, 60).code == 0
