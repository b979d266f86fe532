"""Values of a TRex stateful YAML; errors name the value in one line."""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linerate.traffic.profile import TrafficError

Json = Mapping[str, Any]


class StatefulDocument:
    """The file that is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refusal(self, where: str, what: str) -> TrafficError:
        """To be raised: `where` is what names the value."""
        return TrafficError(f"{self.path}: {where}: {what}" if where else f"{self.path}: {what}")

    def mapping(self, where: str, value: object, keys: set[str]) -> Json:
        """A mapping that has no other keys."""
        if not isinstance(value, dict):
            raise self.refusal(where, "expected a mapping")
        for key in value:
            if key not in keys:
                raise self.refusal(f"{where}.{key}".lstrip("."), "linerate does not have this")
        return value

    def number(self, where: str, mapping: Json, key: str, absent: float | None = None) -> float:
        """0 or more; required without `default`."""
        value = mapping.get(key, absent)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise self.refusal(f"{where}.{key}".lstrip("."), "expected a number, 0 or more")
        return float(value)

    def address(self, where: str, value: object) -> ipaddress.IPv4Address:
        """An IPv4 address."""
        try:
            return ipaddress.IPv4Address(str(value))
        except ValueError as error:
            raise self.refusal(where, f"expected an IPv4 address, not '{value}'") from error
