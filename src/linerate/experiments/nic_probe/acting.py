"""Try whether rules act: make one, send every frame, see what came, remove it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from linerate.experiments.nic_probe.probing import Step
from linerate.experiments.nic_probe.rules import Rules
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_acting import Acting, Case, Seen, case, judge
from linerate.model.flow_rule_frames import FRAMES
from linerate.model.flow_rule_results import Cell


class Rounds(Protocol):
    """The two ends of a link: one that sends, and the port whose rules are tried."""

    #: Packets of each frame in a round.
    each: int
    #: Why tagged frames say nothing here; "": they do.
    no_tags: str

    @property
    def rules(self) -> Rules:
        """Rules of the port that receives."""
        ...

    def send(self, rule: int | None) -> Seen:
        """Send each frame; see what came, and what the rule counted of it."""
        ...


def untried(cells: Sequence[Cell], why: str) -> list[Cell]:
    """Say of each rule that could be made why no frames were sent."""
    acting = Acting("not tried", why)
    return [replace(cell, acting=acting) if cell.created else cell for cell in cells]


def tried(cells: Sequence[Cell], rounds: Rounds, step: Step) -> list[Cell]:
    """Try each rule that could be made."""
    before = rounds.send(None)
    found, done = [], 0
    for cell in cells:
        if cell.created:
            step(f"frames: {cell.pattern.name}, {cell.actions.name}", done)
            done += 1
            found.append(replace(cell, acting=_try(cell, rounds, before)))
        else:
            found.append(cell)
    return found


def _try(cell: Cell, rounds: Rounds, before: Seen) -> Acting:
    if rounds.no_tags and "vlan" in cell.pattern.text:
        return Acting("not tried", rounds.no_tags)
    made = case(cell.pattern.text, cell.actions.text, FRAMES, before, rounds.each)
    if isinstance(made, str):
        return Acting("not tried", made)
    first = _round(cell, made, rounds)
    if first.outcome in ("acts", "not tried"):
        return first
    # A host that was busy may have lost a frame: what a driver does it does again.
    second = _round(cell, made, rounds)
    if second.outcome == first.outcome:
        return second
    seen = f"{first.outcome} ({first.detail}), then {second.outcome}"
    return Acting("not tried", f"two rounds differ: {seen}")


def _round(cell: Cell, made: Case, rounds: Rounds) -> Acting:
    answer = rounds.rules.create(flow_rule_patterns.rule(cell.pattern.text, made.actions))
    if answer.refusal is not None:
        return Acting("not tried", f"refused with {made.actions}: {answer.refusal}")
    try:
        return judge(made, rounds.send(answer.rule))
    finally:
        rounds.rules.destroy(answer.rule)
