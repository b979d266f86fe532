"""`perf report`, `perf top`, `perf stat`: where a kernel's cycles go, by function.

A profile says what cycles are spent on, and not whether there are any left.
"""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Remark, Symbol
from linerate.parsers.kernel_parts import OTHER, SOURCE, part_of
from linerate.parsers.numbers import NUMBER, number
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_SHARE = r"(?P<{name}>\d{{1,3}}\.\d{{1,2}})\s?%"
#: `Children` comes before `Self`; in between are CPU, command, file.
_ROW = re.compile(
    r"[\s|+-]*"
    + _SHARE.format(name="first")
    + r"[\s|]+(?:"
    + _SHARE.format(name="own")
    + r"[\s|]+)?(?P<between>[^%]{0,160}?)\[(?P<space>[k.guH])\]\s+(?P<symbol>\S{1,200})(?:\s.*)?",
    re.ASCII,
)
#: Versions before 2.6.39: `1143.00 27.6% ip_rcv [kernel.kallsyms]`.
_OLD_ROW = re.compile(
    r"\s*\d{1,12}\.\d{2}\s+(?P<first>\d{1,3}\.\d{1,2})%\s+(?P<symbol>[\w.]{1,200})\s+"
    r"(?P<between>\[[\w.]{1,60}\]|/\S{1,200})\s*",
    re.ASCII,
)
_MODULE = re.compile(r"\[([\w.-]{1,60})\]")
#: A profile begins: its event, or the columns.
_BEGIN = re.compile(
    r"[\s#|]*(?:Samples: .*event.*'(?P<event>[^']{1,80})'.*|PerfTop:.*"
    r"|(?:#\s*)?(?:Overhead|Children)[\s|].*Symbol.*|samples\s+pcnt\s+function.*)",
    re.IGNORECASE,
)
_COLUMNS = re.compile(r"[\s#|]*(?:Overhead|Children|samples\s+pcnt)\b.*", re.IGNORECASE)
#: Events that stand for time.
_TIME = re.compile(r"(?:cpu[-_]\w{1,10}/)?(?:cpu-)?(?:cycles|clock|task-clock|instructions)\b")
#: Lines of a call graph.
_CALLS = re.compile(r"[\s|+-]+(?:\d{1,3}\.\d{1,2}%(?:--|\s)[\s-]*)?[\w.@+]{1,200}\s*|[\s|-]+")
#: A driver's own module, where a function's name does not say it.
_CARD = re.compile(
    r"mlx\d|ixgbe|i40e|iavf|ice$|ig[bc]|e1000|bnx|tg3|r8169|be2net|sfc|nfp|qed|ena$|gve|virtio_net"
    r"|mtk|atlantic|hv_netvsc|vmxnet3|cxgb|dpaa|enetc|mv(?:neta|pp2)"
)
_STAT_HEAD = re.compile(r"\s*Performance counter stats for (?P<what>.{1,120}?):?\s*")
_STAT_ROW = re.compile(
    rf"\s*(?:{NUMBER}|<not (?:counted|supported)>)\s+(?:msec\s+)?[a-zA-Z][\w:./,=-]{{2,80}}"
    rf"(?:\s+#\s*(?P<ratio>{NUMBER})\s*%?\s*(?P<of>[^()\[]{{0,60}}?))?\s*(?:[\[(].*)?"
)
_STAT_END = re.compile(
    rf"\s*{NUMBER} (?:seconds (?:time elapsed|user|sys)|\+- {NUMBER} seconds time elapsed).*"
)
_IPC = "insn per cycle"
#: One percentage may be above the one before it by rounding alone.
_ROUNDED = 0.005


@dataclass(slots=True)
class _Profile:
    """The rows of one profile, by function."""

    counts: bool = True
    symbols: dict[str, Symbol] = field(default_factory=dict)
    last: float = 100.0


@dataclass(slots=True)
class _Reader:
    """All profiles of a text: the last one that has rows counts."""

    text: Text
    profiles: list[_Profile] = field(default_factory=lambda: [_Profile()])
    read: bool = False

    def begin(self, event: str | None = None) -> None:
        """Open a profile, of an event that stands for time or not."""
        counts = event is None or _TIME.match(event) is not None
        if self.profiles[-1].symbols or not counts:
            self.profiles.append(_Profile(counts))
        elif event is not None:
            self.profiles[-1].counts = counts

    def line(self, line: Line) -> None:
        """Understand one line."""
        row = _ROW.fullmatch(line.text) or _OLD_ROW.fullmatch(line.text)
        if row is not None:
            self._row(line, row)
        elif not self.head(line) and self.read and _CALLS.fullmatch(line.text):
            self.text.take(line)

    def head(self, line: Line) -> bool:
        """Understand a line above a profile's rows."""
        begin = _BEGIN.fullmatch(line.text)
        if begin is not None:
            self.text.take(line)
            self.read = True
            if begin["event"] is not None or not _COLUMNS.fullmatch(line.text):
                self.begin(begin["event"])
        return begin is not None

    def _row(self, line: Line, row: re.Match[str]) -> None:
        groups = row.groupdict()
        first, own = float(row["first"]), groups.get("own")
        if first > self.profiles[-1].last + _ROUNDED and self.profiles[-1].counts:
            self.begin()
        profile = self.profiles[-1]
        profile.last, self.read = first, True
        quote = self.text.take(line)
        percent = first if own is None else float(own)
        if not profile.counts or not percent or percent > 100.0:
            return
        name = row["symbol"].partition("+0x")[0]
        group = ""
        if groups.get("space", "k") == "k":
            module = next(iter(_MODULE.findall(row["between"])), "")
            group = _group(name, module)
        known = profile.symbols.get(name)
        if known is not None:
            percent = round(min(100.0, percent + known.percent), 2)
            quote = known.quote
        profile.symbols[name] = Symbol(name=name, percent=percent, group=group, quote=quote)


def _group(symbol: str, module: str) -> str:
    part = part_of(symbol, "", frozenset())
    if part == OTHER:
        return SOURCE if _CARD.match(module) else ""
    return part


@parser("perf")
def perf(text: Text) -> Evidence | None:
    """Read the last profile, and the ratios of `perf stat`."""
    reader = _Reader(text)
    remarks: list[Remark] = []
    counted = ""
    # `# Samples: …` looks like a prompt.
    for line in text.rows_and_commands:
        if line.typed:
            reader.head(line)
        elif head := _STAT_HEAD.fullmatch(line.text):
            text.take(line)
            reader.read, counted = True, head["what"].strip("'\" ") or "all"
        elif counted and _STAT_END.fullmatch(line.text):
            text.take(line)
        elif counted and (row := _STAT_ROW.fullmatch(line.text)):
            quote = text.take(line)
            ratio = number(row["ratio"]) if row["ratio"] else None
            if ratio is not None and _IPC in " ".join(row["of"].split()):
                text_of_ratio = f"{counted} ran {ratio:g} instructions a cycle"
                remarks.append(Remark(kind="other", text=text_of_ratio, quote=quote))
        else:
            reader.line(line)
    if not reader.read:
        return None
    profiles = [one for one in reader.profiles if one.symbols]
    symbols = tuple(profiles[-1].symbols.values()) if profiles else ()
    return Evidence(symbols=symbols, remarks=tuple(remarks))
