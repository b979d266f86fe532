"""What an emulated lab can do: little. Its loads are low, and nothing is asserted of rates.

The guest's CPUs are threads that take turns on the host's, for milliseconds each, so that a trial in
it is mostly invalid, and rightly so. `linerate bench --accept-suspect` shows what was counted all the
same, unless anything but the machine speaks against the trial.
"""

LINK_BPS = 1_000_000_000
#: Of each direction: far below what a NIC in software and an emulated CPU carry.
LOW_PPS = 500
