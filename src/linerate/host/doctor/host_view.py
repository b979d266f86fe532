"""A host to look at: files of /proc and /sys and outputs of commands, below a root folder.

The root is `/`, or a folder with a recorded host: its files at their paths, outputs of commands
in `commands/`, and in `later/` the files that were read a second time. Nothing here raises
because a file is missing, unreadable or nonsense: readers get None, and `trouble` says why.
"""

import contextlib
import os
import subprocess
import time
from io import FileIO
from pathlib import Path

#: No file or output that is read here is larger, but a broken one may be.
_MAX_BYTES = 4 << 20
_PIECE_BYTES = 65536
#: Entries of one folder that are looked at.
_MAX_NAMES = 65536
_COMMAND_SECONDS = 5.0
_SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"


class UnknownError(Exception):
    """A check can't be made; says why."""


def command_file(command: tuple[str, ...]) -> str:
    """Name the file that holds the output of a command in a recorded host."""
    return "_".join(command).replace("/", "_") + ".txt"


class Host:
    """A live or a recorded host."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self._outputs: dict[tuple[str, ...], str | None] = {}
        self._troubles: dict[str, str] = {}

    @property
    def live(self) -> bool:
        """Whether it is this one."""
        return self.root == Path("/")

    def at(self, path: str) -> Path:
        """Say where a file of the host is."""
        return self.root / path.lstrip("/")

    def read(self, path: str) -> str | None:
        """Contents of a file, without blanks around it; None when it can't be read."""
        try:
            # A recorded host may hold anything: a FIFO must not block.
            handle = os.open(self.at(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb", buffering=0) as file:
                data = _read_all(file)
        except (OSError, ValueError) as error:
            self._note(path, error)
            return None
        return data.decode(errors="replace").strip()

    def need(self, path: str) -> str:
        """Contents of a file; raises UnknownError."""
        text = self.read(path)
        if text is None:
            raise UnknownError(f"{path}: {self.trouble(path)}")
        return text

    def number(self, path: str) -> int | None:
        """The whole number that a file holds; None when there is none."""
        return whole(self.read(path))

    def names(self, path: str) -> tuple[str, ...]:
        """Entries of a folder, sorted; none when it can't be read."""
        try:
            with os.scandir(self.at(path)) as entries:
                found = [entry.name for _, entry in zip(range(_MAX_NAMES), entries, strict=False)]
        except (OSError, ValueError) as error:
            self._note(path, error)
            return ()
        return tuple(sorted(found))

    def target(self, path: str) -> str | None:
        """Last part of what a link leads to; recorded, a file may hold it."""
        try:
            return self.at(path).readlink().name or None
        except (OSError, ValueError):
            text = self.read(path)
        return text.split()[0].rpartition("/")[2] or None if text else None

    def output(self, *command: str) -> str | None:
        """Output of a command; None when it is not installed, fails, or was not recorded."""
        if command not in self._outputs:
            self._outputs[command] = self._run(command)
        return self._outputs[command]

    def forget(self) -> None:
        """Run commands anew."""
        self._outputs.clear()

    def need_output(self, *command: str) -> str:
        """Output of a command; raises UnknownError."""
        text = self.output(*command)
        if text is None:
            raise UnknownError(f"{' '.join(command)}: {self.trouble(' '.join(command))}")
        return text

    def trouble(self, what: str) -> str:
        """Why a path or a command (in words) gave nothing."""
        return self._troubles.get(what, "gave nothing")

    def later(self, seconds: float) -> "Host | None":
        """The same host after a while; None when it was recorded only once."""
        if self.live:
            time.sleep(seconds)
            return self
        return Host(self.root / "later") if (self.root / "later").is_dir() else None

    def _run(self, command: tuple[str, ...]) -> str | None:
        if not self.live:
            text = self.read("commands/" + command_file(command))
            if text is None:
                self._troubles[" ".join(command)] = "was not recorded"
            return text
        environment = os.environ | {"LC_ALL": "C", "PATH": os.environ.get("PATH", "") + _SBIN}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_COMMAND_SECONDS,
                env=environment,
                check=False,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._note(" ".join(command), error)
            return None
        if done.returncode:
            printed = done.stderr.decode(errors="replace").strip().splitlines()
            self._troubles[" ".join(command)] = (
                printed[-1] if printed else f"exit {done.returncode}"
            )
            return None
        return done.stdout[:_MAX_BYTES].decode(errors="replace").strip()

    def _note(self, what: str, error: Exception) -> None:
        text = error.strerror if isinstance(error, OSError) else None
        self._troubles[what] = (text or str(error) or type(error).__name__).lower()


class RecordingHost(Host):
    """The live host, and a copy below a folder of all that was read of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def read(self, path: str) -> str | None:
        """Read, and keep."""
        text = super().read(path)
        if text is not None:
            self._keep(path, text)
        return text

    def names(self, path: str) -> tuple[str, ...]:
        """List, and keep the names: as folders, until one turns out to be a file."""
        found = super().names(path)
        for name in found:
            with contextlib.suppress(OSError):
                (self._folder / path.lstrip("/") / name).mkdir(parents=True)
        return found

    def target(self, path: str) -> str | None:
        """Read a link, and keep where it leads."""
        found = super().target(path)
        if found is not None:
            self._keep(path, found)
        return found

    def output(self, *command: str) -> str | None:
        """Run, and keep."""
        text = super().output(*command)
        if text is not None:
            self._keep("commands/" + command_file(command), text)
        return text

    def later(self, seconds: float) -> Host:
        """Record what follows as read later."""
        time.sleep(seconds)
        return RecordingHost(self._folder / "later")

    def _keep(self, path: str, text: str) -> None:
        file = self._folder / path.lstrip("/")
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_dir():
                file.rmdir()
            file.write_text(text + "\n", encoding="utf-8")


def _read_all(file: FileIO) -> bytes:
    """Read in pieces: files of /proc/sys refuse to be read 4 MiB at once (ENOMEM)."""
    data = b""
    while len(data) < _MAX_BYTES and (piece := file.read(_PIECE_BYTES)):
        data += piece
    return data[:_MAX_BYTES]


def whole(text: str | None) -> int | None:
    """Read a whole number; None for anything else, and for one that no file of the kernel has."""
    digits = (text or "").strip()
    if not digits.removeprefix("-").isascii() or not digits.removeprefix("-").isdigit():
        return None
    return int(digits) if len(digits) <= 20 else None
