"""Privileges that a process drops before it runs another's program: every lock of the kernel.

Two of them keep it from writing: the filter of system calls, which refuses to open any file for
that, and Landlock. What it reads is Python, its libraries and the profile's folder (Landlock), as a
user without rights if root started it. Where the kernel has no Landlock that user is what is left,
and who is not root has neither: then nothing is run.
"""

import ctypes
import math
import os
import platform
import resource
import stat
import struct
import sys
import sysconfig
from collections.abc import Iterable

from syscalls import ASKED, FROZEN, MACHINES, NEWER, REFUSED, Numbers

MEMORY_BYTES = 1 << 30
FILE_BYTES = 64 << 20
OPEN_FILES = 64
CLONE_NEWNET = 0x40000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
#: Whom root's profiles run as, when it is not known who called sudo.
NOBODY = 65534
PR_SET_KEEPCAPS = 8
#: From <linux/capability.h>. Landlock bounds it; kept only where Python is root's to read.
CAPABILITY_VERSION_3, CAP_DAC_READ_SEARCH = 0x20080522, 2
#: From <linux/audit.h>, in the order of MACHINES.
ARCHITECTURES = (0xC000003E, 0xC00000B7)
EPERM, ENOTTY, ENOSYS = 1, 25, 38
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
#: BPF instructions: load a word, jump if equal, if at least, if any bit is set, and return.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: In <linux/seccomp.h>'s seccomp_data.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
#: O_WRONLY, O_RDWR, O_CREAT and O_TRUNC, which empties a file that is opened to be read.
OPENS_TO_WRITE = 0o1103
#: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX and TCGETS2: a terminal's others type
#: for its user.
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
#: Commands of fcntl: locks that others wait for, leases, and signals to an owner (F_SETLK,
#: F_SETLKW, F_SETOWN, F_SETSIG, F_SETOWN_EX, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY).
FCNTLS = (6, 7, 8, 10, 15, 37, 38, 1024, 1026)
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_CREATE_RULESET_VERSION = LANDLOCK_PATH_BENEATH = 1
LANDLOCK_READ_FILE, LANDLOCK_READ_FOLDER = 1 << 2, 1 << 3
#: Executing, writing, making and removing; and what later versions have (REFER, TRUNCATE,
#: IOCTL_DEV).
LANDLOCK_WRITES = 0x1FF3
#: Beside Python: shared libraries that its modules load, what random numbers and zones come from.
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom",
          "/usr/share/zoneinfo")  # fmt: skip
NO_LANDLOCK = (
    "this kernel has no Landlock, and a profile could read all that you can: it is not run; boot "
    "with lsm=landlock (Linux 5.13), or run it as root, which gives it to a user without rights"
)
LANDLOCK_LATER = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}


class CellError(Exception):
    """A lock that another's program must not run without cannot be had."""


def lock(cpu_seconds: int, readable: Iterable[str] = ()) -> None:
    """No network, processes, signals, writing; bounded memory, files and CPU time.

    Files are read below `readable` and where Python is. CPU seconds count from here on. Raises
    CellError.
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
    # A module is looked for in no other place from now on.
    folders = (*_python(), *readable)
    has_landlock = _landlock_version(libc) >= 1
    if os.geteuid() == 0:
        _drop_privileges(libc, folders, has_landlock)
    elif has_landlock:
        _keep_capabilities(libc, 0)
    else:
        raise CellError(NO_LANDLOCK)
    _prctl(libc, "no_new_privs", PR_SET_NO_NEW_PRIVS, 1)
    if has_landlock:
        _landlock(libc, (*SYSTEM, *folders))
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


def _python() -> list[str]:
    """Folders of Python's own modules and of those that are installed, scapy among them."""
    paths = sysconfig.get_paths()
    named = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return sorted(path for path in named | set(sys.path) if path and os.path.exists(path))


def _drop_privileges(libc: ctypes.CDLL, folders: Iterable[str], has_landlock: bool) -> None:
    """Give up root's user and all of its rights; but that to read where Landlock bounds it."""
    user = int(os.environ.get("PROFILE_USER", NOBODY))
    try:
        _prctl(libc, "PR_SET_KEEPCAPS", PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError as error:
        raise CellError(f"user {user}: {error.strerror}: a profile is not run as root") from error
    closed = [folder for folder in folders if not os.access(folder, os.R_OK)]
    if closed and not has_landlock:
        raise CellError(
            f"this kernel has no Landlock, and user {user} may not read {closed[0]}: a profile is "
            "not run as root; move it to a folder that all may read, or boot with lsm=landlock"
        )
    _keep_capabilities(libc, 1 << CAP_DAC_READ_SEARCH if closed else 0)


def _keep_capabilities(libc: ctypes.CDLL, kept: int) -> None:
    """Drop all others."""
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    data = ctypes.create_string_buffer(24)
    _checked(libc.capget(header, data), "capget")
    kept &= struct.unpack_from("I", data, 4)[0]
    struct.pack_into("6I", data, 0, kept, kept, 0, 0, 0, 0)
    _checked(libc.capset(header, data), "capset")


def _landlock_version(libc: ctypes.CDLL) -> int:
    """0 or less where there is none."""
    flags = LANDLOCK_CREATE_RULESET_VERSION
    return int(libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), flags))


def _landlock(libc: ctypes.CDLL, readable: Iterable[str]) -> None:
    """Nothing that writes, with no exception; reading there only; nor tracing of others."""
    version = _landlock_version(libc)
    reads = LANDLOCK_READ_FILE | LANDLOCK_READ_FOLDER
    handled = LANDLOCK_WRITES | reads
    handled |= sum(right for since, right in LANDLOCK_LATER.items() if version >= since)
    attribute = struct.pack("Q", handled)
    ruleset = libc.syscall(LANDLOCK_CREATE, attribute, ctypes.c_size_t(len(attribute)), 0)
    _checked(ruleset, "Landlock")
    for path in readable:
        _let_read(libc, ruleset, path)
    _checked(libc.syscall(LANDLOCK_RESTRICT, ruleset, 0), "Landlock")
    os.close(ruleset)


def _let_read(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    """All files below a folder, or a file; what is not there is not read."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    reads = LANDLOCK_READ_FILE | (LANDLOCK_READ_FOLDER if is_folder else 0)
    rule = struct.pack("=Qi", reads, descriptor)
    _checked(libc.syscall(LANDLOCK_ADD, ruleset, LANDLOCK_PATH_BENEATH, rule, 0), "Landlock")
    os.close(descriptor)


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
