"""Apply repairs, and take them back: each is in a journal before it is made.

The journal lies in /run, which a restart empties as it empties /sys: then there is nothing left
to take back.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from linerate.doctor.host import Host
from linerate.doctor.model import Bind, Repair, Write
from linerate.doctor.nics import PCI, nics

JOURNAL = "/run/linerate/doctor.json"
_DRIVERS = "/sys/bus/pci/drivers"
_MODPROBE_SECONDS = 30


class Entry(BaseModel):
    """One repair, what was there before it, and what there was after it."""

    repair: Write | Bind
    before: str
    #: None: it was about to be made.
    after: str | None = None


class Journal(BaseModel):
    """All repairs that were not taken back, oldest first."""

    entries: list[Entry] = []


class Outcome(NamedTuple):
    """What came of a repair, or of taking it back."""

    done: bool
    line: str


class RepairError(Exception):
    """A repair that was not made, and why."""


def _said(path: object, error: OSError) -> RepairError:
    """One line that says what to do."""
    if isinstance(error, PermissionError):
        return RepairError(f"{path}: not permitted, run it with sudo")
    return RepairError(f"{path}: {(error.strerror or str(error)).lower()}")


def load(host: Host) -> Journal:
    """Read the journal; an empty one when there is none. Raises RepairError."""
    path = host.at(JOURNAL)
    try:
        return Journal.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Journal()
    except OSError as error:
        raise _said(path, error) from error
    except ValidationError as error:
        raise RepairError(f"{path}: no journal that this version reads") from error


def _save(host: Host, journal: Journal) -> None:
    """Write it whole or not at all; nothing is left of an empty one."""
    path = host.at(JOURNAL)
    try:
        if not journal.entries:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".doctor-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(journal.model_dump_json(indent=1) + "\n")
        Path(temporary).replace(path)
    except OSError as error:
        raise _said(path, error) from error


def describe(repair: Repair) -> str:
    """Say what it does: one line."""
    if isinstance(repair, Write):
        return f"write {repair.value} to {repair.path}"
    return f"bind {repair.address} to {repair.driver}"


def apply(host: Host, repairs: Iterable[Repair]) -> list[Outcome]:
    """Make repairs, each written down first. Raises RepairError when that is not possible."""
    journal = load(host)
    outcomes = []
    for repair in repairs:
        entry = Entry(repair=repair, before=_state(host, repair))
        journal.entries.append(entry)
        _save(host, journal)
        try:
            _make(host, repair)
        except RepairError as error:
            if _state(host, repair) == entry.before:
                journal.entries.pop()
            _save(host, journal)
            outcomes.append(Outcome(False, f"{describe(repair)}: {error}"))
            continue
        entry.after = _state(host, repair)
        _save(host, journal)
        full = entry.after == _value(repair)
        less = "" if full else f": it is {entry.after or 'nothing'} now"
        outcomes.append(Outcome(full, describe(repair) + less))
    return outcomes


def undo(host: Host) -> list[Outcome]:
    """Take all back, the last first; what somebody changed since is left. Raises RepairError."""
    journal = load(host)
    outcomes = []
    for entry in list(reversed(journal.entries)):
        now = _state(host, entry.repair)
        if now not in (entry.before, entry.after, _value(entry.repair)):
            line = f"{_where(entry.repair)}: left at {now or 'nothing'}, somebody changed it since"
            outcomes.append(Outcome(False, line))
        elif now != entry.before:
            try:
                _restore(host, entry)
            except RepairError as error:
                outcomes.append(Outcome(False, f"{_where(entry.repair)}: {error}"))
                continue
            line = f"{_where(entry.repair)}: {now} → {entry.before or 'no driver'}"
            outcomes.append(Outcome(True, line))
        journal.entries.remove(entry)
        _save(host, journal)
    return outcomes


def _where(repair: Repair) -> str:
    return repair.path if isinstance(repair, Write) else repair.address


def _value(repair: Repair) -> str:
    return repair.value if isinstance(repair, Write) else repair.driver


def _state(host: Host, repair: Repair) -> str:
    if isinstance(repair, Write):
        return host.read(repair.path) or ""
    return host.target(f"{PCI}/{repair.address}/driver") or ""


def _make(host: Host, repair: Repair) -> None:
    if isinstance(repair, Write):
        _put(host, repair.path, repair.value)
        return
    if any(nic.address == repair.address and nic.used_by_host for nic in nics(host)):
        raise RepairError("the host has routes over it")
    if host.live and not host.at(f"{_DRIVERS}/{repair.driver}").is_dir():
        _load_module(repair.driver)
    _rebind(host, repair.address, repair.driver, only=True)


def _restore(host: Host, entry: Entry) -> None:
    if isinstance(entry.repair, Write):
        _put(host, entry.repair.path, entry.before)
    else:
        _rebind(host, entry.repair.address, entry.before, only=False)


def _rebind(host: Host, address: str, driver: str, *, only: bool) -> None:
    """Give a device to a driver; `only`: whatever the driver's table of devices says."""
    now = host.target(f"{PCI}/{address}/driver")
    if now is not None:
        _put(host, f"{_DRIVERS}/{now}/unbind", address)
    # A line end alone takes an override away (Documentation/ABI/testing/sysfs-bus-pci).
    _put(host, f"{PCI}/{address}/driver_override", driver if only else "\n")
    if driver:
        _put(host, f"{_DRIVERS}/{driver}/bind", address)


def _put(host: Host, path: str, value: str) -> None:
    """Write to a file that is there."""
    try:
        handle = os.open(host.at(path), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(value)
    except OSError as error:
        raise _said(path, error) from error


def _load_module(name: str) -> None:
    try:
        done = subprocess.run(
            ["modprobe", name],
            capture_output=True,
            text=True,
            timeout=_MODPROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RepairError(f"modprobe {name}: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise RepairError(said[-1] if said else f"modprobe {name} failed")
