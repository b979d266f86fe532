"""Whether a flow rule acts, judged by frames that it is for and frames that it is not for."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from linerate.model.flow_rule_frames import ProbeFrame
from linerate.model.flow_rule_matching import matches

Outcome = Literal["acts", "does nothing", "acts on others", "acts in part", "not tried"]
#: Frames named in one line; of more, their number.
NAMED = 3
#: Mark of frames that carry a flag and no number.
FLAG = -1


@dataclass(frozen=True, slots=True)
class Acting:
    """Effect of a rule."""

    outcome: Outcome
    #: Words on what was seen, or why nothing was tried.
    detail: str = ""


_VERBS: dict[str, str] = {
    "acts": "act",
    "does nothing": "are taken and do nothing",
    "acts on others": "act on others too",
    "acts in part": "act in part",
}


def summary(outcomes: Iterable[str]) -> str:
    """Say how many rules act, and how many do not."""
    counts = Counter(outcome for outcome in outcomes if outcome in _VERBS)
    if not counts:
        return "no rule was tried with frames"
    words = [f"{counts[outcome]:,} {words}" for outcome, words in _VERBS.items() if counts[outcome]]
    return f"{counts.total():,} rules tried with frames: {', '.join(words)}"


@dataclass(frozen=True, slots=True)
class Arrived:
    """Frames of one kind that came alike."""

    queue: int
    #: None: unmarked; FLAG: flagged.
    mark: int | None
    packets: int


@dataclass(frozen=True, slots=True)
class Seen:
    """Arrivals of a round of frames, the same number of each."""

    by_frame: Mapping[str, Sequence[Arrived]]
    #: Frames that were not sent for this.
    foreign: int = 0
    #: By the rule's counter; None: it has none.
    counted: int | None = None

    def packets(self, frame: ProbeFrame, queue: int | None = None) -> int:
        """Number of a frame's packets, or of those on one queue."""
        came = self.by_frame.get(frame.name, ())
        return sum(one.packets for one in came if queue in (None, one.queue))

    def marked(self, frame: ProbeFrame, mark: int | None = None) -> int:
        """Number of a frame's packets with a mark, or with that mark."""
        came = [one for one in self.by_frame.get(frame.name, ()) if one.mark is not None]
        return sum(one.packets for one in came if mark in (None, one.mark))


@dataclass(frozen=True, slots=True)
class Effect:
    """One action's effect: on how many of the packets that it is for."""

    name: str
    on: int
    of: int

    def __str__(self) -> str:
        """As `0 of 8 marked`."""
        return f"{self.on:,} of {self.of:,} {self.name}"


@dataclass(frozen=True, slots=True)
class Case:
    """A rule, and which frames it is for."""

    actions: str
    for_it: tuple[ProbeFrame, ...]
    not_for_it: tuple[ProbeFrame, ...]
    #: Frames for which drivers differ.
    either: tuple[ProbeFrame, ...]
    #: A round without the rule, and the number of packets of each frame in a round.
    before: Seen
    each: int

    @property
    def queue(self) -> int | None:
        """Index of the queue that it chooses."""
        found = re.search(r"queue index (\d+)|queues (\d+)", self.actions)
        return None if found is None else int(found[1] or found[2])

    @property
    def mark(self) -> int | None:
        """The mark that it sets."""
        if re.search(r"\bflag\b", self.actions):
            return FLAG
        found = re.search(r"mark id (\d+)", self.actions)
        return None if found is None else int(found[1])


def case(
    pattern: str, actions: str, frames: Sequence[ProbeFrame], before: Seen, each: int
) -> Case | str:
    """Sort frames by whether the rule is for them; a text says why it can't be tried."""
    whole = [frame for frame in frames if before.packets(frame) == each]
    kinds = {frame.name: matches(pattern, frame) for frame in frames}
    for_it, others, either = (
        tuple(frame for frame in whole if kinds[frame.name] is kind) for kind in (True, False, None)
    )
    if not for_it:
        return "no frame that it is for arrives without it"
    if re.search(r"\b(jump|passthru)\b", actions):
        return "the action has no effect of its own"
    chosen = _visible_queue(actions, for_it, before)
    if chosen is None:
        return "the port has one rx queue: none to choose"
    made = Case(chosen, for_it, others, either, before, each)
    if next(_effects(made, before), None) is None:
        return "frames for it are on that queue without it"
    return made


def _visible_queue(actions: str, for_it: Sequence[ProbeFrame], before: Seen) -> str | None:
    """Let the actions choose a queue on which the frames are not by themselves."""
    word = r"(queue index |queues )\d+"
    if re.search(word, actions) is None:
        return actions
    used = {one.queue for came in before.by_frame.values() for one in came}
    queues = range(max(used, default=0) + 1)
    frames = {queue: sum(before.packets(frame, queue) for frame in for_it) for queue in queues}
    chosen = min(queues, key=lambda queue: (frames[queue], -queue))
    # A mark or a counter can be seen whatever the queue.
    if len(queues) == 1 and re.fullmatch(rf"(rss )?{word}( end)?", actions):
        return None
    return re.sub(word, rf"\g<1>{chosen}", actions)


def judge(tried: Case, after: Seen) -> Acting:
    """Compare a round with the rule to the one without it."""
    effects = list(_effects(tried, after))
    lost = [] if _drops(tried) else [f for f in tried.for_it if after.packets(f) < tried.each]
    seen = ", ".join(map(str, effects)) + (f", lost: {_names(lost)}" if lost else "")
    others = [frame for frame in tried.not_for_it if _differs(frame, tried.before, after)]
    if others:
        return Acting("acts on others", f"{seen}; felt by: {_names(others)}")
    if any(effect.on > effect.of for effect in effects):
        return Acting("acts on others", seen)
    if not lost and all(effect.on == effect.of for effect in effects):
        return Acting("acts")
    nothing = not lost and all(effect.on == 0 for effect in effects)
    return Acting("does nothing" if nothing else "acts in part", seen)


def _drops(tried: Case) -> bool:
    return re.search(r"\bdrop\b", tried.actions) is not None


def _differs(frame: ProbeFrame, before: Seen, after: Seen) -> bool:
    """Frames of this kind came in another way, in other numbers, or marked otherwise."""
    came = [set(round_.by_frame.get(frame.name, ())) for round_ in (before, after)]
    return came[0] != came[1]


def _names(frames: Sequence[ProbeFrame]) -> str:
    shown = ", ".join(frame.name for frame in frames[:NAMED])
    return shown if len(frames) <= NAMED else f"{shown} and {len(frames) - NAMED} more"


def _effects(tried: Case, after: Seen) -> Iterator[Effect]:
    """Each action whose effect can be seen."""
    whole = tried.each * len(tried.for_it)
    if tried.mark is not None:
        marked = sum(after.marked(frame, tried.mark) for frame in tried.for_it)
        yield Effect("flagged" if tried.mark == FLAG else "marked", marked, whole)
    if tried.queue is not None:
        there = [
            sum(seen.packets(frame, tried.queue) for frame in tried.for_it)
            for seen in (tried.before, after)
        ]
        if there[0] < whole:
            name = f"moved to queue {tried.queue}"
            yield Effect(name, max(0, there[1] - there[0]), whole - there[0])
    if _drops(tried):
        came = sum(after.packets(frame) for frame in tried.for_it)
        yield Effect("dropped", whole - came, whole)
    if re.search(r"\bcount\b", tried.actions):
        yield Effect("counted", _counted(tried, after, whole), whole)


def _counted(tried: Case, after: Seen, whole: int) -> int:
    """The rule's counter, without what may be of frames for which drivers differ."""
    counted = after.counted or 0
    more = len(tried.either) * tried.each + after.foreign
    return counted if counted <= whole else max(whole, counted - more)
