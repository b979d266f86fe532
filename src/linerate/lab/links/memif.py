"""Wire `memif`: rings in memory that two processes share (DPDK's net_memif)."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.lab.links import End, Ends, register
from linerate.lab.links._memif_peers import MEMIF, awaited, remove_socket, somebody_listens
from linerate.model.testbed import Testbed, TesterSpec

#: Descriptors of a ring, as a power of two: as many as our card has.
RING_LOG2 = 10


def devargs(folder: Path, index: int, role: str) -> str:
    """Describe one end; both name the same socket, whose server is there first."""
    socket = folder / f"{index}.sock"
    return f"role={role},id={index},socket={socket},socket-abstract=no,rsize={RING_LOG2}"


def _end(testbed: Testbed, folder: Path, index: int, role: str) -> End:
    number = index + 2 * (role == "client")
    return End(
        {
            "driver": "ethdev",
            "device": f"net_memif{number}",
            "devargs": devargs(folder, index, role),
            "link_bps": testbed.line_bps,
        }
    )


@contextmanager
def _named(testbed: Testbed, tester: TesterSpec) -> Iterator[Ends]:
    """The tester's ends on sockets whose other ends are an external device's."""
    sockets = tester.sockets or ()
    queues = {} if tester.rx_queues is None else {"rx_queues": tester.rx_queues}
    made = [name for name in sockets if not somebody_listens(name)]
    for name in made:
        _check_can_be_made(name)
        remove_socket(name)
    ports = [
        {
            "driver": "ethdev",
            "device": f"{MEMIF}{number}",
            "devargs": _external_devargs(name, "server" if name in made else "client"),
            "link_bps": testbed.line_bps,
            **queues,
        }
        for number, name in enumerate(sockets)
    ]
    peers = {f"{MEMIF}{number}": name for number, name in enumerate(sockets)}
    wait = awaited(peers, tester.wait_seconds)
    try:
        yield Ends(tuple(map(End, ports)), None, await_peers=wait)
    finally:
        for name in made:
            remove_socket(name)


def _check_can_be_made(name: str) -> None:
    """Raise SetupError when a socket can't be made there."""
    folder = Path(name).parent
    if not name.startswith("@") and not os.access(folder, os.W_OK | os.X_OK):
        raise SetupError(
            f"memif {name}: {folder} is no folder that we may write to; make it, or mend "
            "tester.sockets"
        )


def _external_devargs(name: str, role: str) -> str:
    abstract = name.startswith("@")
    where = f"socket={name.removeprefix('@')},socket-abstract={'yes' if abstract else 'no'}"
    return f"role={role},id=0,{where},rsize={RING_LOG2}"


class MemifLink:
    """The device under test is the server of both pairs, the tester their client.

    An external device is on sockets that the testbed names: the tester joins those that somebody
    listens on, and makes the others.
    """

    name = "memif"
    two_processes = True

    def pushes_back(self, _testbed: Testbed) -> bool:
        """Yes: a full ring takes no more."""
        return True

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Nothing."""
        return []

    @contextmanager
    def joined(self, testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Make a folder for the two sockets, or join those that are named."""
        if testbed.tester is not None and testbed.tester.sockets is not None:
            with _named(testbed, testbed.tester) as ends:
                yield ends
            return
        folder = Path(tempfile.gettempdir()) / ownership.new_name("memif")
        folder.mkdir(mode=0o700)
        try:
            server, client = (
                (_end(testbed, folder, 0, role), _end(testbed, folder, 1, role))
                for role in ("server", "client")
            )
            yield Ends(client, server)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


register(MemifLink())
