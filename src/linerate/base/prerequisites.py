"""Prerequisites of a link, a device or a tester that a host lacks, and how to get them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """One thing that is missing."""

    #: The user and its prerequisite: `testpmd needs dpdk-testpmd`.
    what: str
    #: Remedy: a command, or a sentence.
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.remedy}"


def of_refusal(line: str) -> Prerequisite:
    """Prerequisite that a refusal of the engine names; the package to install is at its end."""
    what, install, remedy = line.partition(": install ")
    return Prerequisite(what, f"install {remedy}" if install else "")
