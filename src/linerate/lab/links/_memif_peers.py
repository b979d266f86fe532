"""Peers of memif sockets: whether somebody listens there, and waiting until they are joined."""

import contextlib
import re
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from linerate.base.errors import SetupError
from linerate.engine.telemetry import Telemetry
from linerate.lab.links import AwaitPeers, OnWait

POLL_SECONDS = 0.1
PROBE_SECONDS = 1.0
#: linux/net.h: of a socket that listens.
SO_ACCEPTCON = 1 << 16
MEMIF = "net_memif"
_SOCKET = re.compile(r"(?:^|,)socket=([^,]+)")


def socket_in(devargs: str) -> str:
    """The socket that a memif's devargs name; DPDK's own default where they name none."""
    found = _SOCKET.search(devargs)
    return found[1] if found else "/run/memif.sock"


def somebody_listens(name: str) -> bool:
    """Whether a peer is the server of a socket: a path, or an abstract one as `@name`.

    The kernel is asked first: some peers do not bear a client that only looks.
    """
    if name in _listening():
        return True
    address = f"\0{name[1:]}" if name.startswith("@") else name
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        probe.settimeout(PROBE_SECONDS)
        try:
            probe.connect(address)
        except (TimeoutError, BlockingIOError):
            return True
        except OSError:
            return False
    return True


def _listening() -> frozenset[str]:
    """Sockets that accept connections, as /proc/net/unix names them.

    Of our network namespace all, and of the others that we may look into those at a path: it leads
    into any of them.
    """
    ours = frozenset(_accepting(Path("/proc/net/unix")))
    others = chain.from_iterable(map(_accepting, _other_tables()))
    return ours | {name for name in others if not name.startswith("@")}


def _accepting(table: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):
        lines = table.read_text(encoding="utf-8", errors="replace").split("\n")
        rows = (line.split(maxsplit=7) for line in lines[1:])
        yield from (row[7] for row in rows if len(row) > 7 and int(row[3], 16) & SO_ACCEPTCON)


def _other_tables() -> Iterator[Path]:
    """The table of each other namespace: of some process there."""
    seen = {None, _namespace(Path("/proc/self"))}
    for process in Path("/proc").glob("[0-9]*"):
        namespace = _namespace(process)
        if namespace not in seen:
            seen.add(namespace)
            yield process / "net/unix"


def _namespace(process: Path) -> Path | None:
    """Its network namespace; None where we may not look."""
    try:
        return (process / "ns/net").readlink()
    except OSError:
        return None


def remove_socket(name: str) -> None:
    """Remove a socket without a listener; whatever else has that name stays."""
    if name.startswith("@"):
        return
    with contextlib.suppress(OSError):
        path = Path(name)
        if stat.S_ISSOCK(path.lstat().st_mode) and not somebody_listens(name):
            path.unlink()


def awaited(sockets: Mapping[str, str], seconds: float) -> AwaitPeers:
    """Wait until the peers of some memifs, by device the socket, are there."""

    def wait(telemetry: Telemetry, on_wait: OnWait) -> None:
        deadline = time.monotonic() + seconds
        text = False
        while missing := [path for device, path in sockets.items() if device in down(telemetry)]:
            if not text:
                on_wait(f"memif {missing[0]}: waiting for the device", seconds)
                text = True
            if time.monotonic() >= deadline:
                raise SetupError(
                    f"memif {missing[0]}: no peer connected within {seconds:g} s; start the "
                    "device or check that its memif has this socket, the same id, and the other "
                    "role"
                )
            time.sleep(POLL_SECONDS)

    return wait


def down(telemetry: Telemetry) -> frozenset[str]:
    """Names of an engine's DPDK devices whose link is down, in DPDK's own words."""
    found = set()
    for number in telemetry.ask("/ethdev/list"):
        if telemetry.ask(f"/ethdev/link_status,{number}").get("status") != "UP":
            found.add(str(telemetry.ask(f"/ethdev/info,{number}")["name"]))
    return frozenset(found)
