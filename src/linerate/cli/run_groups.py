"""Runs of one device, by the words of a command line."""

from pathlib import Path

from linerate.results.store import Run, load_run


def group(words: str) -> list[tuple[str, Run]]:
    """Runs of one device: `A1,A2`, or a folder of runs; a folder may have a comma in its name."""
    names = [words] if Path(words).exists() else [name for name in words.split(",") if name]
    return [(name, load_run(run)) for path in names for name, run in _runs_in(Path(path))]


def _runs_in(path: Path) -> list[tuple[str, Path]]:
    """The runs of a folder of runs, each by that folder's name; anything else is one."""
    runs = sorted(found.parent for found in path.glob("*/run.json"))
    if not runs or (path / "run.json").exists():
        return [(folder_of(path).resolve().name, path)]
    return [(path.resolve().name, run) for run in runs]


def folder_of(run: Path) -> Path:
    """The folder of a run that may be given as its run.json."""
    return run if run.is_dir() else run.parent
