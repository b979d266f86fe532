"""NICs of a testbed's ports, as a run's environment names them: models, and their firmware."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from linerate.host.doctor.host_view import Host, UnknownError
from linerate.host.doctor.nics import Nic, nics

_FIRMWARE = re.compile(r"^firmware-version:[ \t]*(\S.*)$", re.MULTILINE)
#: Longest name of a firmware.
CHARACTERS_MAX = 40


class NicStamp(NamedTuple):
    """Each model once, each firmware once; empty where there is none, or it is not known."""

    nic: str
    firmware: str


def nic_stamp(devices: tuple[str, ...], host: Host | None = None) -> NicStamp:
    """Read them of the devices on PCI; a NIC that no kernel driver has does not name a firmware."""
    if not devices:
        return NicStamp("", "")
    host = host or Host()
    found = nics(host, devices)
    firmwares = (_firmware(host, one) for one in found)
    return NicStamp(_each_once(one.model for one in found), _each_once(firmwares))


def _firmware(host: Host, nic: Nic) -> str:
    if not nic.interface:
        return ""
    try:
        text = host.need_output("ethtool", "-i", nic.interface)
    except UnknownError:
        return ""
    line = _FIRMWARE.search(text)
    return " ".join(line[1].split())[:CHARACTERS_MAX] if line else ""


def _each_once(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))
