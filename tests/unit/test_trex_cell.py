"""The sandbox of TRex profiles: allowed operations, and the report where it is unavailable."""

import ast
import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from linerate.traffic import TrafficError
from linerate.traffic.trex.profile_process import RUNNER, run_profile

#: Asks for everything, and says what was not refused.
ATTEMPTS = """
import ctypes, errno, fcntl, os, resource, signal, socket, tempfile, termios

TARGET, INTO = {target!r}, {into!r}
LIBC = ctypes.CDLL(None, use_errno=True)
PARENT = os.getppid()
READ, WRITE = os.pipe()


def call(*arguments):
    if LIBC.syscall(*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)) < 0:
        raise OSError(ctypes.get_errno(), "refused")


ATTEMPTS = dict(
    write=lambda: open(TARGET, "w"),
    append=lambda: open(TARGET, "a"),
    create=lambda: os.open(INTO + "/new", os.O_RDONLY | os.O_CREAT),
    emptied_on_opening=lambda: os.open(TARGET, os.O_RDONLY | os.O_TRUNC),
    unnamed=lambda: os.open(INTO, os.O_TMPFILE | os.O_RDWR),
    own_folder=lambda: open(os.environ["TMPDIR"] + "/own", "w"),
    own_memory=lambda: open("/proc/self/mem", "r+b"),
    openat2=lambda: call(437, -100, TARGET.encode(), bytes(24), 24),
    truncate=lambda: os.truncate(TARGET, 0),
    chmod=lambda: os.chmod(TARGET, 0),
    fchmod=lambda: os.fchmod(os.open(TARGET, os.O_RDONLY), 0),
    fchmodat2=lambda: call(452, -100, TARGET.encode(), 0, 0),
    chown=lambda: os.chown(TARGET, os.getuid(), os.getgid()),
    utime=lambda: os.utime(TARGET, (0, 0)),
    setxattr=lambda: os.setxattr(TARGET, "user.x", b"x"),
    removexattr=lambda: os.removexattr(TARGET, "user.kept"),
    unlink=lambda: os.unlink(TARGET),
    rename=lambda: os.rename(TARGET, TARGET + "-moved"),
    rename_into=lambda: os.rename(os.environ["TMPDIR"] + "/errors", INTO + "/errors"),
    link=lambda: os.link(TARGET, TARGET + "-linked"),
    link_into=lambda: os.link(os.environ["TMPDIR"] + "/errors", INTO + "/errors"),
    symlink=lambda: os.symlink(TARGET, TARGET + "-pointed"),
    mkdir=lambda: os.mkdir(INTO + "/folder"),
    rmdir=lambda: os.rmdir(INTO),
    mkfifo=lambda: os.mkfifo(INTO + "/pipe"),
    memory_without_a_limit=lambda: os.memfd_create("x"),
    flock=lambda: fcntl.flock(os.open(TARGET, os.O_RDONLY), fcntl.LOCK_EX),
    lock=lambda: fcntl.lockf(os.open(TARGET, os.O_RDONLY), fcntl.LOCK_SH),
    limit_of_parent=lambda: resource.prlimit(PARENT, resource.RLIMIT_CORE),
    raise_limit=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000)),
    is_parent_alive=lambda: os.kill(PARENT, 0),
    signal_of_a_pipe=lambda: fcntl.fcntl(READ, fcntl.F_SETOWN, PARENT),
    handle_of_parent=lambda: os.pidfd_open(PARENT),
    priority_of_parent=lambda: os.setpriority(os.PRIO_PROCESS, PARENT, 1),
    cpus_of_parent=lambda: os.sched_setaffinity(PARENT, os.sched_getaffinity(PARENT)),
    scheduler_of_parent=lambda: os.sched_setscheduler(PARENT, 0, os.sched_param(0)),
    fork=lambda: os.fork(),
    execute=lambda: os.execv("/bin/true", ["true"]),
    socket=lambda: socket.socket(),
    ring=lambda: call(425, 1, bytes(120)),
    namespace=lambda: LIBC.unshare(0x10000000) and call(272, 0x10000000),
    type_for_the_user=lambda: fcntl.ioctl(READ, termios.TIOCSTI, b"x"),
    a_later_kernels=lambda: call(600),
)
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOTTY)


def refused(attempt):
    try:
        attempt()
    except ValueError as error:
        return "not allowed to raise" in str(error)
    except OSError as error:
        return error.errno in REFUSED
    return False


def register():
    through = [name for name, attempt in ATTEMPTS.items() if not refused(attempt)]
    assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
    assert os.isatty(READ) is False
    raise RuntimeError(f"got through: {{through}}")
"""
SHIM = RUNNER.parent


def test_nothing_outside_is_touched(tmp_path: Path) -> None:
    into = tmp_path / "folder"
    into.mkdir()
    target = into / "target"
    target.write_text("kept")
    with contextlib.suppress(OSError):  # Some file systems have no attributes.
        os.setxattr(target, "user.kept", b"x")
    before = (target.stat(), into.stat().st_mtime_ns)
    profile = tmp_path / "other.py"
    profile.write_text(ATTEMPTS.format(target=str(target), into=str(into)))
    with pytest.raises(TrafficError, match=re.escape("RuntimeError: got through: []")):
        run_profile(profile, {})
    assert [one.name for one in into.iterdir()] == ["target"]
    assert target.read_text() == "kept"
    after = target.stat()
    assert after.st_mode == before[0].st_mode
    assert (after.st_mtime_ns, after.st_ctime_ns) == (before[0].st_mtime_ns, before[0].st_ctime_ns)
    assert into.stat().st_mtime_ns == before[1]


def shim(code: str, *arguments: str) -> str:
    """Output of a process of the runner's modules."""
    begin = f"import sys; sys.path.insert(0, {str(SHIM)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", begin + code, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("cell.SECCOMP_MODE_FILTER = 99", "seccomp: Invalid argument: a profile is not run without"),
        ("cell.PR_SET_NO_NEW_PRIVS = 9999", "no_new_privs: Invalid argument: a profile is not run"),
        ("cell.LANDLOCK_RESTRICT = 9999", "Landlock: Function not implemented: a profile is not run"),
        ("platform.machine = lambda: 'riscv64'", "for riscv64: run profiles on x86_64 or aarch64"),
    ],
)  # fmt: skip
def test_without_a_cell_nothing_runs(tmp_path: Path, broken: str, words: str) -> None:
    profile = tmp_path / "other.py"
    profile.write_text("raise RuntimeError('it ran')")
    code = f"import cell, platform, runner; {broken}; print(runner.run(sys.argv[1], {{}}, 5))"
    message = shim(code, str(profile))
    assert words in message
    assert "it ran" not in message


def test_without_landlock_the_filter_alone_refuses(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    profile = tmp_path / "other.py"
    profile.write_text(f"open({str(target)!r}, 'w')")
    code = "import cell, runner; cell.LANDLOCK_CREATE = 9999; print(runner.run(sys.argv[1], {}, 5))"
    message = shim(code, str(profile))
    # Where Python lies in root's home, no other user can run it.
    assert "PermissionError: [Errno" in message or "has no Landlock" in message
    assert target.read_text() == "kept"


READING = """
import os


def tried(path):
    try:
        open(path, "rb").read()
    except OSError:
        return "refused"
    return "read"


def listed(path):
    try:
        os.listdir(path)
    except OSError:
        return "refused"
    return "read"


results = {{path: tried(path) for path in {paths!r}}}
results |= {{path: listed(path) for path in {folders!r}}}
wrong = [path for path, what in {expected!r}.items() if results[path] != what]
raise RuntimeError(f"otherwise than expected: {{wrong}}")
"""


def test_only_python_and_its_own_folder_are_read(tmp_path: Path) -> None:
    """Also what all may read, and what a link in its folder leads to."""
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    (own / "beside").write_text("read")
    (other / "secret").write_text("secret")
    (own / "link").symlink_to(other / "secret")
    inside = [str(own / "beside"), str(RUNNER), os.__file__]
    outside = [str(other / "secret"), str(own / "link"), "/etc/passwd", "/etc/shadow",
               f"/proc/{os.getpid()}/environ", "/proc/self/environ"]  # fmt: skip
    folders = [str(other), "/root", "/"]
    expected = dict.fromkeys(inside, "read") | dict.fromkeys(outside + folders, "refused")
    profile = own / "profile.py"
    profile.write_text(READING.format(paths=inside + outside, folders=folders, expected=expected))
    with pytest.raises(TrafficError, match=re.escape("otherwise than expected: []")):
        run_profile(profile, {})


def test_root_is_not_who_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = tmp_path / "profile.py"
    profile.write_text("import os\nraise RuntimeError(f'{os.getresuid()} {os.getresgid()} "
                       "{os.getgroups()}')")  # fmt: skip
    for message, other in (("", 65534), ("4242", 4242), ("0", 65534), ("nonsense", 65534)):
        monkeypatch.setenv("SUDO_UID", message)
        user = other if os.geteuid() == 0 else os.getuid()
        with pytest.raises(TrafficError, match=re.escape(f"({user}, {user}, {user})")):
            run_profile(profile, {})


def test_without_landlock_no_profile_of_a_user_is_run(tmp_path: Path) -> None:
    profile = tmp_path / "other.py"
    profile.write_text("raise RuntimeError('it ran')")
    code = """
import cell, os, runner
cell.LANDLOCK_CREATE = 9999
os.geteuid = lambda: 1000
print(runner.run(sys.argv[1], {}, 5))
"""
    message = shim(code, str(profile))
    assert "this kernel has no Landlock" in message
    assert "it ran" not in message


def test_without_landlock_no_profile_reads_as_root(tmp_path: Path) -> None:
    profile = tmp_path / "other.py"
    profile.write_text("open('/etc/shadow')")
    code = "import cell, runner; cell.LANDLOCK_CREATE = 9999; print(runner.run(sys.argv[1], {}, 5))"
    message = shim(code, str(profile))
    assert "PermissionError" in message or "has no Landlock" in message


def landlock_version() -> int:
    code = "import ctypes; print(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1))"
    return int(shim(code))


def test_landlock_alone_refuses_too(tmp_path: Path) -> None:
    """TRUNCATE is of its third version."""
    if landlock_version() < 3:
        pytest.skip("the kernel's Landlock is older than version 3, or missing")
    target = tmp_path / "target"
    target.write_text("kept")
    code = """
import cell, os
cell._seccomp = lambda libc: None
cell.lock(5)
for attempt in (lambda: os.truncate(sys.argv[1], 0), lambda: os.unlink(sys.argv[1]),
                lambda: open(sys.argv[1], "a"), lambda: os.link(sys.argv[1], sys.argv[1] + "-linked"),
                lambda: open(f"/proc/{os.getppid()}/mem", "rb")):
    try:
        attempt()
        print("got through")
    except PermissionError:
        print("refused")
"""
    assert shim(code, str(target)).split() == ["refused"] * 5
    assert target.read_text() == "kept"


HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)


@pytest.mark.parametrize("machine", [0, 1])
def test_numbers_are_the_kernels(machine: int) -> None:
    if not HEADERS[machine].is_file():
        pytest.skip(f"{HEADERS[machine]} is missing")
    text = HEADERS[machine].read_text()
    # The first of two of a name: the second is that of 32 bits.
    known: dict[str, int] = {}
    for name, number in re.findall(r"#define\s+__NR(?:3264)?_(\w+)\s+(\d+)", text):
        known.setdefault(name, int(number))
    code = "from syscalls import *; print([REFUSED | ASKED, NEWER])"
    both, newer = ast.literal_eval(shim(code))
    assert {name: one[machine] for name, one in both.items()} == {
        name: known.get(name) for name in both
    }
    assert {name: known[name] for name in newer if name in known}.items() <= newer.items()
