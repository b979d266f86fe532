"""Kind of a YAML file: ours, a TRex stateless one or a TRex stateful one."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from linerate.base import safe_load
from linerate.traffic.profile import TrafficError

SUFFIXES = (".yaml", ".yml")

Kind = Literal["ours", "stateless", "stateful", "none"]


def is_yaml(text: str) -> bool:
    """Whether it names a YAML file, there or not."""
    return Path(text).suffix.lower() in SUFFIXES


def read_yaml(text: str) -> Any:  # noqa: ANN401 (what YAML can hold)
    """Contents of a YAML file; raises TrafficError with the file and the line."""
    path = Path(text)
    try:
        now = path.stat()
        return _parsed(path, now.st_mtime_ns, now.st_size)
    except OSError as error:
        raise TrafficError(f"{text}: {(error.strerror or str(error)).lower()}") from error
    except safe_load.DocumentError as error:
        raise TrafficError(f"{text}: {error}") from error


@lru_cache(maxsize=1)
def _parsed(path: Path, _changed_ns: int, _size: int) -> Any:  # noqa: ANN401
    """Each kind of profile asks for the same file; the result is not modified."""
    return safe_load.read_yaml(path)


def kind_of_yaml(document: object) -> Kind:
    """Tell by its keys: `cap_info` is TRex stateful, a list of `stream` TRex stateless."""
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict):
        return "none"
    if "cap_info" in first:
        return "stateful"
    if isinstance(document, list):
        return "stateless" if "stream" in first else "none"
    return "ours"


def is_kind(text: str, kind: Kind) -> bool:
    """Whether a text names a YAML file of that kind; one that is no YAML is of none."""
    if not is_yaml(text):
        return False
    try:
        return kind_of_yaml(read_yaml(text)) == kind
    except TrafficError:
        return False
