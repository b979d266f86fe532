"""Commit of the source tree that a program runs from; nothing of an installed one."""

from pathlib import Path

#: Digits of a commit that are kept: git's own abbreviations are shorter.
DIGITS = 12
#: Folders above the package in which the tree may begin: src, and the tree itself.
ABOVE = 3


def commit(package: Path) -> str:
    """The commit that is checked out around a package's folder."""
    for folder in list(package.resolve().parents)[:ABOVE]:
        git = folder / ".git"
        if git.is_dir():
            return _head(git)[:DIGITS]
    return ""


def _head(git: Path) -> str:
    head = _read(git / "HEAD")
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    return _read(git / name) or _packed(git, name)


def _packed(git: Path, name: str) -> str:
    """A reference that git has put together with others."""
    for line in _read(git / "packed-refs").splitlines():
        digits, _, its_name = line.partition(" ")
        if its_name == name:
            return digits
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
