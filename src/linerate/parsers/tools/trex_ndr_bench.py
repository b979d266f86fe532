"""TRex's ndr_plugin and stl_ndr_bench: what one load of its search came to.

`TX PPS uni-directional`, `RX PPS uni-directional`, `TX Utilization`, `TRex CPU`
(trex_control_plane, examples/ndr_bench.py).
"""

import re

from linerate.model.evidence import Evidence, Quote, Tester
from linerate.parsers.numbers import number
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    r"\s*(?P<name>Title|Iteration|Running Rate(?: \(% of max\))?|Max Rate|Drop Rate|Queue Full"
    r"|Elapsed Time|BW Per Core|[TR]X PPS uni-directional|[TR]X Utilization|TRex CPU"
    r"|Total [TR]X L[12] uni-directional|Status|Distance from current Optimum|Latency.{0,40}?)"
    r"\s*:\s*(?P<value>\S.{0,120})"
)
_FIGURE = re.compile(r"(?P<figure>[\d.]{1,16})\s*(?P<unit>[KMG]?)(?:PPS|%)", re.IGNORECASE)
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
#: Shares of a rate count from here on as the whole of it: the last digit of two sums.
WHOLE_PERCENT = 101.0


@parser("TRex NDR bench")
def trex_ndr_bench(text: Text) -> Evidence | None:
    """Read the last load that is shown; its drop rate is of counters that it says nothing of."""
    if "uni-directional" not in text.whole:
        return None
    found: dict[str, float] = {}
    quote: Quote | None = None
    for line in text.rows:
        if (row := _ROW.fullmatch(line.text)) is None:
            continue
        quote = text.take(line)
        if figure := _FIGURE.match(row["value"]):
            value = number(figure["figure"])
            if value is not None:
                found[row["name"]] = value * _UNITS[figure["unit"].upper()]
    if quote is None or "TX PPS uni-directional" not in found:
        return None
    used = found.get("TX Utilization")
    tester = Tester(
        name="TRex",
        tx_pps=found["TX PPS uni-directional"],
        rx_pps=found.get("RX PPS uni-directional"),
        cpu_percent=found.get("TRex CPU"),
        line_percent=None if used is None or used > WHOLE_PERCENT else min(100.0, used),
        quote=quote,
    )
    return Evidence(testers=(tester,))
