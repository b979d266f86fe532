"""Find out what a port takes: by validating and making rules, until it takes no more."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from linerate.experiments.nic_probe.rules import Rules
from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_patterns import Words
from linerate.model.flow_rule_results import Answer, Batch, Cell, Filling

#: Successive refusals after which the table counts as full.
FULL_AFTER = 64
#: Rules that are removed one by one, to time it; the others at once.
REMOVED_SINGLY = 1000
#: Number of times that one given rule is created and destroyed.
REPEATS = 100

Step = Callable[[str, int], None]


def table(rules: Rules, try_out: "TryOut", step: Step) -> list[Cell]:
    """Try each pattern with each choice of actions."""
    cells = []
    for done, pattern in enumerate(flow_rule_patterns.PATTERNS):
        step(pattern.name, done)
        cells += [try_out(rules, pattern, actions) for actions in flow_rule_patterns.ACTIONS]
    return cells


class Batches(Protocol):
    """Where rules can be made in batches."""

    def batch(self, rule: str, count: int) -> Batch:
        """Make and remove rules through rte_flow's asynchronous API."""
        ...


TryOut = Callable[[Rules, Words, Words], Cell]


def ask(rules: Rules, pattern: Words, actions: Words) -> Cell:
    """Only ask; nothing is made."""
    refused = rules.validate(flow_rule_patterns.rule(pattern.text, actions.text)).refusal
    return Cell(pattern, actions, refused, None, created=False)


def make(rules: Rules, pattern: Words, actions: Words) -> Cell:
    """Ask, and make the rule for a moment when the answer was yes."""
    asked = ask(rules, pattern, actions)
    if asked.refused is not None:
        return asked
    made = rules.create(asked.rule)
    if made.refusal is None:
        rules.destroy(made.rule)
    return Cell(pattern, actions, None, made.refusal, created=made.refusal is None)


def best(cells: list[Cell]) -> Cell | None:
    """Choose the rule to fill the table with: a whole flow that is marked, if that can be."""
    created = {(cell.pattern.name, cell.actions.name): cell for cell in cells if cell.created}
    wanted = (
        (flow, act) for flow in flow_rule_patterns.FLOWS for act in flow_rule_patterns.FLOW_ACTIONS
    )
    return next((created[key] for key in wanted if key in created), None)


@dataclass(slots=True)
class _Standing:
    """Rules that were made and stand."""

    rules: Rules
    flush: bool
    ids: list[int] = field(default_factory=list)

    def remove(self, filling: Filling, step: Step) -> None:
        """Remove them, the first ones one by one."""
        while self.ids and (len(filling.remove_ns) < REMOVED_SINGLY or not self.flush):
            step("removing rules", filling.created - len(self.ids))
            answer = self.rules.destroy(self.ids.pop(0))
            if answer.refusal is None:
                filling.remove_ns.append(answer.ns)
            else:
                filling.not_removed = answer.refusal
        self.remove_rest()

    def remove_rest(self) -> None:
        """Remove what is left, whatever it takes."""
        if not self.ids:
            return
        if self.flush:
            self.rules.flush()
            self.ids.clear()
        while self.ids:
            self.rules.destroy(self.ids.pop())


@contextmanager
def _standing(rules: Rules, flush: bool) -> Iterator[_Standing]:
    """Leave no rule behind, even when interrupted."""
    made = _Standing(rules, flush)
    try:
        yield made
    finally:
        made.remove_rest()


def fill(
    rules: Rules,
    text_of: Callable[[int], str],
    max_rules: int,
    step: Step,
    *,
    flush: bool,
) -> Filling:
    """Make rule after rule until the port takes no more, and remove them.

    `flush`: the last ones at once; not where others have rules.
    """
    filling = Filling(text_of(0), max_rules)
    in_a_row = number = 0
    with _standing(rules, flush) as made:
        while len(made.ids) < max_rules and in_a_row < FULL_AFTER:
            step("rules that fit", len(made.ids))
            answer = rules.create(text_of(number))
            number += 1
            in_a_row = _note(filling, made, answer, in_a_row)
        filling.full = in_a_row == FULL_AFTER
        filling.created = len(made.ids)
        made.remove(filling, step)
    return filling


def batch_alone(rules: Batches, cells: list[Cell], count: int) -> Filling | None:
    """Ask for a batch of a device that takes no rule by itself; None: it takes no batch either.

    A device may have the asynchronous API alone, as mlx5 with hardware steering.
    """
    flow = (flow_rule_patterns.FLOWS[0], "queue")
    cell = next(one for one in cells if (one.pattern.name, one.actions.name) == flow)
    made = rules.batch(cell.rule, count)
    if made.refusal is not None:
        return None
    return Filling(cell.rule, count, before_first_refusal=0, first_refusal=cell.reason, batch=made)


def _note(filling: Filling, made: _Standing, answer: Answer, in_a_row: int) -> int:
    """Count one order; returns how many refusals there were in a row."""
    if answer.refusal is None:
        made.ids.append(answer.rule)
        filling.create_ns.append(answer.ns)
        return 0
    if filling.first_refusal is None:
        filling.first_refusal = answer.refusal
        filling.before_first_refusal = len(made.ids)
    return in_a_row + 1


def repeat(rules: Rules, text: str, step: Step) -> Filling:
    """Make and remove one rule many times; its refusal ends that."""
    filling = Filling(text, 1)
    for number in range(REPEATS):
        step("making and removing it", number)
        made = rules.create(text)
        if made.refusal is not None:
            filling.first_refusal = made.refusal
            filling.before_first_refusal = 0
            break
        filling.created = 1
        filling.create_ns.append(made.ns)
        removed = rules.destroy(made.rule)
        if removed.refusal is not None:
            filling.not_removed = removed.refusal
            break
        filling.remove_ns.append(removed.ns)
    return filling
