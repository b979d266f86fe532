"""Text as people paste it: cleaned line by line, each line taken by who understands it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from linerate.base.safe_open import open_regular
from linerate.model.evidence import Quote

#: More than anybody pastes; a reader of everything must end.
SIZE_MAX_BYTES = 8 << 20
#: No command's table is wider; patterns over longer lines could take for ever.
ROW_MAX_CHARS = 2000

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
#: Prefixes that terminals, syslog and journals put before a line.
_STAMPS = re.compile(
    r"""^\s*(?:
      \[\s*\d+\.\d{3,}\]                                             # dmesg
    | \[?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s\w{3}\s+\d+\s[\d:.]+\s\d{4}\]?     # dmesg -T, date
    | \d{4}-\d\d-\d\d[T\s]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?=\s)
    | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d+\s\d\d:\d\d:\d\d
        \s(?:(?!kernel:)\S+\s)?[\w./-]+(?:\[\d+\])?:                  # syslog
    | \[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?=\s)
    | kernel:
    )[ \t]?""",
    re.VERBOSE,
)
_PROMPT = re.compile(
    r"^(?:vpp#|DBGvpp#|testpmd>|trex>|\S+@\S+[:~]\S* ?[#$>]|\[\S+@\S+ \S+\][#$]"
    # RouterOS.
    r"|\[\S+@\S+\] ?(?:/[\w /-]{0,60})?>|[#$>])\s*"
)
_MAIL_QUOTE = re.compile(r"^(?:[>|] ?)*> ?")
#: Quoted by bars alone, as some mail programs do; a table has further bars.
_BAR_QUOTE = re.compile(r"^\| ?(?=[^|]*$)")
#: Markup of Jira and HTML around what a command printed.
_MARKUP = re.compile(
    r"</?(?:tt|code|pre|samp|b|kbd)>|\{(?:noformat|code)(?::\w{1,12})?\}"
    r"|\{\{ ?(?P<inside>[^{}]*)\}\}"
)
_ENTITIES = {"&gt;": ">", "&lt;": "<", "&amp;": "&", "&nbsp;": " ", "&quot;": '"'}
_ENTITY = re.compile("|".join(_ENTITIES))
#: `diff -u`: where a part begins; and the lines before the parts, with the files' names.
_HUNK = re.compile(r"^@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_DIFF_HEAD = re.compile(r"^(?:@@ -|--- |\+\+\+ |diff )")
#: Plain `diff`: where a part begins; earlier lines have `<` before them, later ones `>`.
_PLAIN_HUNK = re.compile(r"^\d{1,9}(?:,\d{1,9})?[acd]\d{1,9}(?:,\d{1,9})?\s*$")
_PLAIN_SIDE = re.compile(r"^[<>] ")
#: Lines that only draw.
_DECORATION = re.compile(r"^[\s\-=_*+|#~.]*$")


#: Mail: a line of at most 76 characters that goes on in the next (RFC 2045, 6.7); and signs of it.
_SOFT_BREAK = re.compile(r".{60,74}[^<>=!]=$|=$")
_SOFT_BREAKS_MIN = 2
_MAIL_SIGN = re.compile(r"=(?=3D|20|09)(?P<code>[0-9A-F]{2})")
_QUOTE_MARKS = re.compile(r"^[>|][>| ]*")

#: A line's number, from 1, and the line as it stands.
_Numbered = tuple[int, str]


class TextError(Exception):
    """A file that can't be read as text; one line that says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without what the paste added; `number` counts from 1."""

    number: int
    text: str
    #: It stood behind a prompt: what was typed.
    typed: bool = False


@dataclass(slots=True)
class Text:
    """A source's lines. A parser takes those that it understands."""

    source: str
    lines: tuple[Line, ...]
    _taken: set[int] = field(default_factory=set)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    @property
    def rows(self) -> list[Line]:
        """Lines that a command may have printed: neither empty, nor typed, nor endless."""
        return [line for line in self.rows_and_commands if not line.typed]

    @property
    def rows_and_commands(self) -> list[Line]:
        """The same with what was typed, which names what rows are of."""
        return [
            line for line in self.lines if len(line.text) <= ROW_MAX_CHARS and line.text.strip()
        ]

    @property
    def whole(self) -> str:
        """The cleaned text, for formats that are not line by line (JSON)."""
        return "\n".join(line.text for line in self.lines)

    def take(self, line: Line) -> Quote:
        """Say that this line is understood, and quote it."""
        self._taken.add(line.number)
        return Quote(source=self.source, line=line.number, text=line.text.strip())

    def take_all(self) -> None:
        """Say that the whole source is understood."""
        self._taken.update(line.number for line in self.lines)

    @property
    def unread(self) -> tuple[Quote, ...]:
        """Lines that no parser took, without decoration and typed commands."""
        return tuple(
            Quote(source=self.source, line=line.number, text=line.text.strip())
            for line in self.lines
            if line.number not in self._taken
            and not line.typed
            and not _DECORATION.match(line.text)
        )


def clean(raw: str) -> str:
    """Take away colours, carriage returns, time stamps: once per line, so that data stays."""
    plain = _ANSI.sub("", raw).replace("\r", "").replace("\u00a0", " ").replace("\ufeff", "")
    if "<" in plain or "{" in plain or "&" in plain:
        plain = _MARKUP.sub(lambda one: one["inside"] or "", plain)
        plain = _ENTITY.sub(lambda one: _ENTITIES[one[0]], plain)
    stripped = _STAMPS.sub("", plain, count=1)
    # journalctl and `dmesg | ts` put two before a line.
    return _STAMPS.sub("", stripped, count=1).rstrip()


def text_of(content: str, source: str) -> Text:
    """Clean a whole text."""
    numbered = _joined(list(enumerate(re.split(r"\r\n|\n|\r", content), start=1)))
    lines = []
    for number, raw in _two_readings(_unquoted(_plain_readings(numbered))):
        cleaned = clean(raw)
        prompt = _PROMPT.match(cleaned.lstrip())
        lines.append(Line(number, cleaned, typed=prompt is not None))
    return Text(source, tuple(lines))


def _joined(lines: list[_Numbered]) -> list[_Numbered]:
    """Put together lines of a mail that its encoding broke, as they are saved from an archive."""
    breaks = [_SOFT_BREAK.match(raw) is not None for _, raw in lines]
    if sum(breaks) < _SOFT_BREAKS_MIN:
        return lines
    found: list[_Numbered] = []
    goes_on = False
    for (number, raw), broken in zip(lines, breaks, strict=True):
        plain = raw.removesuffix("=") if broken else raw
        plain = _MAIL_SIGN.sub(lambda sign: chr(int(sign["code"], 16)), plain)
        if goes_on:
            first, before = found[-1]
            # Marks of a quote stand in front of each line where a mail was quoted as it was saved.
            marked = _QUOTE_MARKS.match(before) is not None
            found[-1] = first, before + (_QUOTE_MARKS.sub("", plain) if marked else plain)
        else:
            found.append((number, plain))
        goes_on = broken
    return found


def _unquoted(lines: list[_Numbered]) -> list[_Numbered]:
    """Take away what a mail program puts before quoted lines; one such line alone is a prompt."""
    for mark in (_MAIL_QUOTE, _BAR_QUOTE):
        quoted = [mark.match(raw) is not None for _, raw in lines]
        found = []
        for at, (number, raw) in enumerate(lines):
            beside = quoted[at - 1 : at] + quoted[at + 1 : at + 2]
            plain = mark.sub("", raw) if quoted[at] and any(beside) else raw
            found.append((number, plain))
        lines = found
    return lines


def _plain_readings(lines: list[_Numbered]) -> list[_Numbered]:
    """Undo plain `diff` of two readings: what changed as it was, then as it is."""
    hunks = [
        at
        for at, (_, raw) in enumerate(lines[:-1])
        if _PLAIN_HUNK.match(raw) and _PLAIN_SIDE.match(lines[at + 1][1])
    ]
    if not hunks:
        return lines
    sides: dict[str, list[_Numbered]] = {"<": [], ">": []}
    others: list[_Numbered] = []
    for at, (number, raw) in enumerate(lines):
        inside = hunks[0] <= at and (
            _PLAIN_SIDE.match(raw) or _PLAIN_HUNK.match(raw) or raw.strip() == "---"
        )
        if not inside:
            others.append((number, raw))
        elif raw[0] in sides:
            sides[raw[0]].append((number, raw[2:]))
    return [*others, (0, ""), *sides["<"], (0, ""), *sides[">"], (0, "")]


def _two_readings(lines: list[_Numbered]) -> list[_Numbered]:
    """Undo `diff -u` of two readings: the earlier one whole, then the later one."""
    hunks = [at for at, (_, raw) in enumerate(lines) if _HUNK.match(raw)]
    if not hunks:
        return lines
    begin = hunks[0]
    if begin >= 2 and lines[begin - 2][1].startswith("--- "):
        begin -= 2
    changed = [line for line in lines[begin:] if not _DIFF_HEAD.match(line[1])]
    readings = [
        [(number, raw[1:]) for number, raw in changed if not raw.startswith(other)]
        for other in ("+", "-")
    ]
    return [*lines[:begin], *readings[0], (0, ""), *readings[1]]


def read_bytes(path: Path) -> bytes:
    """Read a file that somebody saved, and a byte more than is allowed. Raises TextError."""
    try:
        with open_regular(path) as file:
            return file.read(SIZE_MAX_BYTES + 1)
    except OSError as error:
        raise TextError(f"{path}: {(error.strerror or str(error)).lower()}") from error


def read_text(path: Path) -> Text:
    """Read a file that somebody saved. Raises TextError."""
    return text_of(decode(read_bytes(path), str(path)), path.name)


def decode(content: bytes, name: str) -> str:
    """Decode what an editor or a terminal wrote. Raises TextError."""
    if len(content) > SIZE_MAX_BYTES:
        raise TextError(f"{name}: over {SIZE_MAX_BYTES >> 20} MiB, expected what a command prints")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        decoded = content.decode("utf-16", errors="replace")
    else:
        decoded = content.decode("utf-8", errors="replace")
    if "\0" in decoded:
        raise TextError(f"{name}: not a text, expected what a command prints")
    return decoded
