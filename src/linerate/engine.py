"""Process control of linerate-engine: start, ready, stop, and nothing left behind."""

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from linerate import marks
from linerate.errors import ToldError
from linerate.signals import held_back
from linerate.telemetry import Telemetry, TelemetryError, TurnedAwayError

READY_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 5.0
#: So long other clients may have all places of its control socket.
CONNECT_SECONDS = 5.0
#: A folder without a socket may belong to an engine that is just starting.
STARTING_SECONDS = 120.0
FOLDER_PREFIX = "linerate-"


class EngineError(ToldError):
    """The engine is missing, could not start, or stopped by itself."""


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


def _runtime_bases() -> list[Path]:
    """Where DPDK makes folders; $LINERATE_RUNTIME names another place, and the only one then."""
    if chosen := os.environ.get("LINERATE_RUNTIME"):
        return [Path(chosen)]
    bases = [Path("/var/run/dpdk"), Path("/tmp/dpdk")]
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        bases.insert(1, Path(runtime) / "dpdk")
    return bases


def runtime_folders() -> list[Path]:
    """Folders in which engines have their sockets."""
    found = []
    for base in _runtime_bases():
        with contextlib.suppress(OSError):
            found += [path for path in sorted(base.iterdir()) if _is_ours(path)]
    return found


def engine_sockets() -> tuple[dict[str, Path], list[Path]]:
    """Names and sockets of engines that may run, and places that may not be looked into.

    Nobody is connected to, so that a look takes no client's place: the engine may be gone.
    """
    sockets, refused = {}, []
    for base in _runtime_bases():
        try:
            folders = [path for path in sorted(base.iterdir()) if _is_ours(path)]
        except PermissionError:
            refused.append(base)
            continue
        except OSError:
            continue
        for folder in folders:
            if not os.access(folder, os.R_OK | os.X_OK):
                refused.append(folder)
            elif path := _socket_in(folder):
                sockets[folder.name.removeprefix(FOLDER_PREFIX)] = path
    return sockets, refused


def _environment() -> dict[str, str]:
    """What the engine inherits; not a runtime directory of somebody else.

    `su` and `sudo` leave XDG_RUNTIME_DIR as it was, and DPDK would insist on it;
    without it, it uses /tmp/dpdk.
    """
    environment = marks.environment()
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if not os.access(runtime, os.W_OK | os.X_OK):
        environment.pop("XDG_RUNTIME_DIR", None)
    return environment


def _is_ours(folder: Path) -> bool:
    return folder.name.startswith(FOLDER_PREFIX) and folder.is_dir() and not folder.is_symlink()


def _socket_in(folder: Path) -> Path | None:
    """Find the telemetry socket: with a suffix when several processes share a folder."""
    return next(iter(sorted(folder.glob("dpdk_telemetry.v2*"))), None)


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
    engines = {}
    for folder in runtime_folders():
        path = _socket_in(folder)
        if path is not None and _listens(path):
            engines[folder.name.removeprefix(FOLDER_PREFIX)] = path
    return engines


def dead_folders() -> list[Path]:
    """Find the folders of engines that were killed."""
    found = []
    for folder in runtime_folders():
        path = _socket_in(folder)
        with contextlib.suppress(OSError):
            young = time.time() - folder.stat().st_mtime < STARTING_SECONDS
            dead = not _listens(path) if path else not young
            if dead:
                found.append(folder)
    return found


def sweep() -> list[Path]:
    """Remove the folders of engines that were killed; returns what was removed."""
    removed = dead_folders()
    for folder in removed:
        shutil.rmtree(folder, ignore_errors=True)
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            # In its own process group: Ctrl-C is for the lab, which then stops the engine.
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
        raise EngineError(f"the engine was not ready after {READY_TIMEOUT_SECONDS:.0f} s")

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
        """Why it stopped, in one line: what it said last, its exit code."""
        code = self._process.poll() if self._process else None
        try:
            lines = self._keep.log.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            lines = []
        said = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        if code is None:
            return said
        if code < 0:
            return f"killed by {signal.Signals(-code).name}; {said}"
        return f"exit code {code}; {said}"

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
        folders = [self._folder] if self._folder else runtime_folders()
        for folder in folders:
            if folder.name == FOLDER_PREFIX + self.name:
                shutil.rmtree(folder, ignore_errors=True)


def _ready_line(line: str) -> dict[str, Any]:
    try:
        ready = json.loads(line.removeprefix("ready:"))
        Path(ready["socket"])
    except (ValueError, KeyError, TypeError) as error:
        raise EngineError(f"the engine's ready line is odd: {line.strip()!r}") from error
    return dict(ready)


def refusal(config: dict[str, Any]) -> str:
    """Why the engine can't do what a configuration asks for, in one line; nothing if it can."""
    with tempfile.TemporaryDirectory(prefix="linerate-") as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        said = subprocess.run(
            [executable(), "--check", path], capture_output=True, text=True, check=False
        )
    if said.returncode == 0:
        return ""
    lines = said.stderr.strip().splitlines() or ["it said nothing"]
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
