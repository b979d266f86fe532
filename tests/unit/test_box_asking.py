"""Ways to a box: batches, answers that fail or never end, and what ssh refuses."""

import os
import stat
import time
from pathlib import Path

import pytest

from linerate.lab.box import access as ways
from linerate.lab.box.access import BoxError, opened
from linerate.lab.box.asking import ask, ask_each
from linerate.parsers.boxes import Question


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is searched before the system's."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_each_answer_of_a_batch_is_its_own():
    questions = (
        Question("one", "echo first; echo second"),
        Question("none", "printf 'no newline'"),
        Question("fails", "echo before; echo why >&2; exit 3"),
        Question("reads", "cat"),
        Question("quotes", "echo \"it's\" '$HOME'"),
    )
    with opened("local") as access:
        found = {answer.question: answer for answer in ask(access, questions, "before", 10)}
    assert found["one"].text == "first\nsecond\n"
    assert found["none"].text == "no newline"
    assert (found["fails"].text, found["fails"].problem) == ("", "why")
    assert (found["reads"].text, found["reads"].problem) == ("", "")
    assert found["quotes"].text == "it's $HOME\n"
    assert {answer.moment for answer in found.values()} == {"before"}


def test_an_answer_cannot_end_another():
    with opened("local") as access:
        marks = Question(
            "marks", "echo; echo '0123456789abcdef begins'; echo; echo '0123456789abcdef 0'"
        )
        first, last = ask(access, (marks, Question("last", "echo x")), "after", 10)  # fmt: skip
    assert "begins" in first.text
    assert last.text == "x\n"


def test_a_box_without_a_shell_is_asked_one_by_one(programs: Path):
    program(programs, "fakebox", 'echo "$*"; [ "$1" != bad ]')
    with opened("local") as access:
        good, bad = ask_each(
            access, (Question("a", "fakebox good"), Question("b", "fakebox bad")), "before", 10
        )
    assert (good.text, good.problem) == ("good\n", "")
    assert bad.problem == "bad"


def test_a_box_that_hangs_ends_in_one_line():
    began = time.monotonic()
    with opened("local") as access, pytest.raises(BoxError, match="no answer within 0 s"):
        access.run("sleep 60 & wait", 0.3)
    assert time.monotonic() - began < 30


def test_an_answer_without_end_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ways, "ANSWER_BYTES_MAX", 1 << 16)
    with opened("local") as access, pytest.raises(BoxError, match="an answer of over"):
        access.run("yes", 20)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("Host key verification failed.", "its host key is not known"),
        ("root@box: Permission denied (publickey).", "login refused"),
        ("ssh: Could not resolve hostname box: Name or service not known", "no such host name"),
        ("ssh: connect to host box port 22: Connection refused", "no ssh server answers there"),
        ("ssh: connect to host box port 22: Connection timed out", "it does not answer"),
    ],
)
def test_ssh_says_what_to_do(programs: Path, error: str, remedy: str):
    program(programs, "ssh", f"echo '{error}' >&2; exit 255")
    with opened("ssh://root@box") as access, pytest.raises(BoxError) as raised:
        access.run("true", 10)
    text = str(raised.value)
    assert text.startswith(f"ssh://root@box: {remedy}")
    assert "\n" not in text


def test_ssh_keeps_its_checks_and_asks_for_no_password(programs: Path, tmp_path: Path):
    program(programs, "ssh", f'echo "$@" >> {tmp_path}/words; echo answer')
    with opened("ssh://root@box:2222") as access:
        assert access.run("uname -a", 10).text == "answer\n"
    asked, closed = (tmp_path / "words").read_text(encoding="utf-8").splitlines()
    assert asked.endswith("-p 2222 -- root@box uname -a")
    assert "-oBatchMode=yes" in asked
    assert "StrictHostKeyChecking" not in asked
    assert "-O exit" in closed


def test_a_connection_that_stays_open_holds_no_answer_back(programs: Path):
    """An ssh in the background may keep the pipes open."""
    program(programs, "ssh", "(sleep 20) & echo answer")
    began = time.monotonic()
    with opened("ssh://box") as access:
        assert access.run("true", 15).text == "answer\n"
    assert time.monotonic() - began < 15


def test_a_container_that_is_not_known(programs: Path):
    program(programs, "docker", "exit 1")
    program(programs, "podman", "exit 1")
    unknown = "container:x: docker and podman know no such container"
    with pytest.raises(BoxError, match=unknown), opened("container:x"):
        pass
