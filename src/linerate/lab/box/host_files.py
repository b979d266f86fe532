"""Files and commands of a box that the doctor looks at, fetched at once into a folder of ours.

The folder is a recorded host (docs/doctor.md): checks are the same as of this one.
"""

import re
import secrets
from pathlib import Path, PurePosixPath

from linerate.host.doctor.host_view import command_file
from linerate.lab.box.access import Access, BoxError

#: Two samples, and some hundred files that a shell reads.
SECONDS = 60.0
#: More files than any host has of these.
FILES_MAX = 20_000
_TOPS = (("proc",), ("sys",), ("etc",))
_SCRIPT = Path(__file__).with_suffix(".sh")


def fetch(access: Access, folder: Path) -> None:
    """Fetch all into an empty folder. Raises BoxError."""
    # No file of the box can look like the begin of another.
    mark = secrets.token_hex(8)
    script = _SCRIPT.read_text(encoding="utf-8")
    ran = access.run(script.replace("MARK", mark), SECONDS)
    parts = ran.text.split(f"\n{mark} ")[1:]
    if not parts or parts[-1].strip() != "end":
        lines = ran.error.strip().splitlines()
        raise BoxError(f"{access.where}: {lines[-1] if lines else 'no whole answer of a shell'}")
    into = folder
    for part in parts[:FILES_MAX]:
        head, _, text = part.partition("\n")
        kind, _, name = head.partition(" ")
        if kind == "later":
            into = folder / "later"
        elif kind == "c":
            _keep(folder, PurePosixPath("commands", command_file(tuple(name.split()))), text)
        elif kind in ("f", "d") and (path := _path(name)) is not None:
            _keep(into, path, text if kind == "f" else None)


def _path(name: str) -> PurePosixPath | None:
    """A path below the folder; None for one that no file of these has."""
    path = PurePosixPath(name.lstrip("/"))
    plain = re.fullmatch(r"[\w./:,@+ -]{1,250}", name) is not None
    return path if plain and ".." not in path.parts and path.parts[:1] in _TOPS else None


def _keep(folder: Path, path: PurePosixPath, text: str | None) -> None:
    """Write a file, or make a folder; what can't be is left out, as on a host that lacks it."""
    place = folder / path
    try:
        if text is None:
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError:
        return
