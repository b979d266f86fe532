"""What the shell completes: runs that are on disk."""

import contextlib
from pathlib import Path


def complete_run(incomplete: str) -> list[str]:
    """Folders of runs under ./runs, the newest first (their names begin with the time)."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        found = [file.parent for file in Path("runs").glob("*/run.json")]
    names = sorted((str(folder) for folder in found), reverse=True)
    return [name for name in names if name.startswith(incomplete)]
