"""Tables of ethtool: maximums first, then what is set."""

import re

from linerate.doctor.host import whole

_LINE = re.compile(r"^([\w ]+):\s*(\S+)\s*$")


def maximum_and_current(text: str, key: str) -> tuple[int | None, int | None]:
    """Read a key of `ethtool -g` or `-l`, which stands in both parts."""
    values: dict[bool, int | None] = {}
    current = False
    for line in text.splitlines():
        current = current or line.startswith("Current hardware settings")
        match = _LINE.match(line)
        if match and match[1].strip() == key:
            values.setdefault(current, whole(match[2]))
    return values.get(False), values.get(True)
