"""Wire `interfaces`: kernel interfaces of this host, cabled to a device; nothing is made."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base import drivers
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns.privilege import missing_privilege
from linerate.lab.links import End, Ends, register
from linerate.model.testbed import Testbed

#: Unless the testbed names another.
DRIVER = "socket-mmap"
_SYSFS = Path("/sys/class/net")
#: net/if.h
_IFF_UP = 0x1


class InterfacesLink:
    """All is there already, and stays as it is."""

    name = "interfaces"
    two_processes = False

    def pushes_back(self, _testbed: Testbed) -> bool:
        """Yes: the kernel takes no more than the card's ring has room for."""
        return True

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """Privilege, and interfaces that are there, and up."""
        lacking = missing_privilege(f"wire {self.name}")
        for name in _names(testbed):
            what = f"wire {self.name} needs interface {name}"
            if not _is_there(name):
                lacking.append(Prerequisite(what, f"mend tester.interfaces; here are {_others()}"))
            elif not _flags(name) & _IFF_UP:
                lacking.append(Prerequisite(f"{what} to be up", f"ip link set {name} up"))
        return lacking

    @contextmanager
    def joined(self, testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Name the tester's ports; the device is behind them."""
        names = _names(testbed)
        ends = tuple(_end(testbed, name, number) for number, name in enumerate(names))
        yield Ends(ends, None, check=lambda: _check(names))


def _names(testbed: Testbed) -> tuple[str, ...]:
    """A testbed file is refused without them."""
    return (testbed.tester and testbed.tester.interfaces) or ()


def _end(testbed: Testbed, name: str, number: int) -> End:
    driver = (testbed.tester and testbed.tester.driver) or DRIVER
    port = drivers.on_interface(driver, name, "", number)
    return End({**port, "link_bps": testbed.line_bps}, name)


def _is_there(name: str) -> bool:
    return any(name == known for _, known in socket.if_nameindex())


def _others() -> str:
    return ", ".join(name for _, name in socket.if_nameindex() if name != "lo") or "none"


def _flags(name: str) -> int:
    try:
        return int((_SYSFS / name / "flags").read_text(encoding="ascii"), 16)
    except (OSError, ValueError):
        return 0


def _check(names: tuple[str, ...]) -> None:
    for name in names:
        if not _is_there(name):
            raise SetupError(f"interface {name} is gone: somebody deleted or renamed it")


register(InterfacesLink())
