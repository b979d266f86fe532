"""Frames that a pattern in testpmd's words matches, by what rte_flow says it means."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

from linerate.model.flow_rule_frames import Header, ProbeFrame

#: Bits of the fields that a pattern gives a prefix of.
_ADDRESS_BITS = {"ipv4": 32, "ipv6": 128}


def matches(pattern: str, frame: ProbeFrame) -> bool | None:
    """Whether the rule is for the frame; None: drivers differ.

    rte_flow leaves it to them whether a pattern without `vlan` matches tagged frames too.
    """
    items = [part.split() for part in pattern.split("/")]
    headers = frame.headers
    if any(item[0] == "vlan" for item in items) or len(items) == 1:
        return _begins(items, headers)
    untagged = [header for header in headers if header[0] != "vlan"]
    found = _begins(items, untagged)
    return None if found and len(untagged) < len(headers) else found


def _begins(items: Sequence[list[str]], headers: Sequence[Header]) -> bool:
    """Headers begin with what the items ask for."""
    return len(items) <= len(headers) and all(
        item[0] == kind and all(_fields(item, fields))
        for item, (kind, fields) in zip(items, headers, strict=False)
    )


def _fields(item: list[str], fields: Mapping[str, int]) -> Iterator[bool]:
    """One answer for each field that the item gives."""
    given: dict[str, dict[str, str]] = {}
    for name, word, value in zip(item[1::3], item[2::3], item[3::3], strict=True):
        given.setdefault(name, {})[word] = value
    for name, words in given.items():
        yield _holds(item[0], words, fields[name])


def _holds(kind: str, words: Mapping[str, str], value: int) -> bool:
    wanted = _number(words["is"] if "is" in words else words["spec"])
    if "last" in words:
        return wanted <= value <= _number(words["last"])
    if "prefix" in words:
        behind = _ADDRESS_BITS[kind] - int(words["prefix"])
        return wanted >> behind == value >> behind
    mask = _number(words["mask"]) if "mask" in words else -1
    return wanted & mask == value & mask


def _number(text: str) -> int:
    if text.count(":") == 5 and "::" not in text:
        return int(text.replace(":", ""), 16)
    if "." in text or ":" in text:
        return int(ipaddress.ip_address(text))
    return int(text, 0)
