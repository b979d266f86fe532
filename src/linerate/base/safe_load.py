"""Documents of others, YAML and JSON: read with limits, before anything is built of them.

A few lines of YAML can stand for billions of entries, a number can have thousands of digits, and
what is named as a file can be a pipe or a device that never ends.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from linerate.base.safe_open import read_regular
from linerate.base.validation import yaml_mistake

#: libyaml's, where PyYAML was built with it: thousands of streams take a second, not ten.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
BYTES_MAX = 1 << 24
DEPTH_MAX = 50
#: An alias stands for all that its anchor holds, which is counted each time.
ALIASES_MAX = 10_000
NODES_MAX = 400_000
#: 64 bits have 20; a rate with a fraction, and an exponent, has a few more.
DIGITS_MAX = 40
_DIGITS = re.compile(rf"\d[\d_]{{{DIGITS_MAX},}}")


class DocumentError(ValueError):
    """Error in a document, in one line, without the file's name."""


def read_yaml(path: Path, bytes_max: int = BYTES_MAX) -> Any:  # noqa: ANN401 (what YAML can hold)
    """Read a YAML file. Raises OSError, DocumentError."""
    return yaml_of(_text(path, bytes_max, "YAML"))


def read_json(path: Path, bytes_max: int = BYTES_MAX) -> Any:  # noqa: ANN401 (what JSON can hold)
    """Read a JSON file. Raises OSError, DocumentError."""
    return json_of(_text(path, bytes_max, "JSON"))


def read_text(path: Path, bytes_max: int = BYTES_MAX) -> str:
    """Read a text in UTF-8. Raises OSError, DocumentError."""
    return _text(path, bytes_max, "text")


def yaml_of(text: str) -> Any:  # noqa: ANN401 (what YAML can hold)
    """Contents of a YAML text. Raises DocumentError."""
    try:
        _check_events(text)
        return yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise DocumentError(yaml_mistake(error)) from error
    except DocumentError:
        raise
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        # For invalid dates, keys that are lists, and the like.
        raise DocumentError("expected YAML") from error


def json_of(text: str) -> Any:  # noqa: ANN401 (what JSON can hold)
    """Contents of a JSON text. Raises DocumentError."""
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise DocumentError(f"line {error.lineno}: expected JSON: {error.msg.lower()}") from error
    except RecursionError as error:
        raise DocumentError("expected JSON that is less deep") from error


def _text(path: Path, bytes_max: int, what: str) -> str:
    try:
        return read_regular(path, bytes_max).decode()
    except UnicodeDecodeError as error:
        raise DocumentError(f"expected {what} in UTF-8") from error


def _check_events(text: str) -> None:
    """Go through the text before anything is built: its events take no more room than itself."""
    sizes: dict[str | None, int] = {}
    #: Anchor and entries so far of each list and mapping that is open.
    open_ones: list[list[Any]] = [[None, 0]]
    aliases = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.events.CollectionStartEvent):
            open_ones.append([event.anchor, 1])
            _at_most(len(open_ones) - 1, DEPTH_MAX, "levels", event)
        elif isinstance(event, yaml.events.CollectionEndEvent):
            anchor, size = open_ones.pop()
            sizes[anchor] = size
            open_ones[-1][1] += size
        elif isinstance(event, yaml.events.AliasEvent):
            aliases += 1
            _at_most(aliases, ALIASES_MAX, "aliases", event)
            if any(anchor == event.anchor for anchor, _ in open_ones):
                raise DocumentError(f"{_line(event)}: expected no alias within what it stands for")
            # An alias counts with its whole content, as readers traverse it again.
            open_ones[-1][1] += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.events.ScalarEvent):
            sizes[event.anchor] = 1
            open_ones[-1][1] += 1
            if event.implicit[0]:
                _check_number(event)
        _at_most(open_ones[-1][1], NODES_MAX, "entries", event)


def _line(event: Any) -> str:  # noqa: ANN401 (of yaml)
    return f"line {event.start_mark.line + 1}"


def _at_most(count: int, most: int, what: str, event: Any) -> None:  # noqa: ANN401 (of yaml)
    if count > most:
        raise DocumentError(f"{_line(event)}: expected {most:,} {what} or fewer")


def _check_number(event: Any) -> None:  # noqa: ANN401 (of yaml)
    value = event.value
    if _DIGITS.match(value.lstrip("+-")) or (len(value) > DIGITS_MAX and _is_based(value)):
        raise DocumentError(f"{_line(event)}: expected a number of {DIGITS_MAX} digits or fewer")


def _is_based(value: str) -> bool:
    """A number in another base, or one of minutes and hours as YAML 1.1 has them."""
    return re.fullmatch(r"[+-]?(0[xb][\dA-Fa-f_]+|[\d:_.]+)", value) is not None


def _whole(digits: str) -> int:
    if len(digits) > DIGITS_MAX:
        raise DocumentError(f"expected a number of {DIGITS_MAX} digits or fewer")
    return int(digits)


def _no_number(name: str) -> Callable[[], None]:
    raise DocumentError(f"expected a number, not {name}")
