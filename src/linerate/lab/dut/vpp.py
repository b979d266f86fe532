"""Device `vpp`: a VPP from the path, on memif, asked by its command line as a box of that kind.

With `at`, or with ports by name, it is a box that somebody else started.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns.privilege import missing_program
from linerate.lab.box.access import opened
from linerate.lab.box.asked_box import AskedBox
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.engine_config import dut_macs, router_cli
from linerate.lab.links import End, Ends
from linerate.lab.vpp import CLIENT, PACKAGE, PROGRAM, Vpp
from linerate.model.box import BoxPort
from linerate.model.suites import DUT_PORTS
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Dut, Testbed

#: Parts of a memif's devargs, as links/memif.py writes them.
_SOCKET = re.compile(r"socket=([^,]+)")
_ID = re.compile(r"\bid=(\d+)")
_RING_LOG2 = re.compile(r"rsize=(\d+)")


class VppDut:
    """VPP as a router between two memifs."""

    name = "vpp"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """The program, and its client."""
        return [
            lack
            for program in (PROGRAM, CLIENT)
            for lack in missing_program(program, PACKAGE, f"`dut: {{kind: {self.name}}}`")
        ]

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """All: it routes, and swaps labels."""
        return ALL_FRAMES

    def routes(self, _testbed: Testbed) -> bool:
        """Yes."""
        return True

    @contextmanager
    def running(self, testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Start it, set it up as a router, and ask it as a box."""
        if ends.dut is None:
            raise SetupError("vpp needs two ports: use `wire: memif`")
        vpp = _placed(testbed.dut.workers, place)
        commands = "\n".join(_commands(testbed, ends.dut, place))
        place.file("cli").write_text(commands, encoding="utf-8")
        with vpp.running(place.file("log")) as line, opened("local") as access:
            line.configure(commands)
            yield AskedBox(_as_box(testbed.dut, line.socket), access, None, place.tester_cpus)


def _placed(workers: int, place: Place) -> Vpp:
    """Threads of VPP on the CPUs of the device.

    Its main thread sleeps. With no CPU of its own it shares a worker's: a forwarder that pauses for
    an answer keeps what is in its ring, a tester that pauses loses what comes back.
    """
    if place.shared:
        return Vpp((), place.cpus[0], place.cpus[0])
    if workers > len(place.cpus):
        raise SetupError(
            f"dut.workers: {workers} workers of vpp need {workers} CPUs beside the tester's, and "
            f"there are {len(place.cpus)}"
        )
    own = place.cpus[workers:]
    # VPP itself wants a CPU for it that no worker has.
    main = own[0] if own else place.tester_cpus[0]
    return Vpp(place.cpus[:workers], main, own[0] if own else place.cpus[workers - 1])


def _commands(testbed: Testbed, ends: tuple[End, End], place: Place) -> Iterator[str]:
    """Lines of VPP's command line: its ports, then the router as ours is set up."""
    macs = [place.macs.get(mac, mac) for mac in dut_macs(testbed)]
    for number, (port, end, mac) in enumerate(zip(DUT_PORTS, ends, macs, strict=True), 1):
        socket, index, log2 = (
            _found(pattern, str(end.port["devargs"])) for pattern in (_SOCKET, _ID, _RING_LOG2)
        )
        yield f"create memif socket id {number} filename {socket}"
        yield (
            f"create interface memif id {index} socket-id {number} ring-size {1 << int(log2)} "
            f"hw-addr {mac} master"
        )
        yield f"set interface name memif{number}/{index} {port}"
    router = router_cli(testbed.dut.cli_file, place.networks)
    for asked, actual in place.macs.items():
        router = router.replace(asked, actual)
    yield from router.splitlines()
    if testbed.dut.rx_mode != "polling":
        for port in DUT_PORTS:
            yield f"set interface rx-mode {port} {testbed.dut.rx_mode}"


def _found(pattern: re.Pattern[str], devargs: str) -> str:
    match = pattern.search(devargs)
    if match is None:
        raise SetupError(f"vpp needs a memif: use `wire: memif`, not a port with {devargs!r}")
    return match[1]


def _as_box(dut: Dut, socket: Path) -> Dut:
    """The same, asked as a box of this host. Its history is ours, and may be cleared."""
    first, second = DUT_PORTS
    return dut.model_copy(
        update={
            "at": "local",
            "ports": (BoxPort(name=first), BoxPort(name=second)),
            "socket": str(socket),
            "clear": True,
        }
    )


register(VppDut())
