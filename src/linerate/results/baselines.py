"""Baselines: runs kept by a name, in a file beside them, for others to be compared with."""

import re
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from linerate.base.atomic_write import write_whole
from linerate.base.errors import UserError
from linerate.base.published import published
from linerate.base.safe_load import DocumentError, json_of
from linerate.base.safe_open import read_regular

FILE = "baselines.json"
FILE_BYTES_MAX = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
#: By name, the folders of its runs, beside the file.
Baselines = dict[str, tuple[str, ...]]
_KIND: TypeAdapter[Baselines] = TypeAdapter(Baselines)

published("baselines", "baselines.json, in a folder of runs", form="kept")(Baselines)


class BaselineError(UserError):
    """A baseline that is not there, or can't be kept."""


def read(runs: Path) -> Baselines:
    """All baselines of a folder. Raises BaselineError."""
    file = runs / FILE
    try:
        return _KIND.validate_python(json_of(read_regular(file, FILE_BYTES_MAX).decode()))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BaselineError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except (DocumentError, UnicodeDecodeError, ValidationError) as error:
        raise BaselineError(f"{file}: expected names, each with a list of runs") from error


def find(runs: Path, name: str) -> tuple[Path, ...]:
    """Folders of a baseline's runs. Raises BaselineError."""
    known = read(runs)
    if name not in known:
        names = ", ".join(known) or "none"
        raise BaselineError(f"{runs}: no baseline '{name}'; there are {names}")
    return tuple(runs / folder for folder in known[name])


def keep(runs: Path, name: str, folders: list[Path]) -> Baselines:
    """Keep runs by a name, in place of those that had it. Raises BaselineError."""
    if not _NAME.fullmatch(name):
        raise BaselineError(f"'{name}': expected a name of letters, digits, dots, dashes")
    for folder in folders:
        if folder.resolve().parent != runs.resolve():
            raise BaselineError(f"{folder}: not in {runs}, where the baseline is kept; --runs DIR")
    return _write(runs, read(runs) | {name: tuple(folder.resolve().name for folder in folders)})


def remove(runs: Path, name: str) -> Baselines:
    """Forget a name; its runs stay. Raises BaselineError."""
    find(runs, name)
    return _write(runs, {one: names for one, names in read(runs).items() if one != name})


def _write(runs: Path, known: Baselines) -> Baselines:
    try:
        write_whole(runs / FILE, _KIND.dump_json(known, indent=1).decode())
    except OSError as error:
        raise BaselineError(f"{runs / FILE}: {(error.strerror or str(error)).lower()}") from error
    return known
