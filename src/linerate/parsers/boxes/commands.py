"""Box `commands`: an appliance that answers the user's own commands, and has no POSIX shell.

Each command has a pattern whose named groups are counters, or a parser of ours by name. The same
commands may be given beside any other kind of box.
"""

import re
from collections.abc import Mapping

from linerate.model.box import COUNTER, BoxAnswers
from linerate.model.evidence import Evidence
from linerate.parsers import tools
from linerate.parsers.boxes import Asked, Counted, Question, UnreadableError, register
from linerate.parsers.text import text_of

#: Digits in groups, as appliances print them: `1,234,567`, `1 234 567`, `1'234`.
_BETWEEN_DIGITS = re.compile(r"[\s,.'_]")
#: Digits of 64 bits.
_DIGITS_MAX = 20


class CommandsBox:
    """A box of which nothing is known but what the user says."""

    name = "commands"
    has_shell = False

    def facts(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: any word may be another's command there."""
        return ()

    def counters(self, _asked: Asked) -> tuple[Question, ...]:
        """None beside the user's, which each kind of box is asked."""
        return ()

    def at_load(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing."""
        return ()

    def clear(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: counters are differences."""
        return ()

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Counters of both ports, or it is no box."""
        counted = read(texts, asked)
        for port, name in asked.ports.items():
            missing = {"rx_packets", "tx_packets"} - counted.ports.get(port, {}).keys()
            if missing:
                raise UnreadableError(
                    f"no command of dut.commands counts {port}_{min(missing)} (port {name}): "
                    "its `counters` need a group of that name, and it must match the answer"
                )
        return counted

    def evidence(self, _box: BoxAnswers) -> Evidence:
        """Nothing beside the counters."""
        return Evidence()


def questions(asked: Asked) -> tuple[Question, ...]:
    """The user's own, as each kind of box is asked them."""
    return tuple(
        Question(_name(number), command.run)
        for number, command in enumerate(asked.commands, start=1)
    )


def read(texts: Mapping[str, str], asked: Asked) -> Counted:
    """Counters in the answers to the user's commands. Raises UnreadableError."""
    counted = Counted()
    for number, command in enumerate(asked.commands, start=1):
        text = texts.get(_name(number))
        if command.parser is not None:
            counted = counted.joined(_parsed(text or "", command.parser, asked))
        elif command.counters is not None:
            found = _matched(text or "", command.counters)
            if text is None or (_counts_ports(command.counters) and not found.ports):
                raise UnreadableError(f"`{command.run}`: {_why_none(text)}")
            counted = counted.joined(found)
    return counted


def _name(number: int) -> str:
    return f"command {number}"


def _counts_ports(pattern: str) -> bool:
    groups = map(COUNTER.fullmatch, re.compile(pattern).groupindex)
    return any(parts is not None and parts["kind"] is None for parts in groups)


def _why_none(text: str | None) -> str:
    if text is None:
        return "it failed"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"its counters match nothing in {len(lines)} lines: `{lines[0][:80] if lines else ''}`"


def _matched(text: str, pattern: str) -> Counted:
    """All matches of a pattern: numbers of the same name are added up.

    Some boxes print what they drop only once they did: a reason without a match is 0.
    """
    counted = Counted()
    for name in re.compile(pattern).groupindex:
        parts = COUNTER.fullmatch(name)
        if parts is not None and parts["kind"] is not None:
            _count(counted, parts, 0)
    for match in re.finditer(pattern, text, re.MULTILINE):
        for name, value in match.groupdict().items():
            number = _number(value or "")
            parts = COUNTER.fullmatch(name)
            if number is not None and parts is not None:
                _count(counted, parts, number)
    return counted


def _count(counted: Counted, parts: re.Match[str], number: int) -> None:
    if parts["kind"] is None:
        places = counted.ports.setdefault(parts["port"], {})
        place = parts["counter"]
    else:
        places = counted.losses if parts["kind"] == "lost" else counted.consumed
        port = f"{parts['port']}: " if parts["port"] else ""
        place = port + parts["place"].replace("_", " ")
    places[place] = places.get(place, 0) + number


def _number(text: str) -> int | None:
    digits = _BETWEEN_DIGITS.sub("", text)
    return int(digits) if digits.isdecimal() and len(digits) <= _DIGITS_MAX else None


def _parsed(text: str, name: str, asked: Asked) -> Counted:
    """Counters that a parser of a tool's output finds. Raises UnreadableError."""
    found = _parser(name)(text_of(text, name))
    if found is None:
        raise UnreadableError(f"parser {name} finds nothing of its own in the answer")
    counted = Counted()
    names = {name: port for port, name in asked.ports.items()}
    for loss in found.losses:
        counted.losses[loss.place] = counted.losses.get(loss.place, 0) + loss.packets
    for port in found.ports:
        if port.name in names:
            own = {"rx_packets": port.rx_packets, "tx_packets": port.tx_packets}
            known = {key: value for key, value in own.items() if value is not None}
            counted.ports[names[port.name]] = port.counters | known
    return counted


def _parser(name: str) -> tools.Parse:
    """A parser by the name of its file, which the function has. Raises UnreadableError."""
    known = {one.parse.__module__.rpartition(".")[2]: one.parse for one in tools.parsers()}
    if name not in known:
        names = ", ".join(sorted(known))
        raise UnreadableError(f"dut.commands: no parser {name}; there are {names}")
    return known[name]


register(CommandsBox())
