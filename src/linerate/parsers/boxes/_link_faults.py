"""Faults of a Linux box's ports that drop frames and count none: no link, another MAC address."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.evidence import Quote

#: Question whose answer has flags, addresses and changes of the links.
QUESTION = "ip -s link"


def links(text: str) -> dict[str, dict[str, Any]]:
    """Interfaces by name, as `ip -j link` prints them."""
    return {str(one["ifname"]): one for one in json_list(text) if "ifname" in one}


def json_list(text: str) -> list[dict[str, Any]]:
    """Objects that iproute2 prints; none where it printed something else."""
    try:
        found = json.loads(text[text.index("[") :]) if "[" in text else []
    except (ValueError, RecursionError):
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def unplugged(box: BoxAnswers) -> Iterator[Quote]:
    """Ports without a link before or after the trial, or whose link changed within it."""
    before, after = (_links(box.batches(moment)) for moment in ("before", "after"))
    for port, name in box.ports.items():
        either = [known[name] for known in (before, after) if name in known]
        if any("NO-CARRIER" in _flags(link) for link in either):
            yield _quote(f"{port} ({name}): NO-CARRIER")
        elif len(either) > 1 and (changes := _changes(either[1]) - _changes(either[0])) > 0:
            yield _quote(f"{port} ({name}): its link went up or down {changes:,} times")


def misaddressed(box: BoxAnswers) -> Iterator[Quote]:
    """Ports that have another address than frames are sent to, and whose card takes no others."""
    known = _links(box.batches("before"))
    for port, wanted in box.macs.items():
        link = known.get(box.ports.get(port, ""), {})
        address = str(link.get("address", wanted)).lower()
        if address != wanted.lower() and not link.get("promiscuity"):
            yield _quote(f"{port} has the MAC address {address}, and frames are sent to {wanted}")


def _links(batches: Sequence[tuple[Answer, ...]]) -> dict[str, dict[str, Any]]:
    return links(texts(batches[-1]).get(QUESTION, "")) if batches else {}


def _flags(link: Mapping[str, Any]) -> Sequence[object]:
    found = link.get("flags")
    return found if isinstance(found, list) else ()


def _changes(link: Mapping[str, Any]) -> int:
    both = link.get("stats64")
    sent = both.get("tx") if isinstance(both, dict) else None
    found = sent.get("carrier_changes") if isinstance(sent, dict) else None
    return found if type(found) is int else 0


def _quote(text: str) -> Quote:
    return Quote(source=QUESTION, line=1, text=text)
