"""Writes debian/changelog of CHANGELOG.md: one entry a release, the unreleased one under VERSION.

Argument: the version. The changelog is read from standard input, Debian's is written to the output.
"""

import os
import re
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime

MAINTAINER = "linerate maintainers <maintainers@linerate.invalid>"
HEADING = re.compile(r"^## \[?(?P<version>[^\]\s]+)\]?(?: - (?P<date>\d{4}-\d\d-\d\d))?$", re.M)


def points(section: str) -> Iterator[str]:
    """The list of changes, each in one line."""
    for point in re.split(r"^- ", section, flags=re.M)[1:]:
        yield " ".join(re.split(r"^#", point, flags=re.M)[0].split())


def entry(version: str, when: datetime, changes: list[str]) -> str:
    """One release in the form of deb-changelog(5)."""
    lines = "\n".join(
        textwrap.fill(change, 76, initial_indent="  * ", subsequent_indent="    ")
        for change in changes
    )
    signed = f" -- {MAINTAINER}  {format_datetime(when)}"
    return f"linerate ({version}) unstable; urgency=medium\n\n{lines}\n\n{signed}\n"


def entries(text: str, version: str, now: datetime) -> Iterator[str]:
    """Entries of all releases that have changes, the newest first."""
    found = list(HEADING.finditer(text))
    ends = [*(heading.start() for heading in found[1:]), len(text)]
    for heading, end in zip(found, ends, strict=True):
        changes = list(points(text[heading.end() : end]))
        date = heading["date"]
        when = datetime.fromisoformat(date).replace(tzinfo=UTC) if date else now
        if changes:
            unreleased = heading["version"].lower() == "unreleased"
            yield entry(version if unreleased else heading["version"], when, changes)


def main() -> None:
    """Write the changelog of the text on standard input."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    print("\n".join(entries(sys.stdin.read(), sys.argv[1], now)), end="")


if __name__ == "__main__":
    main()
