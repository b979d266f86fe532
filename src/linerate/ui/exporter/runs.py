"""The run of an engine: its configuration is in the run's folder."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linerate.base.open_beneath import open_beneath
from linerate.results.store import RUN_BYTES_MAX

CONFIG = ".config.json"
OF_DUT = "-dut"


@dataclass(frozen=True, slots=True)
class LastResult:
    """The trial that a run judged last."""

    trial: str
    valid: bool
    received_pps: float
    loss_ratio: float
    limit: str
    #: Power under load, and without; None where it was not measured.
    watts: float | None = None
    idle_watts: float | None = None
    nj_per_packet: float | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    """State of a run during the measurement."""

    #: Name of its folder.
    run: str
    suite: str
    #: Name of the loadtest that the engine was started for.
    loadtest: str
    last: LastResult | None = None

    @property
    def verdict(self) -> str:
        """The limit that the last verdict names; nothing before the first."""
        return self.last.limit if self.last else ""


#: A run's file, as it was when it was read.
_Version = tuple[int, int, int]


class Runs:
    """Finds the runs of engines; a run.json that did not change is not read again."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Version, dict[str, Any]]] = {}

    def of_engine(self, pid: int) -> RunState | None:
        """Find the run of an engine's process; None when no lab of ours started it."""
        config = _configuration(pid)
        if config is None or config.parent.name != "engine":
            return None
        folder = config.parent.parent
        run = self._read(folder / "run.json")
        if run is None:
            return None
        loadtest = config.name.removesuffix(CONFIG).removesuffix(OF_DUT)
        return RunState(folder.name, str(run.get("suite", "")), loadtest, _last(run))

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            with open_beneath(path.parent, path.name) as file:
                status = os.fstat(file.fileno())
                if status.st_size > RUN_BYTES_MAX:
                    return None
                version = (status.st_mtime_ns, status.st_size, status.st_ino)
                known = self._known.get(path)
                if known is not None and known[0] == version:
                    return known[1]
                run = json.loads(file.read().decode())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(run, dict):
            return None
        # One at a time is measured by a lab: older ones are of no use.
        if len(self._known) >= 8:
            self._known.clear()
        kept = {key: run.get(key) for key in ("suite",)} | {"results": _results(run)[-1:]}
        self._known[path] = (version, kept)
        return kept


def _configuration(pid: int) -> Path | None:
    """The file that an engine was started with: the last word of its command line."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        path = Path(os.fsdecode(words[-1]))
        return path if path.is_absolute() else Path(f"/proc/{pid}/cwd").resolve() / path
    except OSError:
        return None


def _results(run: dict[str, Any]) -> list[Any]:
    results = run.get("results")
    return results if isinstance(results, list) else []


def _last(run: dict[str, Any]) -> LastResult | None:
    """Sum the last result up; None when there is none, or none that can be read."""
    try:
        result = run["results"][-1]
        return LastResult(
            trial=str(result["trial"]),
            valid=bool(result["valid"]),
            received_pps=float(result["received_pps"]),
            loss_ratio=float(result["loss_percent"]) / 100,
            limit=str(result["verdict"]["limit"]),
            **_power(result.get("power")),
        )
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def _power(found: object) -> dict[str, float]:
    """Figures of power, as far as there are some."""
    if not isinstance(found, dict):
        return {}
    estimates = {name: found.get(name) for name in ("watts", "idle_watts", "nj_per_packet")}
    return {
        name: float(one["value"])
        for name, one in estimates.items()
        if isinstance(one, dict) and isinstance(one.get("value"), int | float)
    }
