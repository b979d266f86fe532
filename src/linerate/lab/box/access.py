"""Ways to run a command where a box is: here, in a namespace or container, or over ssh.

The system's ssh with its own configuration, agent and known hosts: nothing of it is turned off, and
no password is ever asked for or kept. One connection is held open for all commands.
"""

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.host.netns.privilege import search_path

#: Most bytes of an answer: a full routing table has some megabytes.
ANSWER_BYTES_MAX = 32 << 20
#: ssh gives up on a host that does not answer; a connection that is dead is noticed after two.
CONNECT_SECONDS = 10
ALIVE_SECONDS = 5
#: Pipes are looked at this often: a process that ended may have left them to another.
POLL_SECONDS = 0.1
#: An idle connection lasts so long, should no process be left to close it.
PERSIST_SECONDS = 60
#: ssh's own failures end with this status (ssh(1)).
SSH_FAILED = 255

_SSH = re.compile(r"ssh://(?:(?P<login>[^@]+)@)?(?P<host>\[[^]]+\]|[^:]+)(?::(?P<port>\d+))?")


class BoxError(SetupError):
    """A box that can't be reached, or did not answer; one line with the remedy."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended."""

    text: str
    #: Standard error.
    error: str
    status: int


@dataclass(frozen=True, slots=True)
class Access:
    """One place where commands run."""

    #: As in a testbed file: `local`, `ssh://root@box`.
    where: str
    #: Words before a command line.
    words: tuple[str, ...]
    #: Whether the words are ssh's, whose failures are no failures of a command.
    remote: bool = False

    def run(self, command: str, timeout_s: float) -> Ran:
        """Run a command line to its end. Raises BoxError when it has none, or there is no way."""
        ran = _ended([*self.words, command], timeout_s, self.where)
        if self.remote and ran.status == SSH_FAILED:
            raise BoxError(f"{self.where}: {_why(ran.error, self.where)}")
        return ran


@contextmanager
def opened(where: str) -> Iterator[Access]:
    """Open the way to a box; it is closed on exit. Raises BoxError."""
    kind, _, name = where.partition(":")
    if where == "local":
        yield Access(where, ("sh", "-c"))
    elif kind == "netns":
        yield Access(where, (_program("ip", "iproute2"), "netns", "exec", name, "sh", "-c"))
    elif kind == "container":
        yield Access(where, (_container_program(name), "exec", name, "sh", "-c"))
    else:
        with _ssh(where) as access:
            yield access


@contextmanager
def _ssh(where: str) -> Iterator[Access]:
    match = _SSH.fullmatch(where)
    if match is None:
        raise BoxError(f"{where}: expected ssh://LOGIN@HOST")
    ssh = _program("ssh", "openssh-client")
    host = match["host"].strip("[]")
    target = f"{match['login']}@{host}" if match["login"] else host
    # A socket's path has 107 bytes: a folder of ours, with a short name.
    folder = tempfile.mkdtemp(prefix="lr-", dir=os.environ.get("XDG_RUNTIME_DIR") or None)
    options = {
        # Nobody is there to answer: keys are the agent's, and unknown hosts are refused.
        "BatchMode": "yes",
        "ConnectTimeout": CONNECT_SECONDS,
        "ServerAliveInterval": ALIVE_SECONDS,
        "ServerAliveCountMax": 2,
        "ControlMaster": "auto",
        "ControlPath": f"{folder}/%C",
        "ControlPersist": PERSIST_SECONDS,
        "LogLevel": "ERROR",
    }
    words = [ssh, "-T", *(f"-o{key}={value}" for key, value in options.items())]
    words += ["-p", match["port"]] if match["port"] else []
    try:
        yield Access(where, (*words, "--", target), remote=True)
    finally:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [*words, "-O", "exit", "--", target],
                capture_output=True,
                timeout=CONNECT_SECONDS,
                check=False,
            )
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str, package: str) -> str:
    found = shutil.which(name, path=search_path())
    if found is None:
        raise BoxError(f"{name} is not installed: apt-get install {package}")
    return found


def _container_program(name: str) -> str:
    """The program that knows a running container of that name: docker, or podman."""
    asked = []
    for program in ("docker", "podman"):
        found = shutil.which(program, path=search_path())
        if found is None:
            continue
        asked.append(program)
        ran = _ended([found, "inspect", "--type", "container", name], CONNECT_SECONDS, program)
        if ran.status == 0:
            return found
    if not asked:
        raise BoxError(f"container:{name}: neither docker nor podman is installed")
    raise BoxError(f"container:{name}: {' and '.join(asked)} know no such container")


#: Words of ssh's errors, and what to do then.
_REMEDIES = (
    (r"host key verification failed|remote host identification has changed",
     "its host key is not known: run `ssh` to it once by hand and compare the key"),
    (r"permission denied", "login refused: add your key to its authorized_keys, and run ssh-agent"),
    (r"could not resolve", "no such host name"),
    (r"connection refused", "no ssh server answers there"),
    (r"timed out|timeout", "it does not answer"),
    (r"no route to host|network is unreachable", "no route to it"),
)  # fmt: skip


def _why(error: str, where: str) -> str:
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    for pattern, remedy in _REMEDIES:
        if re.search(pattern, error, re.IGNORECASE):
            return f"{remedy} ({lines[-1][:120]})"
    return lines[-1][:200] if lines else f"the connection to {where} was lost"


def _ended(words: list[str], timeout_s: float, where: str) -> Ran:
    """Run a program to its end, or end it. Raises BoxError."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C is for the lab, which then ends it.
            process_group=0,
            env=ownership.environment() | {"PATH": search_path(), "LC_ALL": "C"},
        )
    except OSError as error:
        raise BoxError(f"{where}: {Path(words[0]).name}: {error.strerror}") from error
    try:
        output, error_output = _read_both(process, time.monotonic() + timeout_s)
        status = process.wait(1)
    except _TooLongError as error:
        raise BoxError(f"{where}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise BoxError(f"{where}: no answer within {timeout_s:.0f} s") from error
    finally:
        _end(process)
    return Ran(output, error_output, status)


class _TooLongError(Exception):
    """An answer without end."""


def _read_both(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[str, str]:
    """Read what it writes until both ends are closed. Raises TimeoutExpired, _TooLongError."""
    assert process.stdout is not None
    assert process.stderr is not None
    parts: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    length = 0
    with selectors.DefaultSelector() as selector:
        for file in parts:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, 0)
            ended = process.poll() is not None
            ready = selector.select(0 if ended else min(left, POLL_SECONDS))
            if ended and not ready:
                # An ssh that stays in the background may hold the other end.
                break
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fd)
                parts[key.fd].append(chunk)
                length += len(chunk)
                if length > ANSWER_BYTES_MAX:
                    raise _TooLongError(f"an answer of over {ANSWER_BYTES_MAX >> 20} MiB")
    output, error = (b"".join(chunks).decode(errors="replace") for chunks in parts.values())
    return output, error


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End it and all that it started, should it still run."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for file in (process.stdout, process.stderr):
        if file is not None:
            file.close()
