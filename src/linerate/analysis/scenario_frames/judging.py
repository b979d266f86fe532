"""All frames of a check, each compared with what is expected: those that are wrong, and how.

A received frame belongs to the one sent that has its payload: the tester's signature is in it, and
no box on the way writes there.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linerate.analysis.scenario_frames.differing import Difference, differences
from linerate.analysis.scenario_frames.expected import (
    ChangeError,
    Expected,
    Path,
    case_of,
    expected,
)
from linerate.model.frame_layers import Packet, decode
from linerate.model.scenario.back import Back, Case
from linerate.model.suites import DUT_MACS, TESTER_MACS, TESTER_PORTS

#: Length of a frame that is shown.
_EXAMPLES_BYTES = 96


@dataclass(frozen=True, slots=True)
class Crossing:
    """A frame at a port of the tester."""

    port: str
    packet: Packet
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A deviation that some frames have, and one of them."""

    text: str
    frames: int
    of: int
    #: From this port of the tester.
    sent_at: str
    #: First bytes of one of them, as sent and as received; empty where there is none.
    sent: str = ""
    received: str = ""

    @property
    def sentence(self) -> str:
        """In a line."""
        share = f"all {self.of:,}" if self.frames == self.of else f"{self.frames:,} of {self.of:,}"
        return f"{self.text} ({share} frames from {self.sent_at})"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Outcome for all frames."""

    sent: int
    #: Frames of ours that were received, and those that were to be.
    received: int
    expected: int
    right: int
    mistakes: tuple[Mistake, ...]
    #: Received frames that the tester did not send: of the box itself, or damaged.
    others: int = 0


@dataclass(slots=True)
class _Found:
    """Counts of the frames of a case that were sent at a port."""

    sent: int = 0
    #: Frames sent of which one at least was received.
    returned: int = 0
    missing: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    at_ports: Counter[str] = field(default_factory=Counter)
    #: By field: values that were seen.
    seen: dict[str, set[object]] = field(default_factory=lambda: defaultdict(set))
    wanted: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def note(self, text: str, sent: Crossing, received: Crossing | None = None) -> None:
        """Count what is wrong; keep the first of each kind."""
        self.wrong[text] += 1
        self.examples.setdefault(text, (sent.data, received.data if received else b""))


def judge(
    sent: Sequence[Crossing],
    received: Sequence[Crossing],
    back: Back,
    box_macs: tuple[str, str] = (DUT_MACS[0], DUT_MACS[1]),
) -> Judgement:
    """Compare all frames; `box_macs` are those of the box's ports."""
    waiting = _by_payload(received, back)
    alike = Counter(one.packet.payload for one in sent)
    found: dict[tuple[str, int | None], _Found] = defaultdict(_Found)
    right = expected_frames = known = 0
    for one in sent:
        number = case_of(one.packet, back)
        group = found[one.port, number]
        group.sent += 1
        if number is None:
            group.note("no case of `back` says what comes back of it", one)
            continue
        case = back[number]
        mine = _taken(waiting, one, case, alone=alike[one.packet.payload] == 1)
        known += len(mine)
        expected_frames += _copies(case)
        right += _judge_one(one, mine, case, group, box_macs)
    mistakes = [
        mistake
        for (port, number), group in found.items()
        for mistake in _mistakes(group, port, None if number is None else back[number])
    ]
    others = sum(len(rest) for rest in waiting.values())
    return Judgement(len(sent), known, expected_frames, right, tuple(mistakes), others)


def _by_payload(received: Sequence[Crossing], back: Back) -> dict[bytes, list[Crossing]]:
    """Received frames by payload; those that can't be read all together."""
    unreadable = any(case.encrypted for case in back)
    waiting: dict[bytes, list[Crossing]] = defaultdict(list)
    for one in received:
        waiting[b"" if unreadable else one.packet.payload].append(one)
    return waiting


def _taken(
    waiting: dict[bytes, list[Crossing]], sent: Crossing, case: Case, *, alone: bool
) -> list[Crossing]:
    """Received frames of one that was sent; as many as it gives where others are alike."""
    mine = waiting.get(b"" if case.encrypted else sent.packet.payload, [])
    if alone and not case.encrypted:
        waiting.pop(sent.packet.payload, None)
        return mine
    taken = [one for one in mine if one.port in _ports(sent.port, case)][: _copies(case)]
    for one in taken:
        mine.remove(one)
    return taken


def _copies(case: Case) -> int:
    if case.dropped:
        return 0
    return int(case.copies) * (2 if case.port == "both" else 1)


def _judge_one(
    sent: Crossing,
    mine: list[Crossing],
    case: Case,
    group: _Found,
    box_macs: tuple[str, str],
) -> int:
    """Compare what was received of one frame; returns the number of right ones."""
    group.returned += bool(mine)
    if case.dropped:
        for one in mine:
            group.note(f"received at {one.port}, expected it to be dropped", sent, one)
        return 0
    wanted = _copies(case)
    group.missing += max(0, wanted - len(mine))
    if len(mine) > wanted:
        group.note(f"received {len(mine)} times, expected {wanted}", sent, mine[-1])
    return sum(_is_right(sent, one, case, group, box_macs) for one in mine[:wanted])


def _is_right(
    sent: Crossing, one: Crossing, case: Case, group: _Found, box_macs: tuple[str, str]
) -> bool:
    """Whether a received frame is as expected, at a port where it may be."""
    group.at_ports[one.port] += 1
    allowed = _ports(sent.port, case)
    if one.port not in allowed:
        group.note(f"received at {one.port}, expected at {' or '.join(allowed)}", sent, one)
        return False
    there = TESTER_PORTS.index(one.port)
    try:
        wanted = expected(sent.packet, case, Path(box_macs[there], TESTER_MACS[there]))
    except ChangeError as error:
        group.note(f"`back` does not fit the frame: {error}", sent)
        return False
    different = differences(wanted, one.packet, whole=not case.encrypted)
    if different:
        group.note(_text(different), sent, one)
        return False
    _note_split(group, wanted, one.packet)
    return True


def _note_split(group: _Found, wanted: Expected, packet: Packet) -> None:
    for name, values in wanted.one_of.items():
        group.wanted[name] = values
        group.seen[name].add(packet.value(name))


def _ports(sent_at: str, case: Case) -> tuple[str, ...]:
    other = TESTER_PORTS[1 - TESTER_PORTS.index(sent_at)]
    return {"other": (other,), "same": (sent_at,)}.get(case.port, (sent_at, other))


def _text(different: Sequence[Difference]) -> str:
    return "; ".join(one.text for one in different)


def _mistakes(group: _Found, port: str, case: Case | None) -> list[Mistake]:
    """Mistakes in the frames of one case from one port, most frequent first."""
    found = [
        Mistake(text, frames, group.sent, port, *map(_hex, group.examples[text]))
        for text, frames in group.wrong.most_common()
    ]
    if case is None or case.dropped:
        return found
    low, high = case.percent
    share = 100 * group.returned / group.sent
    if (low, high) != (100.0, 100.0):
        if not low <= share <= high:
            text = f"{share:.1f} % received, expected {low:g} to {high:g} %"
            found.append(Mistake(text, group.returned, group.sent, port))
    elif group.missing:
        frames = min(group.missing, group.sent)
        found.insert(0, Mistake("not received", frames, group.sent, port))
    if case.port == "split" and len(group.at_ports) == 1:
        only = next(iter(group.at_ports))
        text = f"received at {only} alone, expected at both ports"
        found.append(Mistake(text, group.at_ports[only], group.sent, port))
    return found + _unseen(group, port)


def _unseen(group: _Found, port: str) -> list[Mistake]:
    """Values of a split that no frame had."""
    return [
        Mistake(f"{name}: no frame with {value}", group.sent, group.sent, port)
        for name, values in group.wanted.items()
        for value in values
        if value not in group.seen[name]
    ]


def _hex(data: bytes) -> str:
    return data[:_EXAMPLES_BYTES].hex()


def crossings(frames: Mapping[str, Sequence[bytes]]) -> list[Crossing]:
    """Frames by port, decoded."""
    return [Crossing(port, decode(data), data) for port, some in frames.items() for data in some]
