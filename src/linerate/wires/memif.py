"""Wire `memif`: rings in memory that two processes share (DPDK's net_memif)."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate import marks
from linerate.needs import Need
from linerate.testbed import Testbed
from linerate.wires import End, Ends, register

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


class MemifWire:
    """The device under test is the server of both pairs, the tester their client."""

    name = "memif"
    pushes_back = True
    apart = True

    def needs(self, _testbed: Testbed) -> list[Need]:
        """Nothing."""
        return []

    @contextmanager
    def joined(self, testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Make a folder for the two sockets."""
        folder = Path(tempfile.gettempdir()) / marks.new_name("memif")
        folder.mkdir(mode=0o700)
        try:
            server, client = (
                (_end(testbed, folder, 0, role), _end(testbed, folder, 1, role))
                for role in ("server", "client")
            )
            yield Ends(client, server)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


register(MemifWire())
