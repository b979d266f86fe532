"""Tables of ethtool: maximums first, then what is set; and features."""

import re

from linerate.host.doctor.host_view import Host, whole

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


def features(host: Host, interface: str) -> dict[str, str]:
    """Offloads of a kernel's driver: `on`, `off`, and `[fixed]` where that can't be changed."""
    lines = (host.output("ethtool", "-k", interface) or "").splitlines()[1:]
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}
