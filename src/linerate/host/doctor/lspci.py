"""A card's payload and request sizes from `lspci -Dvv` (pciutils, ls-caps.c)."""

import re
from typing import NamedTuple

from linerate.host.doctor.host_view import Host, UnknownError

_COMMAND = ("lspci", "-Dvv")
_CAPABLE = re.compile(r"DevCap:\s*MaxPayload (\d{3,4}) bytes")
_SET = re.compile(r"MaxPayload (\d{3,4}) bytes, MaxReadReq (\d{3,4}) bytes")


class Requests(NamedTuple):
    """Bytes."""

    max_payload: int
    capable_payload: int
    max_read: int


def requests(host: Host, address: str) -> Requests:
    """Read a card's block; raises UnknownError."""
    text = host.need_output(*_COMMAND)
    block: list[str] = []
    for line in text.splitlines():
        if line.startswith(address + " "):
            block = [line]
        elif block and not line.startswith((" ", "\t")):
            break
        elif block:
            block.append(line)
    capable, given = (pattern.search("\n".join(block)) for pattern in (_CAPABLE, _SET))
    if capable is None or given is None:
        raise UnknownError("lspci -Dvv: no DevCap and DevCtl of it; only root sees them")
    return Requests(int(given[1]), int(capable[1]), int(given[2]))
