"""Commits of a repository of the user's: their order, and those between two."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from linerate.base.errors import UserError
from linerate.model.commit import Commit

GIT_SECONDS = 60.0
#: Commits between two of which names are read.
BETWEEN_MAX = 50
#: Text that may be a commit or a tag; never an option.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^-]{0,99}")


class GitError(UserError):
    """A repository that git can't read."""


class Repository:
    """A folder that git keeps."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if not folder.is_dir():
            raise GitError(f"{folder}: no such folder; --repository is where git keeps the commits")
        self._git("rev-parse", "--git-dir")

    def order(self, names: Iterable[str]) -> dict[str, int]:
        """The place of each commit in history, the oldest first; those that it has not left out."""
        known = {name: digits for name in dict.fromkeys(names) if (digits := self._digits(name))}
        if not known:
            return {}
        lines = self._git("rev-list", "--topo-order", "--reverse", *sorted({*known.values()}), "--")
        places = {digits: at for at, digits in enumerate(lines.split())}
        return {name: places[digits] for name, digits in known.items()}

    def between(self, good: str, bad: str) -> tuple[list[Commit], int]:
        """Commits behind the first up to the second, the newest first; and how many there are."""
        early, late = self._digits(good), self._digits(bad)
        if not early or not late:
            return [], 0
        span = f"{early}..{late}"
        count = int(self._git("rev-list", "--count", span, "--"))
        form = ("log", f"--max-count={BETWEEN_MAX}", "--format=%h%x09%s", span, "--")
        pairs = (line.partition("\t") for line in self._git(*form).splitlines())
        return [Commit(digits, subject) for digits, _, subject in pairs], count

    def line(self, good: str, bad: str) -> list[Commit]:
        """The first parents of one commit back to another, with both, the oldest first.

        Of a merge it has the merge alone: each commit has all that those before it have. Raises
        GitError where the one does not lead to the other.
        """
        early, late = self._known(good), self._known(bad)
        if early == late:
            raise GitError(f"{good} and {bad} are one commit, {early[:10]}: nothing lies between")
        if self._run("merge-base", "--is-ancestor", early, late).returncode:
            raise GitError(
                f"{good} is not an ancestor of {bad}: give their merge base as the good one, "
                f"git merge-base {good} {bad}"
            )
        form = ("log", "--format=%H%x09%as%x09%s", "--first-parent")
        lines = self._git(*form, "--max-count=1", early, "--").splitlines()
        lines += reversed(self._git(*form, f"{early}..{late}", "--").splitlines())
        fields = (line.split("\t", 2) for line in lines)
        return [Commit(digits, subject, authored) for digits, authored, subject in fields]

    @property
    def top(self) -> Path:
        """The folder that has all of it: of a checkout, its own."""
        found = self._run("rev-parse", "--show-toplevel")
        return Path(found.stdout.strip()) if not found.returncode else self._folder.absolute()

    def _known(self, name: str) -> str:
        found = self._digits(name)
        if not found:
            raise GitError(f"{self._folder}: no commit '{name}'")
        return found

    def _digits(self, name: str) -> str:
        """All digits of a commit; nothing of one that is not there."""
        if not _NAME.fullmatch(name):
            return ""
        found = self._run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
        return found.stdout.strip() if not found.returncode else ""

    def _git(self, *words: str) -> str:
        found = self._run(*words)
        if found.returncode:
            reason = (found.stderr.strip().splitlines() or ["git failed"])[0]
            raise GitError(f"{self._folder}: {reason.removeprefix('fatal: ')}")
        return found.stdout

    def _run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(
                ["git", "-C", str(self._folder), *words],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=GIT_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise GitError(
                "git is not installed: apt install git, or leave --repository out"
            ) from None
        except subprocess.TimeoutExpired:
            raise GitError(f"{self._folder}: git took longer than {GIT_SECONDS:.0f} s") from None
