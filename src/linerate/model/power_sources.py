"""Power meters as a testbed file names them: `power: {source: shelly, url: http://192.0.2.7}`.

Only addresses that are not public, and no password: a file or a variable has it.
"""

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from linerate.base.frozen_model import StrictModel

#: Longest command that prints a figure.
COMMAND_LENGTH = 4096
_OID = re.compile(r"\.?\d+(\.\d+){2,127}")
_HOST = re.compile(r"[A-Za-z0-9_.:\[\]-]{1,253}")


def public_address(host: str) -> bool:
    """Whether it is an IP address that the whole internet reaches; a name is looked up later."""
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_global
    except ValueError:
        return False


def _local(host: str) -> str:
    if not _HOST.fullmatch(host) or host.startswith("-"):
        raise ValueError(f"expected a host's name or address, not '{host}'")
    if public_address(host):
        raise ValueError(f"expected a local address (10.…, 192.168.…, fd…), not the public {host}")
    return host


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(f"expected an address as http://192.168.1.7, not '{value}'") from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\x00-\x1f]", value):
        raise ValueError(f"expected an address as http://192.168.1.7, not '{value}'")
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            "expected an address without user and password: give `user:` and `password_file:` or "
            "`password_env:`"
        )
    _local(host)
    return value.rstrip("/")


def _oid(value: str) -> str:
    if not _OID.fullmatch(value):
        raise ValueError(f"expected an object's number as 1.3.6.1.4.1.318.1, not '{value}'")
    return value


Host = Annotated[str, AfterValidator(_local)]
Url = Annotated[str, AfterValidator(_url)]
Oid = Annotated[str, AfterValidator(_oid)]
TcpPort = Annotated[int, Field(ge=1, le=65535)]
#: Names that go into an argument or a line of a protocol.
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. +/:-]{0,63}$")]


class Meter(StrictModel):
    """All that any source may have."""

    #: Time between two readings; the source's own where it is not given.
    interval_seconds: float | None = Field(default=None, ge=0.05, le=3600)
    #: An answer that takes longer is missing.
    timeout_seconds: float = Field(default=5, gt=0, le=60)
    #: Smallest step of the figure, where it is another than the source's usual one.
    resolution_watts: float | None = Field(default=None, ge=0, le=1000)
    #: The meter's error as its maker gives it, in % of the reading.
    accuracy_percent: float | None = Field(default=None, ge=0, le=100)
    #: Time without load before and after each trial; 0: idle power is not measured.
    idle_seconds: float = Field(default=5, ge=0, le=3600)
    #: Parts that are measured, in words: `the box at the wall`.
    covers: str = Field(default="", max_length=80)


class Protected(Meter):
    """Sources that may ask for a password: its place, never itself."""

    user: str = Field(default="", max_length=64, pattern=r"^[^:\s\x00-\x1f-][^:\x00-\x1f]*$|^$")
    #: Variable of the environment that has it.
    password_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    #: File that has it in its first line, readable by its owner alone.
    password_file: Path | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.password_env is not None and self.password_file is not None:
            raise ValueError("expected password_env or password_file, not both")
        return self


class OnHost(Meter):
    """Sources that are files or commands of a machine."""

    #: This machine, or the box, where the device is one that is reached by `at:`.
    on: Literal["here", "box"] = "here"


class Rapl(OnHost):
    """Energy counters of CPU packages and memory, in sysfs."""

    source: Literal["rapl"]
    root: Path = Path("/sys/class/powercap")
    #: Names of zones; all packages and memory where none are given.
    zones: tuple[Word, ...] = ()


class Hwmon(OnHost):
    """A sensor of the kernel's hwmon: power or energy of a supply, a card or a board."""

    source: Literal["hwmon"]
    root: Path = Path("/sys/class/hwmon")
    #: Its `name`; needed where several chips have power.
    chip: Word | None = None
    #: Its `powerN_label`, or `powerN`; needed where the chip has several.
    sensor: Word | None = None


class Ipmi(Protected, OnHost):
    """The board's management controller, by `ipmitool`."""

    source: Literal["ipmi"]
    #: Its address in the management network; the local one where none is given.
    host: Host | None = None
    port: TcpPort = 623
    interface: Literal["lanplus", "lan", "open"] = "lanplus"
    #: Suite of RMCP+: older controllers know 3 alone; ipmitool's own choice gets no answer there.
    cipher_suite: int | None = Field(default=None, ge=0, le=255)
    #: Name of a sensor in watts, where it knows no DCMI.
    sensor: Word | None = None


class Redfish(Protected):
    """A management controller by Redfish."""

    source: Literal["redfish"]
    url: Url
    #: Path of a chassis' Power, of EnvironmentMetrics or of a sensor; found where not given.
    path: str | None = Field(default=None, pattern=r"^/redfish/[A-Za-z0-9_./:%~-]{1,200}$")
    #: Certificate of the controller, or of who signed it.
    certificate: Path | None = None
    #: Controllers have certificates of their own making: whether one is taken unchecked.
    unchecked_certificate: bool = False


class Shelly(Protected):
    """A Shelly plug or meter of any generation, by HTTP."""

    source: Literal["shelly"]
    url: Url
    #: Number of the relay or meter.
    channel: int = Field(default=0, ge=0, le=15)


class Tasmota(Protected):
    """A plug or meter with Tasmota, by HTTP."""

    source: Literal["tasmota"]
    url: Url
    #: Number of the phase where it has several; all of them where none is given.
    channel: int | None = Field(default=None, ge=0, le=15)


class Nut(Meter):
    """An uninterruptible power supply behind Network UPS Tools' upsd."""

    source: Literal["nut"]
    host: Host = "localhost"
    port: TcpPort = 3493
    ups: Word


class Snmp(Meter):
    """An outlet of a power distribution unit, or any other figure in watts, by SNMP."""

    source: Literal["snmp"]
    host: Host
    port: TcpPort = 161
    #: Number of the outlet's power.
    oid: Oid
    #: Watts of one unit of it: 0.1 where it has tenths of a watt.
    scale: float = Field(default=1, gt=0, le=1e6)
    version: Literal["1", "2c"] = "2c"
    #: The community is `public` where neither is given.
    community_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    community_file: Path | None = None


class Prometheus(Protected):
    """A query that a Prometheus server answers with one figure in watts."""

    source: Literal["prometheus"]
    url: Url
    query: str = Field(min_length=1, max_length=2000)


class Command(OnHost):
    """A command that prints watts as its last number."""

    source: Literal["command"]
    command: str = Field(min_length=1, max_length=COMMAND_LENGTH)


_Any = Rapl | Hwmon | Ipmi | Redfish | Shelly | Tasmota | Nut | Snmp | Prometheus | Command
Power = Annotated[_Any, Field(discriminator="source")]
#: Classes of all sources by name.
SOURCES: dict[str, type[Meter]] = {
    get_args(one.model_fields["source"].annotation)[0]: one for one in get_args(_Any)
}
