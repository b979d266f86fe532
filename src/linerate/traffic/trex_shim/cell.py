"""What a process gives up before it runs another's program: every lock that the kernel has.

Two of them keep it from writing: the filter of system calls, which refuses to open any file for
that, and Landlock, where the kernel has it. Only the filter is required.
"""

import ctypes
import math
import os
import platform
import resource
import struct

from syscalls import ASKED, FROZEN, MACHINES, NEWER, REFUSED, Numbers

MEMORY_BYTES = 1 << 30
FILE_BYTES = 64 << 20
OPEN_FILES = 64
CLONE_NEWNET = 0x40000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
#: Of <linux/capability.h>. Root reads files that are not its own with it; it writes none.
CAPABILITY_VERSION_3, CAP_DAC_READ_SEARCH = 0x20080522, 2
#: Of <linux/audit.h>, in the order of MACHINES.
ARCHITECTURES = (0xC000003E, 0xC00000B7)
EPERM, ENOTTY, ENOSYS = 1, 25, 38
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
#: Of BPF: load a word, jump if equal, if at least, if any bit is set, and return.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: In <linux/seccomp.h>'s seccomp_data.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
#: O_WRONLY, O_RDWR, O_CREAT and O_TRUNC, which empties a file that is opened to be read.
OPENS_TO_WRITE = 0o1103
#: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX and TCGETS2: a terminal's others type
#: for its user.
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
#: Of fcntl: locks that others wait for, leases, and signals to an owner (F_SETLK, F_SETLKW,
#: F_SETOWN, F_SETSIG, F_SETOWN_EX, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY).
FCNTLS = (6, 7, 8, 10, 15, 37, 38, 1024, 1026)
LANDLOCK_CREATE, LANDLOCK_RESTRICT, LANDLOCK_CREATE_RULESET_VERSION = 444, 446, 1
#: Executing, writing, making and removing; and what later versions have (REFER, TRUNCATE,
#: IOCTL_DEV).
LANDLOCK_WRITES = 0x1FF3
LANDLOCK_LATER = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}


class CellError(Exception):
    """A lock that another's program must not run without cannot be had."""


def lock(cpu_seconds: int) -> None:
    """No network, no processes, no signals, no writing; bounded memory, files and CPU time.

    CPU seconds count from here on. Raises CellError.
    """
    for what, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _limit(what, value, value)
    used = math.ceil(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    # At the higher one it is killed, by a signal that it cannot ignore.
    _limit(resource.RLIMIT_CPU, used + cpu_seconds, used + cpu_seconds + 1)
    libc = ctypes.CDLL(None, use_errno=True)
    # Where that is not permitted it has no sockets all the same.
    libc.unshare(CLONE_NEWNET)
    _drop_capabilities(libc)
    _prctl(libc, "no_new_privs", PR_SET_NO_NEW_PRIVS, 1)
    _landlock(libc)
    _seccomp(libc)


def _limit(what: int, soft: int, hard: int) -> None:
    """At most that; a limit that is lower already stays."""
    at_most = resource.getrlimit(what)[1]
    if at_most != resource.RLIM_INFINITY:
        soft, hard = min(soft, at_most), min(hard, at_most)
    resource.setrlimit(what, (soft, hard))


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise CellError(
            f"{what}: {os.strerror(ctypes.get_errno())}: a profile is not run without; "
            "use a host or a container whose kernel permits it"
        )
    return result


def _prctl(libc: ctypes.CDLL, name: str, what: int, *values: int) -> None:
    padded = [*values, 0, 0, 0, 0][:4]
    _checked(libc.prctl(what, *(ctypes.c_ulong(value) for value in padded)), name)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """What root may do beyond its own files; limits and namespaces among it."""
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    data = ctypes.create_string_buffer(24)
    _checked(libc.capget(header, data), "capget")
    effective, permitted = struct.unpack_from("II", data)
    kept = 1 << CAP_DAC_READ_SEARCH
    struct.pack_into("6I", data, 0, effective & kept, permitted & kept, 0, 0, 0, 0)
    _checked(libc.capset(header, data), "capset")


def _landlock(libc: ctypes.CDLL) -> None:
    """Nothing that writes, with no exception; nor tracing of processes outside."""
    version = libc.syscall(
        LANDLOCK_CREATE, None, ctypes.c_size_t(0), LANDLOCK_CREATE_RULESET_VERSION
    )
    if version < 1:
        return
    handled = LANDLOCK_WRITES | sum(
        right for since, right in LANDLOCK_LATER.items() if version >= since
    )
    attribute = struct.pack("Q", handled)
    ruleset = libc.syscall(LANDLOCK_CREATE, attribute, ctypes.c_size_t(len(attribute)), 0)
    _checked(ruleset, "Landlock")
    _checked(libc.syscall(LANDLOCK_RESTRICT, ruleset, 0), "Landlock")
    os.close(ruleset)


def _seccomp(libc: ctypes.CDLL) -> None:
    program = filter_for(platform.machine())
    code = ctypes.create_string_buffer(b"".join(program), 8 * len(program))
    filter_of = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code)), 16
    )
    _prctl(libc, "seccomp", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_of))


def filter_for(machine: str) -> list[bytes]:
    """The instructions of a filter of system calls; raises CellError.

    A list of what is refused, not of what is allowed: below FROZEN the calls of a machine are known
    and no new ones come, above it nothing is allowed that is not named.
    """
    if machine not in MACHINES:
        raise CellError(
            f"no filter of system calls for {machine}: run profiles on {' or '.join(MACHINES)}"
        )
    at = MACHINES.index(machine)
    program = [
        _instruction(LOAD, 0, 0, ARCHITECTURE),
        _instruction(EQUAL, 1, 0, ARCHITECTURES[at]),
        _fails(EPERM),
        _instruction(LOAD, 0, 0, NUMBER),
    ]
    asked = _of_machine(ASKED, at)
    for name, decision in _decisions().items():
        if name in asked:
            program += [_instruction(EQUAL, 0, len(decision), asked[name]), *decision]
    for number in _of_machine(REFUSED, at).values():
        program += [_instruction(EQUAL, 0, 1, number), _fails(EPERM)]
    for number in NEWER.values():
        program += [_instruction(EQUAL, 0, 1, number), _allowed()]
    # x32's numbers are above it too.
    return [*program, _instruction(AT_LEAST, 0, 1, FROZEN), _fails(ENOSYS), _allowed()]


def _of_machine(numbers: Numbers, at: int) -> dict[str, int]:
    return {name: both[at] for name, both in numbers.items() if both[at] is not None}


def _decisions() -> dict[str, list[bytes]]:
    """By a call's name: instructions that end in a decision, by its arguments."""
    return {
        "open": _unless_to_write(1),
        "openat": _unless_to_write(2),
        "prlimit64": [
            _argument(0, 0),
            _instruction(EQUAL, 0, 3, 0),
            _argument(0, 4),
            _instruction(EQUAL, 0, 1, 0),
            _allowed(),
            _fails(EPERM),
        ],
        "ioctl": [_argument(1, 0), *_each(IOCTLS, _allowed()), _fails(ENOTTY)],
        "fcntl": [_argument(1, 0), *_each(FCNTLS, _fails(EPERM)), _allowed()],
    }


def _unless_to_write(flags: int) -> list[bytes]:
    return [
        _argument(flags, 0),
        _instruction(ANY_BIT, 0, 1, OPENS_TO_WRITE),
        _fails(EPERM),
        _allowed(),
    ]


def _each(values: tuple[int, ...], then: bytes) -> list[bytes]:
    return [one for value in values for one in (_instruction(EQUAL, 0, 1, value), then)]


def _argument(number: int, half: int) -> bytes:
    """Both machines are little-endian: the lower half first."""
    return _instruction(LOAD, 0, 0, ARGUMENTS + 8 * number + half)


def _fails(code: int) -> bytes:
    return _instruction(RETURN, 0, 0, ERRNO | code)


def _allowed() -> bytes:
    return _instruction(RETURN, 0, 0, ALLOW)


def _instruction(code: int, then: int, otherwise: int, value: int) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)
