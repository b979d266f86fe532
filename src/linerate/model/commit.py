"""One commit of a repository of the user's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Commit:
    """Name and subject."""

    digits: str
    subject: str
    #: Date of its author's, as 2026-11-27; empty where it was not asked for.
    authored: str = ""
