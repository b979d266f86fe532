"""What an expert looks at on a host before a test: `linerate doctor` (docs/doctor.md)."""

from linerate.doctor.checks import Form, checks
from linerate.doctor.cpus import likely_workers
from linerate.doctor.host import Host
from linerate.doctor.look import LOOK_SECONDS, Look, moment
from linerate.doctor.model import Finding
from linerate.doctor.nics import nics

__all__ = ["Finding", "Host", "examine", "examine_shortly", "faults", "look_at"]


def look_at(host: Host, workers: tuple[int, ...] = (), chosen_nics: tuple[str, ...] = ()) -> Look:
    """Look at a host twice; without workers given, the likely ones are taken."""
    before = moment(host, whole_host=True)
    later = host.later(LOOK_SECONDS)
    cards = nics(host, chosen_nics)
    return Look(
        host=host,
        workers=workers or likely_workers(host),
        workers_given=bool(workers),
        nics=cards if chosen_nics else tuple(nic for nic in cards if not nic.used_by_host),
        before=before,
        after=None if later is None else moment(later, whole_host=True),
    )


def examine(look: Look) -> tuple[Finding, ...]:
    """Make all checks. Never raises because of what is on the host, or is not."""
    return tuple(found for one in checks(Form.LONG) for found in one.findings(look))


def examine_shortly(
    host: Host, workers: tuple[int, ...], chosen_nics: tuple[str, ...] = ()
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
    )
    return tuple(found for one in checks(Form.SHORT) for found in one.findings(look))


def faults(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Those that are faults."""
    return tuple(found for found in findings if found.state == "fault")
