"""iperf3, as text and as JSON: datagrams that its receiver lost (UDP).

TCP sends again what was lost, so that nothing of packets can be read from it.
"""

import re

from linerate.model.evidence import Evidence, Quote, Tester
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

#: iperf_api.c, report_bw_udp_format; in JSON such rows are within one string.
_ROW = re.compile(
    r"\[\s{0,4}(?P<id>\d{1,5}|SUM)\](?:\[\w{2}-\w\])?\s{1,6}[\d.]{1,12}-\s{0,4}(?P<end>[\d.]{1,12})"
    r"\s{1,4}sec\s[^\n\[\]\\]{1,60}?\sms\s{1,4}(?P<lost>\d{1,18})/(?P<all>\d{1,18})\s{1,4}"
    r"\([\d.e+-]{1,12}%\)(?:\s{1,4}(?P<side>sender|receiver))?"
)
_LOST = re.compile(r'^\s*"lost_packets"\s*:\s*(\d{1,18})\s*,?\s*$')
_PACKETS = re.compile(r'^\s*"packets"\s*:\s*(\d{1,18})\s*,?\s*$')
_TCP = re.compile(
    r"^\s*\[\s{0,4}(?:\d{1,5}|SUM)\]\s+[\d.]+-[\d.]+\s+sec\s.{1,60}bits/sec\b.{0,30}$"
)
#: Longer lines are no output of it.
_CHARS_MAX = 200_000

Counted = tuple[int, int, Quote]


@parser("iperf3")
def iperf3(text: Text) -> Evidence | None:
    """Read what was sent and lost; sums count before single streams, the longest interval last."""
    if "sec" not in text.whole and "lost_packets" not in text.whole:
        return None
    found = _of_json(text) or _of_text(text)
    if found is not None:
        sent, lost, quote = found
        tester = Tester(
            name="iperf3", sent_packets=sent, received_packets=max(0, sent - lost), quote=quote
        )
        return Evidence(testers=(tester,))
    tcp = [line for line in text.rows if _TCP.match(line.text)]
    quotes = [text.take(line) for line in tcp]
    return Evidence(testers=(Tester(name="iperf3", quote=quotes[-1]),)) if quotes else None


def _of_json(text: Text) -> Counted | None:
    """The last pair of `lost_packets` and `packets`: that of the end, of all streams."""
    found: Counted | None = None
    lost: int | None = None
    for line in text:
        if match := _LOST.match(line.text):
            lost = int(match[1])
            text.take(line)
        elif lost is not None and (match := _PACKETS.match(line.text)):
            quote = text.take(line)
            # A sender that heard nothing of its receiver says 0 of 0.
            if int(match[1]):
                found = (int(match[1]), lost, quote)
            lost = None
    return found


def _of_text(text: Text) -> Counted | None:
    """Rows of the longest interval: the sum, or all streams; a receiver's before a sender's."""
    rows: dict[str, tuple[float, bool, int, int, Quote]] = {}
    for line in text:
        if len(line.text) > _CHARS_MAX:
            continue
        for match in _ROW.finditer(line.text):
            seconds, own = _seconds(match["end"]), match["side"] == "sender"
            row = (seconds, not own, int(match["all"]), int(match["lost"]), text.take(line))
            before = rows.get(match["id"])
            if before is None or (row[1], row[0]) >= (before[1], before[0]):
                rows[match["id"]] = row
    chosen = [rows["SUM"]] if "SUM" in rows else list(rows.values())
    sent, lost = sum(row[2] for row in chosen), sum(row[3] for row in chosen)
    return (sent, lost, chosen[-1][4]) if sent else None


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
