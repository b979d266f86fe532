"""`STLProfile.load_pcap`: each packet of a capture once, and all of them again."""

import os
from itertools import islice, pairwise
from typing import Any

from packets import ProfileError
from scapy.utils import RawPcapReader

#: Each packet becomes a stream with a schedule of its own.
PACKETS_MAX = 256
SUFFIXES = (".pcap", ".pcapng", ".cap")
CAPTURES_MAX = 1000
#: Rate of a capture without duration.
AT_ONCE_PPS = 1e6


def path_of(name: str, relative: bool = False) -> str:
    """The file of that name in the current folder, the profile's, or the one above."""
    profile = os.environ["PROFILE_FOLDER"]
    folders = [os.environ["PROFILE_CWD"], os.path.dirname(profile), profile]
    for folder in folders[::-1] if relative else folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise ProfileError(f"{name}: no such file")


def captures_beside() -> list[str]:
    """Captures in the current folder and the one above the profile's, which profiles may name."""
    if "PROFILE_FOLDER" not in os.environ:
        return []
    folders = (os.environ["PROFILE_CWD"], os.path.dirname(os.environ["PROFILE_FOLDER"]))
    found = (one for folder in folders for one in _files(folder) if one.endswith(SUFFIXES))
    return list(islice(found, CAPTURES_MAX))


def _files(folder: str) -> list[str]:
    """Files in a folder; a link is none, whatever it leads to."""
    try:
        with os.scandir(folder) as entries:
            return sorted(one.path for one in entries if one.is_file(follow_symlinks=False))
    except OSError:
        return []


class Replayed:
    """Packets, and how long after the one before each of them is sent."""

    def __init__(
        self, name: str, ipg_usec: Any, min_ipg_usec: Any, speedup: float, loop_count: int
    ) -> None:
        """Read a capture; its own gaps where `ipg_usec` is None."""
        self._name = name
        if not speedup > 0:
            raise self.refused("speedup: expected more than 0")
        if loop_count < 0 or (ipg_usec or 0) < 0 or (min_ipg_usec or 0) < 0:
            raise self.refused("expected no negative numbers")
        with RawPcapReader(path_of(name)) as reader:
            read = list(islice(reader, PACKETS_MAX + 1))
        if len(read) > PACKETS_MAX:
            raise self.refused(
                f"expected {PACKETS_MAX} packets or fewer; give the pcap itself as --traffic"
            )
        if not read:
            raise self.refused("no packet in it")
        self.packets = [data for data, _ in read]
        times = [_microseconds(meta) for _, meta in read]
        if ipg_usec is None:
            between = [after - at for at, after in pairwise(times)]
            gaps = [0.0, *(gap / speedup for gap in between)]
            self.gaps_us = [max(gap, min_ipg_usec or 0.0) for gap in gaps]
        else:
            # As TRex has it: the least gap stands instead of the given one.
            self.gaps_us = [float(min_ipg_usec or ipg_usec / speedup)] * len(read)

    @property
    def pps(self) -> float:
        """Rate of each packet, which comes once in a lap."""
        lap_us = sum(self.gaps_us)
        return 1e6 / lap_us if lap_us > 0 else AT_ONCE_PPS

    def refused(self, words: str) -> ProfileError:
        """Why it can't be."""
        return ProfileError(f"STLProfile.load_pcap {self._name}: {words}")


def _microseconds(meta: Any) -> float:
    """Time of a pcap's packet, or of a pcapng's."""
    if hasattr(meta, "sec"):
        return float(meta.sec) * 1e6 + float(meta.usec)
    return float((meta.tshigh << 32) | meta.tslow) * 1e6 / float(meta.tsresol)
