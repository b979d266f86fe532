"""`linerate` run as its user does, and asked for JSON."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.command import result_of


class BrokenError(Exception):
    """Something was not as it must be; the table says what."""


def asked(runs: Path, *words: str) -> dict[str, Any]:
    """Result of a command; raises RuntimeError with its output when it printed no JSON."""
    command = [sys.executable, "-m", "linerate", *words, "--runs", str(runs), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        document: dict[str, Any] = result_of(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr or done.stdout}") from error
    return document
