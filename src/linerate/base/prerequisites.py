"""What a host lacks for a wire, a device or a tester: what is needed, and how to get it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that is missing."""

    #: Who needs what: `testpmd needs dpdk-testpmd`.
    what: str
    #: How to get it: a command, or what to do.
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.remedy}"


def of_refusal(line: str) -> Need:
    """What a refusal of the engine's says; what to install stands at its end, if that helps."""
    what, install, remedy = line.partition(": install ")
    return Need(what, f"install {remedy}" if install else "")
