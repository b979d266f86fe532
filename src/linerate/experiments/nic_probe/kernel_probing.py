"""Find out which rules a kernel driver takes, how fast, and whether they act."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from linerate.experiments.nic_probe.kernel_port import KernelPort
from linerate.experiments.nic_probe.probing import Step
from linerate.model.flow_rule_acting import Acting
from linerate.model.flow_rule_frames import FRAMES, ProbeFrame
from linerate.model.flow_rule_matching import matches
from linerate.model.flow_rule_patterns import PATTERNS as WORDS
from linerate.model.kernel_rules import (
    BEHIND,
    COLUMNS,
    NTUPLE_ACTIONS,
    PATTERNS,
    RATE_PATTERN,
    TC_ACTIONS,
    KernelCell,
    KernelProbe,
    KernelRate,
    Way,
)

NO_SUCH_RULE = "ethtool has no such rule"
NO_PEER = "no interface to send from: name the other end of its link with --peer"
UNSEEN = "the action's effect is not counted in software"
#: Actions that leave something to count.
SEEN = ("drop", "pass")
#: Lets all pass, and counts it.
COUNT_ALL = "all u32 match u32 0 0 action pass"
_PATTERN_TEXTS = {one.name: one.text for one in WORDS}


class Sender(Protocol):
    """The other end of the link."""

    #: Packets of each frame in a round.
    each: int

    def round(self, frames: Sequence[ProbeFrame]) -> dict[str, int]:
        """Send each frame; how many of each came to the interface, before its tc filters."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    """Both ends, and what comes without any rule."""

    sender: Sender
    before: Mapping[str, int]


def probe(port: KernelPort, sender: Sender | None, max_rules: int, step: Step) -> KernelProbe:
    """Try every pattern in every way; nothing is left."""
    found = KernelProbe(port.interface, port.driver())
    with port.prepared() as leftovers:
        found.leftovers = leftovers
        link = None if sender is None else Link(sender, sender.round(FRAMES))
        for done, pattern in enumerate(PATTERNS):
            step(pattern.name, done)
            found.cells += [_try(port, KernelCell(pattern, *column), link) for column in COLUMNS]
        found.rates = list(_rates(port, found.cells, max_rules))
    return found


def _try(port: KernelPort, cell: KernelCell, link: Link | None) -> KernelCell:
    if cell.way == "ntuple":
        return _try_ntuple(port, cell, link)
    refused = port.add(_words(cell.pattern.flower, cell.way, cell.action))
    if refused is not None:
        return replace(cell, refused=refused)
    act = _act_before if cell.way == "tc skip_sw" else _act_counted
    try:
        return replace(cell, in_hw=port.in_hw(), acting=_acting(port, cell, link, act))
    finally:
        port.remove()


def _words(flower: str, way: Way, action: str) -> str:
    return f"{flower} {way.removeprefix('tc ')} {TC_ACTIONS[action]}"


def _try_ntuple(port: KernelPort, cell: KernelCell, link: Link | None) -> KernelCell:
    if not cell.pattern.ntuple:
        return replace(cell, refused=NO_SUCH_RULE)
    rule, refused = port.add_ntuple(f"{cell.pattern.ntuple} {NTUPLE_ACTIONS[cell.action]}")
    if rule is None:
        return replace(cell, refused=refused)
    try:
        return replace(cell, in_hw=True, acting=_acting(port, cell, link, _act_before))
    finally:
        port.remove_ntuple(rule)


Act = Callable[[KernelPort, KernelCell, Link], Acting]


def _acting(port: KernelPort, cell: KernelCell, link: Link | None, act: Act) -> Acting:
    if link is None:
        return Acting("not tried", NO_PEER)
    if cell.action not in SEEN:
        return Acting("not tried", UNSEEN)
    if not _for_it(cell, link.before):
        return Acting("not tried", "no frame that it is for arrives without it")
    return act(port, cell, link)


def _for_it(cell: KernelCell, came: Mapping[str, int]) -> list[str]:
    """Frames that the rule is for, of those that arrive."""
    text = _PATTERN_TEXTS[cell.pattern.name]
    return [frame.name for frame in FRAMES if came.get(frame.name) and matches(text, frame) is True]


def _not_for_it(cell: KernelCell, came: Mapping[str, int]) -> list[str]:
    text = _PATTERN_TEXTS[cell.pattern.name]
    return [
        frame.name for frame in FRAMES if came.get(frame.name) and matches(text, frame) is False
    ]


def _act_before(_port: KernelPort, cell: KernelCell, link: Link) -> Acting:
    """A rule of hardware: what it drops does not come to the interface."""
    if cell.action != "drop":
        return Acting("not tried", UNSEEN)
    before, after = link.before, link.sender.round(FRAMES)
    lost = {name: count - after.get(name, 0) for name, count in before.items()}
    names = _for_it(cell, before)
    felt = [name for name in _not_for_it(cell, before) if lost[name] > 0]
    gone, whole = (sum(found[name] for name in names) for found in (lost, before))
    return _verdict(gone, whole, felt, "dropped")


def _act_counted(port: KernelPort, cell: KernelCell, link: Link) -> Acting:
    """A filter of software: its own counter, and that of what goes on behind it."""
    if port.add(COUNT_ALL, BEHIND) is not None:
        return Acting("not tried", "the kernel has no u32 filter, to count what goes on")
    try:
        came = link.sender.round(FRAMES)
        hit, on = port.packets(), port.packets(BEHIND)
    finally:
        port.remove(BEHIND)
    total = sum(came.values())
    whole = sum(came[name] for name in _for_it(cell, came))
    either = total - whole - sum(came[name] for name in _not_for_it(cell, came))
    felt = [f"{hit - whole} packets more"] if hit > whole + either else []
    if cell.action == "drop" and total - on < hit:
        return Acting("acts in part", f"{hit:,} of {whole:,} counted, {total - on:,} dropped")
    return _verdict(hit, whole, felt, "dropped" if cell.action == "drop" else "matched")


def _verdict(on: int, whole: int, felt: list[str], word: str) -> Acting:
    seen = f"{on:,} of {whole:,} {word}"
    if felt:
        return Acting("acts on others", f"{seen}; felt by: {', '.join(felt[:3])}")
    if on >= whole:
        return Acting("acts")
    return Acting("does nothing" if on <= 0 else "acts in part", seen)


def _rates(port: KernelPort, cells: Sequence[KernelCell], max_rules: int) -> Iterator[KernelRate]:
    """Time as many filters as are wanted, each for another flow, in the ways that took one."""
    pattern = next(one for one in PATTERNS if one.name == RATE_PATTERN)
    for way in ("tc skip_hw", "tc skip_sw"):
        taken = [one for one in cells if (one.pattern, one.way) == (pattern, way)]
        action = next((one.action for one in taken if one.refused is None), None)
        if action is None:
            continue
        rules = [_words(_nth(pattern.flower, n), way, action) for n in range(max_rules)]
        took, refused = port.add_many(rules)
        removed = port.remove_all()
        if refused is None:
            yield KernelRate(way, len(rules), took, removed)


def _nth(flower: str, number: int) -> str:
    """Another source address for each number."""
    return flower.replace("198.18.0.1", f"198.18.{number >> 8 & 255}.{number & 255}")
