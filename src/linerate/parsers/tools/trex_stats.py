"""TRex 3.x: what `get_stats()` and `get_pgid_stats()` return, as JSON or as Python prints it.

TRex's bytes and bits/s are L2 without the frame check sequence.
"""

import ast
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from linerate.model.evidence import Evidence, Port, Quote, Tester
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser
from linerate.parsers.trex_ports import between

_SIZE_MAX = 1 << 20
_DEPTH_MAX = 24
_CHUNKS_MAX = 64
_QUOTE_MAX = 200
#: A string that never closes ends with its line: no second look at any character.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|\'(?:[^\'\\]|\\.)*\'?|[{}\[\]]')


@parser("TRex statistics")
def trex_stats(text: Text) -> Evidence | None:
    """Read each statistics dictionary in the text."""
    evidence: Evidence | None = None
    for lines, start in _chunks(text):
        stats = _parsed("\n".join([lines[0].text[start:], *(one.text for one in lines[1:])]))
        if stats is None:
            continue
        part = _read(text, lines, stats)
        if part is not None:
            evidence = part if evidence is None else evidence.joined(part)
    return evidence


def _chunks(text: Text) -> Iterator[tuple[list[Line], int]]:
    """Yield runs of lines from an opening brace to its closing one, and where it opens."""
    at = tried = 0
    while at < len(text.lines) and tried < _CHUNKS_MAX:
        start = text.lines[at].text.find("{")
        if start < 0:
            at += 1
            continue
        tried += 1
        lines = _closed(text.lines[at:], start)
        if lines:
            yield lines, start
        # A brace that never closes hides nothing behind it.
        at += max(len(lines), 1)


def _closed(lines: tuple[Line, ...], start: int) -> list[Line]:
    """Return the lines up to the brace that closes the first one; none when none does."""
    depth = size = 0
    for number, line in enumerate(lines):
        size += len(line.text)
        if size > _SIZE_MAX:
            return []
        for token in _TOKEN.finditer(line.text, 0 if number else start):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth > _DEPTH_MAX:
                return []
        if depth <= 0:
            return list(lines[: number + 1])
    return []


def _parsed(chunk: str) -> dict[str, Any] | None:
    chunk = chunk[: max(chunk.rfind("}"), 0) + 1]
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(chunk)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return _named(value) if isinstance(value, dict) else None
    return None


def _named(value: Any) -> Any:  # noqa: ANN401 (whatever was pasted)
    """Give every key a name: Python's ports and streams are numbers."""
    if isinstance(value, dict):
        return {str(key): _named(one) for key, one in value.items()}
    return value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and 0 <= number < 1 << 64 else None


def _count(value: object) -> int | None:
    number = _number(value)
    # Not through float: it has 53 bits only.
    return None if number is None else int(value)  # type: ignore[call-overload]


class _Source:
    """Where a figure stands in the text."""

    def __init__(self, text: Text, lines: list[Line]) -> None:
        self._text, self._lines = text, lines

    def quote(self, key: str, value: object) -> Quote:
        pattern = re.compile(rf"\b{re.escape(key)}[\"']?\s*:\s*{re.escape(repr(value))}(?!\w)")
        line = next((one for one in self._lines if pattern.search(one.text)), self._lines[0])
        quote = self._text.take(line)
        return quote.model_copy(update={"text": quote.text[:_QUOTE_MAX]})


def _is_port(name: str, value: object) -> bool:
    return name.isascii() and name.isdigit() and "opackets" in _dict(value)


def _read(text: Text, lines: list[Line], stats: dict[str, Any]) -> Evidence | None:
    levels = [stats, *(_dict(value) for value in stats.values())]
    ports = next((one for one in levels if any(map(_is_port, one, one.values()))), {})
    flows = next((one for one in levels if _dict(one.get("flow_stats"))), {})
    if not ports and not any(
        "tx_pkts" in _dict(one) for one in _dict(flows.get("flow_stats")).values()
    ):
        return None
    for line in lines:
        text.take(line)
    source = _Source(text, lines)
    doubts = tuple(_doubts(source, ports, flows))
    if not ports:
        return Evidence(doubts=doubts)
    found = tuple(
        _port(source, one, ports[one], flows) for one in ports if _is_port(one, ports[one])
    )
    return between(_tester(source, ports, found), found, doubts)


def _tester(source: _Source, stats: dict[str, Any], ports: tuple[Port, ...]) -> Tester:
    total, whole = _dict(stats.get("total")), _dict(stats.get("global"))
    sent, received = _count(total.get("opackets")), _count(total.get("ipackets"))
    return Tester(
        name="trex",
        sent_packets=sum(one.tx_packets or 0 for one in ports) if sent is None else sent,
        received_packets=sum(one.rx_packets or 0 for one in ports)
        if received is None
        else received,
        tx_pps=_number(whole.get("tx_pps", total.get("tx_pps"))),
        rx_pps=_number(whole.get("rx_pps", total.get("rx_pps"))),
        cpu_percent=_number(whole.get("cpu_util")),
        queue_full=_count(whole.get("queue_full")),
        line_percent=_line_percent(stats),
        quote=source.quote("opackets", total.get("opackets")),
    )


def _line_percent(stats: dict[str, Any]) -> float | None:
    """Utilisation of the busiest port, which counts the gaps between frames."""
    found = [_number(port.get("tx_util")) for name, port in stats.items() if _is_port(name, port)]
    return max((percent for percent in found if percent is not None), default=None)


def _port(source: _Source, name: str, port: dict[str, Any], flows: dict[str, Any]) -> Port:
    counters = {key: count for key in ("ierrors", "oerrors") if (count := _count(port.get(key)))}
    for pgid, flow in _dict(flows.get("flow_stats")).items():
        for key in ("tx_pkts", "rx_pkts"):
            packets = _count(_dict(_dict(flow).get(key)).get(name))
            if packets:
                counters[f"pgid {pgid} {key}"] = packets
    return Port(
        name=name,
        side="tester",
        rx_packets=_count(port.get("ipackets")),
        tx_packets=_count(port.get("opackets")),
        rx_bytes=_count(port.get("ibytes")),
        tx_bytes=_count(port.get("obytes")),
        rx_pps=_number(port.get("rx_pps")),
        tx_pps=_number(port.get("tx_pps")),
        link_bps=_link_bps(port),
        counters=counters,
        quote=source.quote("opackets", port.get("opackets")),
    )


def _link_bps(port: dict[str, Any]) -> int | None:
    """Return the link's rate: utilisation is L1 bits/s, in per cent of it."""
    for side in ("tx", "rx"):
        bps, percent = _number(port.get(f"{side}_bps_L1")), _number(port.get(f"{side}_util"))
        if bps and percent and bps / percent * 100.0 < 1e13:
            return round(bps / percent / 1e4) * 10**6
    return None


def _doubts(source: _Source, ports: dict[str, Any], flows: dict[str, Any]) -> Iterator[Quote]:
    def doubt(key: str, value: object, why: str) -> Quote:
        return source.quote(key, value).model_copy(update={"text": why})

    total = _dict(ports.get("total"))
    sent, received = _count(total.get("opackets")), _count(total.get("ipackets"))
    if sent is not None and received is not None and received > sent:
        why = f"{received} packets received of {sent} sent: something else sends on these links"
        yield doubt("ipackets", received, why)
    for pgid, flow in _dict(flows.get("flow_stats")).items():
        out = _count(_dict(_dict(flow).get("tx_pkts")).get("total"))
        back = _count(_dict(_dict(flow).get("rx_pkts")).get("total"))
        if out is not None and back is not None and back > out:
            yield doubt("total", back, f"stream {pgid}: {back} packets received of {out} sent")
    for pgid, stream in _dict(flows.get("latency")).items():
        for name, value in _dict(_dict(stream).get("err_cntrs")).items():
            if count := _count(value):
                yield doubt(name, value, f"stream {pgid}: {name} {count}")
