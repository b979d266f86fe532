"""Process control of linerate-engine: start, ready, stop, and nothing left behind."""

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from linerate.base import ownership
from linerate.base.errors import UserError
from linerate.base.signals import held_back
from linerate.engine.telemetry import Telemetry, TelemetryError, TurnedAwayError
from linerate.host import dpdk_log, dpdk_runtime

READY_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 5.0
#: So long other clients may have all places of its control socket.
CONNECT_SECONDS = 5.0
#: A folder without a socket may belong to an engine that is just starting.
STARTING_SECONDS = 120.0
FOLDER_PREFIX = "linerate-"
#: See own_prefix.
_OF_LAB = re.compile(FOLDER_PREFIX + r"bench-(\d{1,10})-\d+(-.*)?")


class EngineError(UserError):
    """The engine is missing, could not start, or stopped by itself."""


class NotReadyError(EngineError):
    """The engine was given no CPU to start: it may be, the next time."""


def executable() -> Path:
    """Find the engine: $LINERATE_ENGINE, or the one installed with this package."""
    chosen = os.environ.get("LINERATE_ENGINE")
    path = Path(chosen) if chosen else Path(str(files("linerate"))) / "bin" / "linerate-engine"
    if not os.access(path, os.X_OK):
        hint = "LINERATE_ENGINE names it" if chosen else "build it with `make build`"
        raise EngineError(f"{path}: no such program ({hint})")
    return path


def companion(name: str) -> Path:
    """Find a program that is built with the engine: beside it, or in a build folder's bench/."""
    engine = executable()
    for folder in (engine.parent, engine.parent.parent / "bench"):
        if (folder / name).exists():
            return folder / name
    raise EngineError(f"{name} is not beside {engine}: build it with `make build`")


def runtime_folders() -> list[Path]:
    """Folders in which engines have their sockets."""
    found = []
    for base in dpdk_runtime.bases():
        with contextlib.suppress(OSError):
            found += dpdk_runtime.folders(base, FOLDER_PREFIX)
    return found


def engine_sockets() -> tuple[dict[str, Path], list[Path]]:
    """Names and sockets of engines that may run, and places that may not be looked into.

    Nobody is connected to, so that a look takes no client's place: the engine may be gone.
    """
    sockets, refused = {}, []
    for base in dpdk_runtime.bases():
        try:
            folders = dpdk_runtime.folders(base, FOLDER_PREFIX)
        except PermissionError:
            refused.append(base)
            continue
        except OSError:
            continue
        for folder in folders:
            try:
                path = _socket_in(folder)
            except PermissionError:
                refused.append(folder)
                continue
            if path:
                sockets[folder.name.removeprefix(FOLDER_PREFIX)] = path
    return sockets, refused


def _environment() -> dict[str, str]:
    """Environment of the engine; not another user's runtime directory.

    `su` and `sudo` leave XDG_RUNTIME_DIR as it was, and DPDK would insist on it;
    without it, it uses /tmp/dpdk (see dpdk_runtime).
    """
    environment = ownership.environment()
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if not os.access(runtime, os.W_OK | os.X_OK):
        environment.pop("XDG_RUNTIME_DIR", None)
    return environment


def _socket_in(folder: Path) -> Path | None:
    """Find the telemetry socket, with a suffix when several processes share a folder.

    Raises PermissionError.
    """
    try:
        return next(iter(dpdk_runtime.files(folder, "dpdk_telemetry.v2")), None)
    except PermissionError:
        raise
    except OSError:
        return None


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (TimeoutError, BlockingIOError):
            # As many wait to be let in as it lets wait: it is busy, and lives.
            return True
        except OSError:
            return False
    return True


def live_engines() -> dict[str, Path]:
    """Names and sockets of the engines that run on this host now."""
    return {name: path for name, path in engine_sockets()[0].items() if _listens(path)}


def dead_folders() -> list[Path]:
    """Find the folders of engines that were killed."""
    found = []
    for folder in runtime_folders():
        with contextlib.suppress(OSError):
            path = _socket_in(folder)
            if not _listens(path) if path else not _may_start(folder):
                found.append(folder)
    return found


def _may_start(folder: Path) -> bool:
    """Whether an engine may be about to listen in a folder; none does that a dead lab started."""
    lab = _OF_LAB.fullmatch(folder.name)
    if lab is not None and ownership.started(int(lab[1])) is None:
        return False
    return time.time() - folder.stat().st_mtime < STARTING_SECONDS


def own_prefix() -> str:
    """Begin the names of this process's engines: those of two labs on one host must differ."""
    return f"bench-{os.getpid()}-"


def own_folders() -> list[Path]:
    """Find the folders of this process's engines."""
    prefix = FOLDER_PREFIX + own_prefix()
    return [folder for folder in runtime_folders() if folder.name.startswith(prefix)]


def sweep() -> list[Path]:
    """Remove the folders of engines that were killed; returns what was removed."""
    removed = dead_folders()
    for folder in removed:
        dpdk_runtime.remove(folder)
    return removed


@dataclass(frozen=True, slots=True)
class Files:
    """Where one engine's configuration and words are kept."""

    config: Path
    log: Path


class Engine:
    """One running engine; a context manager that leaves nothing behind."""

    def __init__(self, config: dict[str, Any], keep: Files, cpus: tuple[int, ...] = ()) -> None:
        """`cpus` are those that the engine may use; the lab itself may be on fewer."""
        self._config = config
        self._keep = keep
        self._cpus = cpus
        self._process: subprocess.Popen[str] | None = None
        self._folder: Path | None = None
        self.ready: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """Its name in the configuration."""
        return str(self._config.get("name", "engine"))

    @property
    def pid(self) -> int:
        """Process id, 0 when it does not run."""
        return self._process.pid if self._process else 0

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        program = executable()
        self._keep.config.write_text(json.dumps(self._config, indent=1) + "\n", encoding="utf-8")
        command = [str(program), "--parent", str(os.getpid()), str(self._keep.config)]
        with (
            held_back(),
            self._keep.log.open("w", encoding="utf-8") as log,
            _affinity(self._cpus),
        ):
            # In its own process group: Ctrl-C is for the lab, which then stops the engine. Not in
            # a session of its own: sessions share a CPU evenly, whatever their threads' nice, and
            # the lab would take half of the tester's.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                process_group=0,
                env=_environment(),
            )
        self.ready = self._wait_ready(self._process)
        self._folder = Path(self.ready["socket"]).parent

    def _wait_ready(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        assert process.stdout is not None
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                if not selector.select(timeout=0.5):
                    continue
                line = process.stdout.readline()
                if line.startswith("ready:"):
                    return _ready_line(line)
                if not line:
                    process.wait(STOP_TIMEOUT_SECONDS)
                    raise EngineError(f"the engine did not start: {self.last_words()}")
        raise NotReadyError(f"the engine was not ready after {READY_TIMEOUT_SECONDS:.0f} s")

    def connect(self) -> Telemetry:
        """Open a connection to its control socket.

        DPDK serves ten clients and turns others away: who only looks leaves soon, so it is tried
        for a while.
        """
        deadline = time.monotonic() + CONNECT_SECONDS
        while True:
            try:
                return Telemetry(Path(self.ready["socket"]))
            except TurnedAwayError as error:
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"{error}; ten clients hold its places: end those that only watch"
                    ) from error
                time.sleep(0.05)
            except TelemetryError as error:
                raise EngineError(f"{error}; {self.last_words()}") from error

    def last_words(self) -> str:
        """Why it stopped, in one line: what its log says of that, its exit code."""
        code = self._process.poll() if self._process else None
        try:
            log = self._keep.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            log = ""
        output = dpdk_log.cause(log)
        if code is None:
            return output
        if code < 0:
            return f"killed by {signal.Signals(-code).name}; {output}"
        return f"exit code {code}; {output}"

    def stop(self) -> None:
        """Stop it, politely first, and remove its runtime folder whatever happened."""
        try:
            if self._process is not None:
                self._end(self._process)
        finally:
            self._process = None
            self._remove_folder()

    def _end(self, process: subprocess.Popen[str]) -> None:
        """End the process, even if we are interrupted while we wait for it."""
        try:
            process.terminate()
            process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _remove_folder(self) -> None:
        with held_back():
            folders = [self._folder] if self._folder else runtime_folders()
            for folder in folders:
                if folder.name == FOLDER_PREFIX + self.name:
                    dpdk_runtime.remove(folder)


def _ready_line(line: str) -> dict[str, Any]:
    try:
        ready = json.loads(line.removeprefix("ready:"))
        Path(ready["socket"])
    except (ValueError, KeyError, TypeError) as error:
        raise EngineError(f"the engine's ready line is odd: {line.strip()!r}") from error
    return dict(ready)


def refusal(config: dict[str, Any]) -> str:
    """Why the engine can't do what a configuration asks for, in one line; nothing if it can."""
    with ownership.temporary_folder("check") as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        output = subprocess.run(
            [executable(), "--check", path], capture_output=True, text=True, check=False
        )
    if output.returncode == 0:
        return ""
    lines = output.stderr.strip().splitlines() or ["no output"]
    return f"this engine: {lines[0].removeprefix(f'{path}: ')}"


@contextlib.contextmanager
def _affinity(cpus: tuple[int, ...]) -> Iterator[None]:
    """Let a child start on `cpus`, while the lab keeps to its own."""
    own = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)
