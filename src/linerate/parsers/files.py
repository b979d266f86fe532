"""Evidence from files that other tools wrote."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from linerate.model.evidence import Evidence, Loss, PcieLink
from linerate.parsers.bundles import sources_of
from linerate.parsers.loose_counters import loose_counters
from linerate.parsers.text import Text, TextError, text_of
from linerate.parsers.tools import parsers

#: VPP's reasons to write an ICMP message, and the drop of one.
_DECIDED = re.compile(r"^ip[46]-(?!icmp-error).*: .*(?:ttl <= 1|time expired|mtu exceeded)", re.I)
#: A kernel's names of the losses of a link (parsers/tools/link_counters.py).
_OF_KERNEL = re.compile(r"[rt]x (?:missed|overrun|fifo|dropped|errors|crc|frame)")
_MESSAGE = re.compile(r"ip[46]-icmp-error: (?:error message dropped|drop)")


def evidence_of_text(text: Text) -> Evidence | None:
    """Let every parser take what it understands; None where there is no counter in it at all."""
    found = {one.name: part for one in parsers() if (part := one.parse(text)) is not None}
    if not found:
        return loose_counters(text)
    evidence = Evidence(unread=text.unread, outputs=tuple(found))
    for part in found.values():
        evidence = evidence.joined(part)
    return _counted_once(evidence)


def evidence_of_files(paths: Sequence[Path]) -> Evidence:
    """Put together what all sources say of one trial; those that say nothing are left out, named.

    A source is a file, a folder, an archive, or `-`. Raises TextError where none can be read.
    """
    evidence, left_out, read = Evidence(), [], 0
    for source in (one for path in paths for one in sources_of(path)):
        part = None if source.mistake else evidence_of_text(text_of(source.content, source.name))
        if part is None:
            left_out.append(source.mistake or f"{source.name}: nothing that linerate can read")
            continue
        evidence, read = evidence.joined(part), read + 1
    if not read:
        first = left_out[0] if left_out else f"{paths[0]}: no such file, nor any in it"
        more = f", nor in {len(left_out) - 1} more files" if len(left_out) > 1 else ""
        raise TextError(f"{first}{more}; docs/sources.md lists the outputs that it reads")
    return _counted_once(evidence).model_copy(update={"left_out": tuple(left_out)})


def _counted_once(evidence: Evidence) -> Evidence:
    """Leave out what two tables count of the same packets, or two counters of one.

    VPP counts what a card refused at the interface (`e1: tx-error`) and at its tx node, with the
    reason (`e1-tx: …`; plugins/dpdk/device/device.c): the reason says more. What a card missed
    stands at the hardware (`e1: rx missed`) and at the interface (`e1: rx-miss`), which can be
    cleared separately. A packet that its sender should hear of is counted where that is decided
    (`ip4-input: ip4 ttl <= 1`), and once more when the message is dropped. A driver's own counter
    (`eth0: rx_missed_errors`) says more than the kernel's of the same link (`eth0: rx missed`).
    """
    at_nodes = {loss.place.partition(":")[0] for loss in evidence.losses}
    interfaces = Counter(port.name for port in evidence.ports)
    # A kernel's own table of its links, and one that lists a driver's own counters.
    kernel = {port.name for port in evidence.ports if "rx_dropped" in port.counters}
    by_driver = {
        (name, loss.cause)
        for loss in evidence.losses
        for name, _, counter in [loss.place.partition(": ")]
        if "_" in counter
    }
    decided = any(_DECIDED.search(loss.place) for loss in evidence.losses)

    missed: Counter[str] = Counter()
    for loss in evidence.losses:
        name, _, counter = loss.place.partition(": ")
        if loss.cause == "rx-ring" and "_" in counter:
            missed[name] += loss.packets

    def again(loss: Loss) -> bool:
        place, cause = loss.place, loss.cause
        name, _, counter = place.partition(": ")
        if name in kernel and _OF_KERNEL.fullmatch(counter):
            # Old ifconfig adds what a driver missed to what the kernel dropped.
            also = counter == "rx dropped" and loss.packets == missed[name]
            return (name, cause) in by_driver or also
        return (
            (counter == "tx-error" and f"{name}-tx" in at_nodes)
            or (counter in ("rx missed", "rx no bufs") and interfaces[name] > 1)
            or (decided and _MESSAGE.fullmatch(place) is not None)
        )

    losses = tuple(loss for loss in evidence.losses if not again(loss))
    return evidence.model_copy(update={"losses": losses, "pcie": _by_device(evidence.pcie)})


def _by_device(links: tuple[PcieLink, ...]) -> tuple[PcieLink, ...]:
    """Put together what dmesg, lspci and sysfs say of one device; the first one's word counts."""
    devices: dict[str, PcieLink] = {}
    for link in links:
        known = devices.get(link.device, link)
        missing = {
            name: getattr(link, name)
            for name in PcieLink.model_fields
            if not getattr(known, name) and getattr(link, name)
        }
        quotes = tuple(dict.fromkeys((*known.quotes, *link.quotes)))
        devices[link.device] = known.model_copy(update=missing | {"quotes": quotes})
    return tuple(devices.values())
