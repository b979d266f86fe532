"""Packet sockets of another process: what the kernel dropped at them (packet(7)).

A program that does not ask has its drops counted all the same; its sockets can be borrowed
(pidfd_getfd(2), Linux 5.6) and asked.
"""

import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SYS_PIDFD_GETFD = 438
#: linux/if_packet.h
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_libc = ctypes.CDLL(None, use_errno=True)


def packet_drops(pid: int) -> dict[str, int]:
    """Packets dropped since the last reading, by interface: the kernel clears its counters."""
    drops: dict[str, int] = {}
    for borrowed in _sockets(pid):
        if borrowed.family == socket.AF_PACKET:
            with contextlib.suppress(OSError):
                interface = borrowed.getsockname()[0]
                reported = borrowed.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 12)
                drops[interface] = drops.get(interface, 0) + struct.unpack_from("=II", reported)[1]
    return drops


def _sockets(pid: int) -> Iterator[socket.socket]:
    """Borrow each socket of a process for a moment; none when we may not."""
    with _process(pid) as process:
        for path in Path(f"/proc/{pid}/fd").iterdir() if process is not None else ():
            with contextlib.suppress(OSError):
                if not str(path.readlink()).startswith("socket:"):
                    continue
                fd = _libc.syscall(_SYS_PIDFD_GETFD, process, int(path.name), 0)
                if fd >= 0:
                    with socket.socket(fileno=fd) as borrowed:
                        yield borrowed


@contextmanager
def _process(pid: int) -> Iterator[int | None]:
    try:
        process = os.pidfd_open(pid)
    except OSError:
        yield None
        return
    try:
        yield process
    finally:
        os.close(process)
