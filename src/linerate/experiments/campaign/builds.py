"""Versions, built once a machine: a checkout of the commit, then the version's own command."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base.errors import UserError
from linerate.base.safe_open import open_own
from linerate.experiments.campaign import children, machine_turn
from linerate.model.campaign import Version

LIMIT_SECONDS = 4 * 3600.0
#: In a checkout whose build ended well.
BUILT = ".linerate-built"


class BuildError(UserError):
    """A version that can't be built here."""


#: By folder, why: a build that failed is not tried for each unit again.
_failed: dict[Path, str] = {}


def folder_of_builds() -> Path:
    """Where this user's builds are kept; any of them may be removed."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "linerate" / "builds"


def engine_of(version: Version, repository: str) -> Path | None:
    """The engine of a version, built where it was not yet; None: the installed one.

    Raises BuildError.
    """
    if not version.commit:
        return _checked(Path(version.engine), version) if version.engine else None
    folder = folder_of_builds() / _key(version, repository)
    if folder in _failed:
        raise BuildError(_failed[folder])
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / BUILT).exists():
            _build(version, repository, folder)
        return _checked(folder / version.engine, version)
    except (BuildError, OSError) as error:
        _failed[folder] = str(error)
        raise BuildError(str(error)) from error


def _checked(path: Path, version: Version) -> Path:
    if not os.access(path, os.X_OK):
        raise BuildError(f"version {version.name}: {path}: no such program")
    return path.absolute()


def _build(version: Version, repository: str, folder: Path) -> None:
    with machine_turn.alone(children.ended), _locked(folder):
        if (folder / BUILT).exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        log = folder.with_suffix(".log")
        with open_own(log) as opened:
            os.ftruncate(opened.fileno(), 0)
        try:
            _check_out(version, repository, folder, log)
            if version.build:
                _run(["sh", "-c", version.build], folder, version, log)
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _checked(folder / version.engine, version)
        (folder / BUILT).touch()


def _check_out(version: Version, repository: str, folder: Path, log: Path) -> None:
    for words in (
        ["git", "clone", "--quiet", "--no-checkout", "--", repository, str(folder)],
        ["git", "-C", str(folder), "checkout", "--quiet", "--detach", version.commit],
    ):
        _run(words, folder.parent, version, log)


def _run(words: list[str], folder: Path, version: Version, log: Path) -> None:
    with log.open("a", encoding="utf-8") as file:
        done = children.run(
            ["sh", "-c", 'exec "$@" >&2', "build", *words],
            os.environ | {"GIT_TERMINAL_PROMPT": "0"},
            LIMIT_SECONDS,
            folder=folder,
            errors=file,
        )
    if done.code:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1] if lines else done.last_words
        raise BuildError(f"version {version.name}: not built: {last} ({log})")


def _key(version: Version, repository: str) -> str:
    content = json.dumps([repository, version.commit, version.build])
    return hashlib.sha256(content.encode()).hexdigest()[:24]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One builder at a time of all users of a cache, whatever machine they are on."""
    with folder.with_suffix(".lock").open("a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def full_commit(commit: str, repository: str) -> str:
    """Forty hexadecimal digits of a commit, tag or branch. Raises BuildError."""
    if len(commit) == 40 and all(digit in "0123456789abcdef" for digit in commit):
        return commit
    if Path(repository).is_dir():
        words = [
            "git",
            "-C",
            repository,
            "rev-parse",
            "--verify",
            "--quiet",
            f"{commit}^{{commit}}",
        ]
    else:
        words = ["git", "ls-remote", "--quiet", "--", repository, commit, f"{commit}^{{}}"]
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=60, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{repository}: git: {error}") from error
    found = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    if not found:
        why = done.stderr.strip().splitlines()
        raise BuildError(f"{repository}: no commit '{commit}'{': ' + why[-1] if why else ''}")
    return found[-1]
