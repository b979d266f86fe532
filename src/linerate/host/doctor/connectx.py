"""Firmware configuration of a ConnectX (mstflint, or NVIDIA's MFT)."""

import re

from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


def configured(look: Look, nic: Nic, key: str) -> int:
    """The number in brackets after a key: `CQE_COMPRESSION  BALANCED(0)`; raises UnknownError."""
    command = ("mstconfig", "-d", nic.address, "query")
    text = look.host.output(*command) or look.host.output("mlxconfig", *command[1:])
    if text is None:
        why = look.host.trouble(" ".join(command))
        raise UnknownError(f"mstconfig (package mstflint): {why}")
    line = re.search(
        rf"^\s*\*?\s*{key}\s+(?:\w+\((\d{{1,4}})\)|(\d{{1,4}}))\s*$", text, re.MULTILINE
    )
    if line is None:
        raise UnknownError(f"mstconfig: no {key} in its answer")
    return int(line[1] or line[2])
