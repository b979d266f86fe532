"""dpdk-testpmd of Debian's as a box: packet sockets in a namespace, or memifs; its console is ours."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.system import labs
from tests.system.foreign import MACS, Links, two_links

from linerate.host import dpdk_runtime
from linerate.lab.testpmd import Console, Testpmd

#: A program that polls has the last CPU: the tester takes the first.
CPUS = (min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0)))
SOCKETS = "net_af_packet{number},iface={name},qdisc_bypass=1{options}"
MEMIFS = "net_memif{number},role=server,id=0,socket={name},socket-abstract=no{options}"
#: Its telemetry is what a box is asked at.
MEMORY = ("--no-huge", "-m", "256")
APP = ("--total-num-mbufs=16384",)


@dataclass(frozen=True)
class TestpmdBox:
    """It runs, and forwards."""

    __test__ = False  # pytest would take it for a test class

    console: Console
    #: The tester's side of a testbed file's document.
    tester: Mapping[str, object]
    ports: tuple[str, str]
    #: Where its ports are; empty where they are no interfaces.
    namespace: str = ""

    @property
    def socket(self) -> Path:
        """Socket of its telemetry."""
        return _socket(self.console)

    @property
    def pid(self) -> int:
        """Its process, which `nice` and the like became."""
        return self.console.pid

    def testbed(self, link: str) -> dict[str, object]:
        """A testbed file's document."""
        return {
            **self.tester,
            "link": link,
            "dut": {
                "kind": "testpmd",
                "at": f"netns:{self.namespace}" if self.namespace else "local",
                "socket": str(self.socket),
                "ports": [{"name": name} for name in self.ports],
                "macs": MACS,
            },
        }

    def ask(self, command: str) -> None:
        """A command of testpmd's; after `sh: ` one of a shell's where its ports are."""
        if command.startswith("sh: "):
            words = ["ip", "netns", "exec", self.namespace, "sh", "-c"]
            subprocess.run([*words, command.removeprefix("sh: ")], check=True, timeout=30)
        else:
            self.console.ask(command)


def _socket(console: Console) -> Path:
    found = [base / console.prefix / "dpdk_telemetry.v2" for base in dpdk_runtime.bases()]
    return next((one for one in found if one.is_socket()), found[0])


@contextmanager
def over_packet_sockets(
    mode: str = "mac", options: str = "", app: Sequence[str] = APP
) -> Iterator[TestpmdBox]:
    """Its ports are packet sockets on `e0` and `e1`; `options` are further ones of the driver's."""
    with two_links() as links, _running(links, SOCKETS, mode, options, app) as console:
        tester = {"wire": "veth", "tester": {"interfaces": list(links.here)}}
        yield TestpmdBox(console, tester, ("net_af_packet0", "net_af_packet1"), links.namespace)


@contextmanager
def over_memifs(
    mode: str = "mac", options: str = "", app: Sequence[str] = APP
) -> Iterator[TestpmdBox]:
    """Its ports are memifs, and it makes their sockets."""
    with tempfile.TemporaryDirectory(prefix="lr-testpmd-") as folder:
        sockets = (f"{folder}/0.sock", f"{folder}/1.sock")
        links = Links("", sockets, sockets)
        with _running(links, MEMIFS, mode, options, app) as console:
            tester = {"wire": "memif", "tester": {"sockets": list(sockets)}}
            yield TestpmdBox(console, tester, ("net_memif0", "net_memif1"))


@contextmanager
def _running(
    links: Links, vdev: str, mode: str, options: str, app: Sequence[str]
) -> Iterator[Console]:
    vdevs = tuple(
        vdev.format(number=number, name=name, options=options)
        for number, name in enumerate(links.there)
    )
    program = Testpmd(mode, vdevs, CPUS, tuple(app), MEMORY, links.namespace)
    with (
        tempfile.TemporaryDirectory(prefix="lr-testpmd-log-") as folder,
        program.running(Path(folder) / "testpmd.log") as console,
    ):
        labs.wait_for(_socket(console).is_socket)
        _favour(console.pid)
        console.ask("start")
        yield console


def _favour(pid: int) -> None:
    """Other groups of processes leave its CPU to it, as on a host that only forwards."""
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")
