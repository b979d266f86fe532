"""What a process gives up before it runs another's program: every lock that the kernel has."""

import contextlib
import ctypes
import os
import platform
import resource
import struct

MEMORY_BYTES = 1 << 30
FILE_BYTES = 64 << 20
CPU_SECONDS = 20
OPEN_FILES = 64
CLONE_NEWNET = 0x40000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
EPERM, ENOSYS = 1, 38
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
#: Of <asm/unistd.h>: sockets, processes, signals to others, tracing, other namespaces and mounts.
REFUSED = {
    "x86_64": (
        0xC000003E,
        (41, 42, 49, 50, 56, 57, 58, 59, 62, 101, 129, 155, 161, 165, 166, 169, 175, 200, 234,
         248, 250, 272, 297, 298, 308, 310, 311, 313, 321, 322, 323, 424, 425, 434),
    ),
    "aarch64": (
        0xC00000B7,
        (198, 200, 201, 203, 39, 40, 41, 51, 97, 105, 106, 117, 129, 130, 131, 138, 142, 217,
         219, 220, 221, 240, 241, 268, 270, 271, 273, 280, 281, 282, 424, 425, 434),
    ),
}  # fmt: skip
CLONE3 = 435
#: Landlock: everything that writes, but for what is under one folder.
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
WRITES = 0x1FF2
O_PATH = 0o10000000


def lock(folder: str) -> None:
    """No network, no processes, no writing but in `folder`, bounded memory, files and CPU time."""
    limits = (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    )
    for what, value in limits:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (value, value))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(CLONE_NEWNET)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _landlock(libc, folder)
    _seccomp(libc)


def _landlock(libc: ctypes.CDLL, folder: str) -> None:
    attribute = ctypes.create_string_buffer(struct.pack("<Q", WRITES), 8)
    ruleset = libc.syscall(LANDLOCK_CREATE, attribute, 8, 0)
    if ruleset < 0:
        return
    at = os.open(folder, os.O_RDONLY | O_PATH)
    rule = ctypes.create_string_buffer(struct.pack("<Qi", WRITES, at), 12)
    libc.syscall(LANDLOCK_ADD, ruleset, 1, rule, 0)
    libc.syscall(LANDLOCK_RESTRICT, ruleset, 0)
    os.close(at)
    os.close(ruleset)


def _instruction(code: int, then: int, otherwise: int, value: int) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)


def _seccomp(libc: ctypes.CDLL) -> None:
    """A filter of system calls: those that are refused fail with "Operation not permitted"."""
    if platform.machine() not in REFUSED:
        return
    architecture, numbers = REFUSED[platform.machine()]
    program = [
        _instruction(0x20, 0, 0, 4),
        _instruction(0x15, 1, 0, architecture),
        _instruction(0x06, 0, 0, ERRNO | EPERM),
        _instruction(0x20, 0, 0, 0),
        _instruction(0x15, 0, 1, CLONE3),
        _instruction(0x06, 0, 0, ERRNO | ENOSYS),
        # x32 numbers have this bit.
        _instruction(0x35, 0, 1, 0x40000000),
        _instruction(0x06, 0, 0, ERRNO | EPERM),
    ]
    for number in numbers:
        program.append(_instruction(0x15, 0, 1, number))
        program.append(_instruction(0x06, 0, 0, ERRNO | EPERM))
    program.append(_instruction(0x06, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(program), 8 * len(program))
    filter_of = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code)), 16
    )
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_of, 0, 0)
