"""Passwords of meters: from a variable or a file, never in a testbed, an argument or a log."""

import os
import stat
from pathlib import Path

from linerate.base.safe_open import open_regular
from linerate.lab.power import MeterError

SECRET_BYTES = 1024


def secret(variable: str | None, path: Path | None) -> str:
    """The secret, or nothing where no place is given; raises MeterError."""
    if variable is not None:
        found = os.environ.get(variable)
        if not found:
            raise MeterError(f"power: the variable {variable} is not set: export it")
        return found
    return "" if path is None else _of_file(path.expanduser())


def _of_file(path: Path) -> str:
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if status.st_uid not in (os.geteuid(), 0):
                raise MeterError(f"{path}: it belongs to user {status.st_uid}: make it yours")
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise MeterError(f"{path}: others can read it: chmod 600 {path}")
            lines = file.read(SECRET_BYTES).decode(errors="replace").splitlines()
    except OSError as error:
        raise MeterError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    if not lines or not lines[0]:
        raise MeterError(f"{path}: empty, expected a password in its first line")
    return lines[0]
