"""Counters in a form that no parser knows: what looks like a loss is quoted, nothing is judged.

Whoever pasted it gets an answer that names these lines, and asks for an output that is known.
"""

import re

from linerate.model.evidence import Evidence, Remark
from linerate.parsers.text import Line, Text

NAME = "counters of an unknown form"
#: Numbers in rows of so few are no table of counters.
NUMBERS_MIN = 3
ROWS_MIN = 3
#: A program, or prose, has numbers as well.
SHARE_MIN = 0.25
#: Lines that are quoted, and how much of one.
QUOTED = 3
QUOTE_CHARS = 70
#: A number and its unit are no longer.
VALUE_CHARS = 50

_NUMBER = re.compile(
    r"(?<![\w.])\d[\d,'.]{0,25}(?:e[+-]?\d{1,3})?(?:[kKMG]?(?:[bp]ps|bit/s)|[kKMG]?)(?!\w)"
)
#: The number at the end of a line, and the name before it.
_VALUE = re.compile(
    r"(?<=[:=|\s])\d[\d,'.]{0,25}[kKMG]?"
    r"(?:\s?(?:/s|%|pps|bps|[KMG]?bits/sec|packets|pkts|bytes|frames))?,?$"
)
_NAME = re.compile(r"[*+ -]{0,8}\"?[A-Za-z][\w .()/|\[\]{}\"=,:-]{1,140}")
#: `12 packets dropped by kernel`, and `a=1;b=2;c=3` or `a: 1 b: 2 c: 3`.
_REVERSED = re.compile(r"\s*\d[\d,']{0,25} (?:packets|frames|datagrams|cells)\b[a-z ]{0,60}")
_ASSIGNED = re.compile(r"[A-Za-z][\w-]{1,60}(?:=|: ?)\d")
_ASSIGNED_MIN = 3
_LOSS = re.compile(
    r"drop|drp|discard|(?<![a-z])(?:miss(?:ed)?|err(?:s|ors?)?|lost)(?![a-z])|overrun|overflow|no.?buf|denied"
    r"|exhausted|timed out|exceeded|fail|collision|link (?:state changed to )?down",
    re.IGNORECASE,
)
_NONE = re.compile(r"[0.,']*")


def loose_counters(text: Text) -> Evidence | None:
    """Say what looks like a loss; None where hardly anything looks like a counter at all."""
    # Behind a `#` a row may stand that somebody commented.
    everything = text.rows_and_commands
    rows = [line for line in everything if _is_row(line)]
    lossy = [line for line in rows if _LOSS.search(line.text) and _counts(line)]
    few = len(rows) < ROWS_MIN and not any(map(_is_pair, lossy))
    if few or len(rows) < SHARE_MIN * len(everything):
        return None
    for line in rows:
        text.take(line)
    return Evidence(
        outputs=(NAME,),
        remarks=tuple(
            Remark(
                kind="other",
                text=f"`{line.text.strip()[:QUOTE_CHARS]}` may be a loss, in an unknown form",
                quote=text.take(line),
            )
            for line in lossy[:QUOTED]
        ),
        unread=text.unread,
    )


def _is_row(line: Line) -> bool:
    numbers = _NUMBER.findall(line.text)
    if not numbers:
        return False
    many = len(numbers) >= NUMBERS_MIN
    return many or _is_pair(line) or _LOSS.search(line.text) is not None


def _is_pair(line: Line) -> bool:
    """Whether it is a counter beyond doubt, alone in its line or beside others."""
    plain = line.text.strip()
    value = _VALUE.search(plain[-VALUE_CHARS:])
    name = plain[: len(plain) - len(value[0])].rstrip() if value else ""
    if _NAME.fullmatch(name) or _REVERSED.fullmatch(plain):
        return True
    return len(_ASSIGNED.findall(line.text)) >= _ASSIGNED_MIN


def _counts(line: Line) -> bool:
    """Whether any of its numbers is more than nothing."""
    return any(not _NONE.fullmatch(number) for number in _NUMBER.findall(line.text))
