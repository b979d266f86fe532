"""netmap's pkt-gen: rates of a second, and what it sent or received at the end."""

import re

from linerate.model.evidence import Evidence, Quote, Tester
from linerate.parsers.numbers import number
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_RATE = re.compile(
    r".{0,60}\bmain_thread \[\d{1,6}\]:? (?P<rate>[\d.]{1,16}) ?(?P<unit>[KMG]?)pps \(.*"
)
_END = re.compile(
    r"\s*(?P<way>Sent|Received) (?P<count>\d{1,18}) packets,? .{0,80}\bin (?P<seconds>[\d.]{1,16}) "
    r"(?:seconds|ms|us).*"
)
_WAY = re.compile(
    r"\s*(?P<way>Sending on|Receiving from) netmap:\S.*|.*\b(?P<body>sender|receiver)_body\b.*"
)
_SPEED = re.compile(r"\s*Speed: [\d.]{1,16} [KMG]?pps Bandwidth: .{1,80}Average batch: .*")
_PASSED = re.compile(
    r"\s*(?:[\d.]{1,20} [a-z_]{3,30} \[\d{1,6}\] .*"
    r"|Speed: [\d.]{1,16} [KMG]?pps.*)"
)


@parser("netmap pkt-gen")
def netmap_pkt_gen(text: Text) -> Evidence | None:
    """Read one side; it says nothing of the other."""
    if not any(word in text.whole for word in ("main_thread", "netmap", "Average batch: ")):
        return None
    sends: bool | None = None
    quote: Quote | None = None
    rate: float | None = None
    packets: int | None = None
    for line in text.rows:
        if way := _WAY.fullmatch(line.text):
            text.take(line)
            sends = way["way"] == "Sending on" or way["body"] == "sender"
        elif match := _RATE.fullmatch(line.text):
            quote = text.take(line)
            value = number(match["rate"])
            rate = None if value is None else value * _UNITS[match["unit"]]
        elif end := _END.fullmatch(line.text):
            quote = text.take(line)
            sends, packets = end["way"] == "Sent", int(end["count"])
        elif _SPEED.fullmatch(line.text):
            # The last line of a run, which does not say of which side.
            quote = text.take(line)
    if quote is None:
        return None
    for line in text.rows:
        if _PASSED.fullmatch(line.text):
            text.take(line)
    tester = Tester(
        name="pkt-gen",
        sent_packets=packets if sends else None,
        received_packets=packets if sends is False else None,
        tx_pps=rate if sends else None,
        rx_pps=rate if sends is False else None,
        quote=quote,
    )
    return Evidence(testers=(tester,))
