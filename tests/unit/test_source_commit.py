"""Commit of the source tree: by its own file, packed, detached, or none."""

import pytest

from linerate.host.source_commit import commit

DIGITS = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def tree(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "src" / "linerate").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    "files",
    [
        {"HEAD": f"{DIGITS}\n"},
        {"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{DIGITS}\n"},
        {"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# x\n{DIGITS} refs/heads/main\n"},
    ],
)
def test_a_commit_is_found_wherever_git_keeps_it(tree, files):
    for name, text in files.items():
        path = tree / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert commit(tree / "src" / "linerate") == DIGITS[:12]


def test_a_tree_without_git_has_none(tmp_path):
    assert commit(tmp_path / "src" / "linerate") == ""


def test_a_reference_to_nothing_is_none(tree):
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/gone\n")
    assert commit(tree / "src" / "linerate") == ""
