"""Scenario files: those that come with linerate, by name, and any other by its path."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from linerate.base.errors import UserError
from linerate.base.safe_load import DocumentError, read_yaml
from linerate.base.safe_open import read_regular
from linerate.base.validation import mistake
from linerate.model.scenario.scenario import Scenario

FILE = "scenario.yaml"
#: Size of each file that counts in a digest, and their number.
FILE_BYTES_MAX = 16 << 20
FILES_MAX = 100


class ScenarioError(UserError):
    """A scenario file with mistakes; `lines` has one line for each."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Loaded:
    """A scenario, and where it was read."""

    scenario: Scenario
    path: Path
    digest: str

    @property
    def folder(self) -> Path:
        """Folder of its file: batch files are beside it."""
        return self.path.parent


def library() -> Path:
    """Folder of the scenarios that come with linerate."""
    return Path(str(files("linerate") / "scenarios"))


def names() -> list[str]:
    """Names of those."""
    return sorted(path.parent.name for path in library().glob(f"*/{FILE}"))


def load(name: str) -> Loaded:
    """The scenario of that name, or of that path: a file, or its folder. Raises ScenarioError."""
    if name in names():
        return load_file(library() / name / FILE)
    path = Path(name)
    if path.is_dir():
        path = path / FILE
    if "/" not in name and not path.exists():
        known = ", ".join(names())
        raise ScenarioError([f"no scenario '{name}'; expected a file, or one of {known}"])
    return load_file(path)


def load_file(path: Path) -> Loaded:
    """Read a scenario file; raises ScenarioError."""
    try:
        scenario = parse(read_yaml(path), str(path))
        return Loaded(scenario, path.resolve(), digest_of(path))
    except OSError as error:
        raise ScenarioError([f"{path}: {(error.strerror or str(error)).lower()}"]) from error
    except DocumentError as error:
        raise ScenarioError([f"{path}: {error}"]) from error


def parse(document: object, source: str) -> Scenario:
    """Check what a scenario file holds; `source` is named in each line. Raises ScenarioError."""
    if not isinstance(document, dict):
        raise ScenarioError([f"{source}: expected keys and values, as `name: bridge`"])
    try:
        return Scenario.model_validate(document)
    except ValidationError as error:
        raise ScenarioError([mistake(source, one) for one in error.errors()]) from error


def digest_of(path: Path) -> str:
    """Sixteen hexadecimal digits of a file, and of those beside it where it has a folder."""
    beside = sorted(path.parent.rglob("*")) if path.name == FILE else []
    found = [one for one in beside if one.is_file() and not one.is_symlink()]
    whole = hashlib.sha256()
    for one in (found or [path])[:FILES_MAX]:
        whole.update(str(one.relative_to(path.parent)).encode() + b"\0")
        whole.update(hashlib.sha256(read_regular(one, FILE_BYTES_MAX)).digest())
    return whole.hexdigest()[:16]
