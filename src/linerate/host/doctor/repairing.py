"""Apply repairs, and take them back: each is in a journal before it is made."""

import os
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from linerate.host.doctor.host_view import Host, whole
from linerate.host.doctor.journal import (
    JOURNAL,
    Entry,
    Journal,
    RepairError,
    State,
    boot_id,
    load,
    locked,
    refused,
    save,
)
from linerate.host.doctor.nic_use import uses
from linerate.host.doctor.nics import PCI
from linerate.host.doctor.own_mac import give_back, read_mac
from linerate.model.findings import Bind, Repair, Write

__all__ = ["JOURNAL", "Outcome", "RepairError", "apply", "describe", "undo"]

_BUS = "/sys/bus/pci"
_DRIVERS = f"{_BUS}/drivers"
_MODPROBE_SECONDS = 30
#: The kernel's text for a device without an override.
_NONE = "(null)"


class Outcome(NamedTuple):
    """Result of a repair, or of undoing it."""

    done: bool
    line: str


def describe(repair: Repair) -> str:
    """Say what it does: one line."""
    if isinstance(repair, Write):
        return f"write {repair.value} to {repair.path}"
    return f"bind {repair.address} to {repair.driver}"


def apply(host: Host, repairs: Iterable[Repair]) -> list[Outcome]:
    """Make repairs, each written down first. Raises RepairError when that is not possible."""
    with locked(host):
        journal = load(host)
        if journal.boot_id != boot_id(host):
            # The restart undid those that it has.
            journal = Journal(boot_id=boot_id(host))
        return [
            _apply_one(host, journal, repair)
            for repair in repairs
            if _state(host, repair).value != _value(repair)
        ]


def _apply_one(host: Host, journal: Journal, repair: Repair) -> Outcome:
    mac = read_mac(host, repair.address) if isinstance(repair, Bind) else ""
    entry = Entry(repair=repair, before=_state(host, repair), mac=mac)
    journal.entries.append(entry)
    save(host, journal)
    try:
        _make(host, repair)
    except RepairError as error:
        if _state(host, repair) == entry.before:
            journal.entries.pop()
        save(host, journal)
        return Outcome(False, f"{describe(repair)}: {error}")
    entry.after = _state(host, repair)
    save(host, journal)
    full = entry.after.value == _value(repair)
    less = "" if full else f": it is {entry.after.value or 'nothing'} now"
    return Outcome(full, describe(repair) + less)


def undo(host: Host) -> list[Outcome]:
    """Take all back, the last first; what somebody changed since is left. Raises RepairError."""
    outcomes: list[Outcome] = []
    with locked(host):
        journal = load(host)
        restarted = journal.boot_id != boot_id(host)
        stuck: set[str] = set()
        for entry in list(reversed(journal.entries)):
            if _where(entry.repair) in stuck:
                # Its original state is beneath a later repair that is still there.
                continue
            outcome = _left(host, entry) if restarted else _undo_one(host, journal, entry)
            if outcome is not None and outcome not in outcomes:
                outcomes.append(outcome)
            if outcome is None or outcome.done or _is_theirs(host, entry) or restarted:
                # This one, not the first that equals it: that is still to be looked at.
                journal.entries = [one for one in journal.entries if one is not entry]
                save(host, journal)
            else:
                stuck.add(_where(entry.repair))
    return outcomes


def _left(host: Host, entry: Entry) -> Outcome | None:
    """A restart undid the repair: what is there now is of the boot's own making."""
    now = _state(host, entry.repair)
    if now == entry.before:
        return None
    line = f"left at {now.value or 'nothing'}, set anew since the host was restarted"
    return Outcome(False, f"{_where(entry.repair)}: {line}")


def _undo_one(host: Host, journal: Journal, entry: Entry) -> Outcome | None:
    where, now = _where(entry.repair), _state(host, entry.repair)
    if now == entry.before:
        return None
    if _is_theirs(host, entry):
        line = f"{where}: left at {now.value or 'nothing'}, somebody changed it since"
        return Outcome(False, line)
    # Killed from here on, it is found half way.
    entry.after = None
    save(host, journal)
    try:
        _restore(host, entry)
    except RepairError as error:
        return Outcome(False, f"{where}: {error}")
    left = _state(host, entry.repair)
    if left != entry.before:
        line = (
            f"{where}: it is {left.value or 'nothing'} now, not {entry.before.value or 'nothing'}"
        )
        return Outcome(False, f"{line}; stop what uses it and take it back again")
    return Outcome(True, f"{where}: {now.value} → {entry.before.value or 'no driver'}")


def _is_theirs(host: Host, entry: Entry) -> bool:
    """Whether what is there now is neither what was there before nor of our making."""
    now = _state(host, entry.repair)
    if now in (entry.before, entry.after):
        return False
    if entry.after is not None:
        return True
    # It was killed half way.
    if isinstance(entry.repair, Bind):
        drivers = ("", entry.before.value, entry.repair.driver)
        overrides = ("", entry.before.override, entry.repair.driver)
        return now.value not in drivers or now.override not in overrides
    return not _between(now.value, entry.before.value, entry.repair.value)


def _between(now: str, before: str, wanted: str) -> bool:
    """Whether a kernel that was interrupted may have come from one value to here."""
    numbers = [whole(each) for each in (now, before, wanted)]
    if None in numbers:
        return now in (before, wanted)
    at, *ends = (number or 0 for number in numbers)
    return min(ends) <= at <= max(ends)


def _where(repair: Repair) -> str:
    return repair.path if isinstance(repair, Write) else repair.address


def _value(repair: Repair) -> str:
    return repair.value if isinstance(repair, Write) else repair.driver


def _state(host: Host, repair: Repair) -> State:
    if isinstance(repair, Write):
        return State(value=host.read(repair.path) or "")
    folder = f"{PCI}/{repair.address}"
    override = host.read(f"{folder}/driver_override") or ""
    return State(
        value=host.target(f"{folder}/driver") or "",
        override="" if override == _NONE else override,
    )


def _make(host: Host, repair: Repair) -> None:
    if isinstance(repair, Write):
        _put(host, repair.path, repair.value)
        return
    host.forget()
    if used := uses(host, repair.address):
        raise RepairError(f"the host uses it: {', '.join(used)}")
    if host.live and not host.at(f"{_DRIVERS}/{repair.driver}").is_dir():
        _load_module(repair.driver)
    _rebind(host, repair.address, State(value=repair.driver, override=repair.driver))


def _restore(host: Host, entry: Entry) -> None:
    if isinstance(entry.repair, Write):
        _put(host, entry.repair.path, entry.before.value)
    else:
        _rebind(host, entry.repair.address, entry.before)
        give_back(host, entry.repair.address, entry.mac)


def _rebind(host: Host, address: str, wanted: State) -> None:
    """Give a device to a driver, or to none, and leave it its override."""
    folder = f"{PCI}/{address}"
    now = host.target(f"{folder}/driver") or ""
    if now and now != wanted.value:
        _put(host, f"{_DRIVERS}/{now}/unbind", address)
    # A line end alone takes an override away (Documentation/ABI/testing/sysfs-bus-pci).
    _put(host, f"{folder}/driver_override", wanted.override or "\n")
    if wanted.value and (host.target(f"{folder}/driver") or "") != wanted.value:
        _put(host, f"{_BUS}/drivers_probe", address)
    # Several drivers may take it: the kernel asks them in an order of its own.
    given = host.target(f"{folder}/driver") or ""
    if wanted.value and given != wanted.value:
        if given:
            _put(host, f"{_DRIVERS}/{given}/unbind", address)
        _put(host, f"{_DRIVERS}/{wanted.value}/bind", address)


def _put(host: Host, path: str, value: str) -> None:
    """Write to a file that is there."""
    try:
        handle = os.open(host.at(path), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(value)
    except OSError as error:
        raise refused(path, error) from error


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
        output = done.stderr.strip().splitlines()
        raise RepairError(output[-1] if output else f"modprobe {name} failed")
