"""Checks of a host before a test, as an expert makes them: `linerate doctor` (docs/doctor.md)."""

from linerate.base.memory_size import needed_megabytes
from linerate.host.doctor.checks import Form, checks
from linerate.host.doctor.checks.cpu import busy
from linerate.host.doctor.cpus import likely_workers
from linerate.host.doctor.host_view import Host, UnknownError
from linerate.host.doctor.look import LOOK_SECONDS, Look, PortNeeds, moment
from linerate.host.doctor.nics import nics
from linerate.model.findings import Finding

__all__ = [
    "Finding",
    "Host",
    "PortNeeds",
    "busy_now",
    "examine",
    "examine_shortly",
    "faults",
    "look_at",
]


def look_at(
    host: Host,
    workers: tuple[int, ...] = (),
    chosen_nics: tuple[str, ...] = (),
    needs: PortNeeds | None = None,
) -> Look:
    """Look at a host twice; without workers given, the likely ones are taken.

    `needs` are a testbed's: its ports are looked at, and no others.
    """
    before = moment(host, whole_host=True)
    later = host.later(LOOK_SECONDS)
    chosen_nics = needs.addresses if needs else chosen_nics
    cards = nics(host, chosen_nics) if chosen_nics or not needs else ()
    return Look(
        host=host,
        workers=workers or likely_workers(host),
        workers_given=bool(workers),
        nics=cards if chosen_nics else tuple(nic for nic in cards if not nic.used_by_host),
        before=before,
        after=None if later is None else moment(later, whole_host=True),
        needs=needs or PortNeeds(),
    )


def examine(look: Look) -> tuple[Finding, ...]:
    """Make all checks. Never raises because of what is on the host, or is not."""
    return tuple(found for one in checks(Form.LONG) for found in one.findings(look))


def examine_shortly(
    host: Host,
    workers: tuple[int, ...],
    chosen_nics: tuple[str, ...] = (),
    hugepages_megabytes: int = needed_megabytes(),
) -> tuple[Finding, ...]:
    """Make the checks that are worth it before each bench: in some milliseconds."""
    look = Look(
        host=host,
        workers=workers,
        workers_given=True,
        nics=nics(host, chosen_nics) if chosen_nics else (),
        before=moment(host, whole_host=False),
        after=None,
        hurried=True,
        needs=PortNeeds(hugepages_megabytes=hugepages_megabytes),
    )
    return tuple(found for one in checks(Form.SHORT) for found in one.findings(look))


def busy_now(host: Host, workers: tuple[int, ...], seconds: float = 0.2) -> Finding | None:
    """Programs that use the CPUs, by a short sample before a run; None without, or when unreadable.

    The caller sleeps: nothing of its own is seen.
    """
    before = moment(host, whole_host=True)
    later = host.later(seconds)
    if later is None:
        return None
    after = moment(later, whole_host=True)
    look = Look(host, workers, workers_given=True, nics=(), before=before, after=after)
    try:
        found = busy(look)
    except UnknownError:
        return None
    return found if found is not None and found.state == "fault" else None
