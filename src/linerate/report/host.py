"""Doubts about a run's figures because of the host: one line of its report, if any."""

import textwrap
from collections.abc import Sequence

from linerate.model.findings import Finding

_WIDTH = 80


def printable(text: str) -> str:
    """A host's file may say anything: nothing of it may steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def host_line(findings: Sequence[Finding]) -> str:
    """Doubts about a run's figures because of the host: one line, or nothing."""
    message = [f"{one.name}: {printable(one.found)}" for one in findings if one.heavy]
    if not message:
        return ""
    more = f" and {len(message) - 1} more" if len(message) > 1 else ""
    end = f"{more} (linerate doctor)"
    return textwrap.shorten(f"host: {message[0]}", _WIDTH - len(end), placeholder="…") + end
