"""Transparent huge pages: what packet pools are in when there are no others."""

import re

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.checks.hugepages import free_kb
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look

_PATH = "/sys/kernel/mm/transparent_hugepage/enabled"


@check("thp", order=33, form=Form.BOTH)
def thp(look: Look) -> Finding:
    """Look which of always, madvise, never is in force."""
    chosen = re.search(r"\[(always|madvise|never)\]", look.host.need(_PATH))
    if chosen is None:
        raise UnknownError(f"{_PATH}: none of always, madvise, never is marked")
    bad = chosen[1] == "never" and free_kb(look.host, "/sys/kernel/mm/hugepages") == 0
    return Finding(
        check="thp",
        state="fault" if bad else "ok",
        found=chosen[1] + (", and no hugepages" if bad else ""),
        wanted="madvise",
        why="Without hugepages the engine asks for these; refused, its packet pools are in 4 KiB "
        "pages: two to five times slower.",
        source="docs/machine.md, measured",
        fix=(f"echo madvise | sudo tee {_PATH}",) if bad else (),
        heavy=bad,
    )
