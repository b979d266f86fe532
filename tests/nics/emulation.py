"""Limits of an emulated lab: its loads are low, and no rates are asserted.

The guest's CPUs are threads that take turns on the host's, for milliseconds each, so that a trial in
it is mostly invalid, and rightly so. `linerate bench --accept-suspect` shows what was counted all the
same, unless anything but the machine speaks against the trial.
"""

LINK_BPS = 1_000_000_000
#: Rate of each direction: far below that of a NIC in software and an emulated CPU.
LOW_PPS = 500
