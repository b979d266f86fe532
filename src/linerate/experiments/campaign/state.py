"""The folder of a campaign's state, beside its results: the seed of its order, what `status` shows.

Which units are done is no part of it: the dataset alone knows.
"""

import fcntl
import hashlib
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from linerate.base.atomic_write import write_whole
from linerate.base.errors import UserError
from linerate.base.safe_load import DocumentError, json_of
from linerate.base.safe_open import read_regular
from linerate.host import cpu_locks
from linerate.model.campaign import CampaignState

STATE_BYTES_MAX = 16 << 20
#: Files of the folder.
STATE, STOP = "state.json", "stop"


class CampaignStateError(UserError):
    """State that can't be read or written, or belongs to another `run`."""


def state_of(content: bytes, source: str) -> CampaignState:
    """Read the content of a state's file. Raises CampaignStateError."""
    try:
        return CampaignState.model_validate(json_of(content.decode()))
    except (DocumentError, UnicodeDecodeError, ValidationError) as error:
        raise CampaignStateError(
            f"{source}: not a campaign's state; move it away: results are kept without it"
        ) from error


class StateFolder:
    """The folder of a campaign's state, below its dataset."""

    def __init__(self, dataset: str, name: str) -> None:
        self.url = f"{dataset.rstrip('/')}/campaigns/{name}"
        self._files: _Files = _Local(Path(self.url)) if "://" not in dataset else _Store(self.url)

    def read(self) -> CampaignState | None:
        """Read the state; None where no `run` has begun. Raises CampaignStateError."""
        try:
            return state_of(self._files.read(STATE), f"{self.url}/{STATE}")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CampaignStateError(f"{self.url}: {_why(error)}") from error

    def write(self, state: CampaignState) -> None:
        """Write the state, whole or not at all. Raises CampaignStateError."""
        self._written(STATE, state.model_dump_json(indent=1))

    def ask_stop(self) -> None:
        """Ask the `run` that goes on to stop, wherever it is. Raises CampaignStateError."""
        self._written(STOP, "stop")

    def stop_asked(self) -> bool:
        """Whether that was asked."""
        return self._files.has(STOP)

    def forget_stop(self) -> None:
        """Take that back."""
        if self.stop_asked():
            self._files.remove(STOP)

    def _written(self, name: str, text: str) -> None:
        try:
            self._files.write(name, text)
        except OSError as error:
            raise CampaignStateError(f"{self.url}: {_why(error)}") from error

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only `run` of this campaign on this machine. Raises CampaignStateError."""
        digest = hashlib.sha256(self.url.encode()).hexdigest()[:24]
        with (cpu_locks.made_folder() / f"campaign-{digest}").open("a", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CampaignStateError(
                    "this campaign is being run already: `linerate campaign status` shows it, "
                    "`linerate campaign stop` ends it"
                ) from None
            state = self.read()
            if state is not None and state.alive() and state.host != platform.node():
                raise CampaignStateError(f"this campaign is being run on {state.host} already")
            yield


class _Files(Protocol):
    """Files of a state, by name."""

    def read(self, name: str) -> bytes:
        """Read one. Raises OSError."""

    def write(self, name: str, text: str) -> None:
        """Write one, whole or not at all. Raises OSError."""

    def has(self, name: str) -> bool:
        """Whether it is there."""

    def remove(self, name: str) -> None:
        """Remove one."""


class _Local:
    """In a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes:
        return read_regular(self._folder / name, STATE_BYTES_MAX)

    def write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._folder / name, text)

    def has(self, name: str) -> bool:
        return (self._folder / name).exists()

    def remove(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)


class _Store:
    """In a store of fsspec's."""

    def __init__(self, url: str) -> None:
        import fsspec  # noqa: PLC0415 (slow to load)

        try:
            self._store, self._path = fsspec.url_to_fs(url, use_listings_cache=False)
        except (ImportError, ValueError, OSError) as error:
            raise CampaignStateError(f"{url}: {error}") from error

    def read(self, name: str) -> bytes:
        content: bytes = self._store.cat_file(f"{self._path}/{name}", end=STATE_BYTES_MAX)
        return content

    def write(self, name: str, text: str) -> None:
        self._store.makedirs(self._path, exist_ok=True)
        self._store.pipe_file(f"{self._path}/{name}", text.encode())

    def has(self, name: str) -> bool:
        return bool(self._store.exists(f"{self._path}/{name}"))

    def remove(self, name: str) -> None:
        self._store.rm_file(f"{self._path}/{name}")


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
