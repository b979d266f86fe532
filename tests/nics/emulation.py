"""What an emulated lab cannot do, in one place: rates, and a host's CPU for each of the guest's.

The guest's CPUs are threads that take turns on the host's, for milliseconds each. So a trial in it
is mostly invalid, and rightly so. Reasons that are about the host are let pass here, and no others:
what is lost, by whom, and whether counters agree, is asserted all the same.
"""

import re

LINK_BPS = 1_000_000_000
#: Of each direction: far below what a NIC in software and an emulated CPU carry.
LOW_PPS = 500

#: Each with why it says nothing about what is tested.
OF_THE_HOST = (
    # A tester that was away as the trial ended is late with its last frames: all are sent.
    r"offered below asked: .* the tester was saturated",
    r"took too long: .* s for .* s",
    # These say that a worker did not have its CPU: a vCPU has it half of the time.
    r"duration stretched by .*: the tester was off its CPU",
    r"\S+ was off its CPU for .* of the trial .*",
    r"\S+ was runnable and did not run for .* of the time: .*",
)


def not_of_the_host(reasons: list[str]) -> list[str]:
    """Reasons against a trial that are no fault of emulation."""
    return [one for one in reasons if not any(re.fullmatch(known, one) for known in OF_THE_HOST)]
