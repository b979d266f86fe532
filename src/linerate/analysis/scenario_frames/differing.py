"""Differences between a received frame and the expected one, field by field."""

from collections.abc import Iterator
from typing import NamedTuple

from linerate.analysis.scenario_frames.expected import Expected
from linerate.model.frame_layers import Packet, Value


class Difference(NamedTuple):
    """A field, or all headers, that are not as expected."""

    name: str
    expected: str
    received: str

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.name}: expected {self.expected}, received {self.received}"


def differences(expected: Expected, received: Packet, whole: bool = True) -> list[Difference]:
    """Fields that differ, the outermost first; without `whole` those of the first headers alone."""
    wanted = expected.packet
    names = received.names if whole else received.names[: len(wanted.layers)]
    if names != wanted.names:
        return [Difference("headers", wanted.text, received.text)]
    return list(_of_fields(expected, received))


def _of_fields(expected: Expected, received: Packet) -> Iterator[Difference]:
    for (name, wanted), (_, layer) in zip(expected.packet.named(), received.named(), strict=False):
        for key, value in layer.fields.items():
            field = f"{name}.{key}"
            if field in expected.one_of:
                choices = expected.one_of[field]
                if value not in choices:
                    yield Difference(field, " or ".join(map(_shown, choices)), _shown(value))
            elif key in wanted.fields and wanted.fields[key] != value:
                yield Difference(field, _shown(wanted.fields[key]), _shown(value))
            elif key not in wanted.fields and value == "bad":
                yield Difference(field, "good", "bad")
        for key in wanted.fields:
            if key not in layer.fields:
                yield Difference(f"{name}.{key}", _shown(wanted.fields[key]), "none")


def _shown(value: Value) -> str:
    return str(value)
