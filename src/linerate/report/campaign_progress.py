"""A campaign as planned and as it goes on, in tables."""

from linerate.model.campaign import CampaignPlan, CampaignState, TestbedPlan, TestbedState
from linerate.report.document import (
    Column,
    Document,
    Note,
    Row,
    Section,
    Table,
    figures,
    sentences,
    text,
)
from linerate.report.soak_lead import duration

#: Attempts without a result that are shown, the last ones.
FAILURES = 5
_WEIGHTS = {"finished": "passed", "failed": "warning"}


def plan_document(plan: CampaignPlan) -> Document:
    """Document of a plan."""
    sections: list[Section] = [Note(line) for line in _counts(plan)]
    sections.append(
        Table(
            "testbeds",
            (
                *text("testbed", "machine"),
                *figures("units", "trials", "time"),
                *sentences("can't measure"),
            ),
            tuple(map(_planned, plan.testbeds)),
            titled=False,
        )
    )
    if plan.impossible:
        rows = tuple(
            (f"{one.scenario} {one.box}", f"{one.units:,}", one.reason) for one in plan.impossible
        )
        columns = (*text("not measured"), *figures("units"), *sentences("because"))
        sections.append(Table("not measured", columns, rows, titled=False))
    return Document(
        title=f"campaign {plan.name}: {duration(plan.seconds)} to go",
        sections=tuple(sections),
        data=lambda: plan,
        schema="campaign-plan",
    )


def _counts(plan: CampaignPlan) -> list[str]:
    lines = [
        f"{_many(plan.units, 'unit')}, {_many(plan.trials, 'trial')}: "
        f"{_many(plan.versions, 'version')}, {_many(plan.settings, 'setting')}, "
        f"{_many(plan.scenarios, 'scenario')}; {plan.done:,} have a result"
    ]
    if plan.builds:
        lines.append(
            f"{_many(plan.builds, 'version')} to build first, once a machine; its time is not known"
        )
    return [*lines, f"results: {plan.dataset}"]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _planned(one: TestbedPlan) -> Row:
    lacks = "; ".join(why if what == "*" else f"{what}: {why}" for what, why in one.lacks.items())
    machine = one.host or "no worker"
    return one.name, machine, f"{one.units:,}", f"{one.trials:,}", duration(one.seconds), lacks


def status_document(state: CampaignState) -> Document:
    """Document of a state."""
    columns = (
        *text("testbed", "status"),
        *figures("results", "failed"),
        Column("a unit"),
        *sentences("measures, or why not"),
    )
    sections: list[Section] = [
        Note(progress_line(state), weight=_WEIGHTS.get(state.status, "text")),  # type: ignore[arg-type]
        Table("testbeds", columns, tuple(map(_row, state.testbeds)), titled=False),
    ]
    if state.problem:
        sections.insert(1, Note(state.problem, weight="doubt"))
    if state.failures:
        rows = tuple(
            (f"{one.time:%H:%M:%S}", one.testbed, f"{one.text}: {one.reason}")
            for one in state.failures[-FAILURES:]
        )
        columns = (*text("at", "testbed"), *sentences("without a result"))
        sections.append(Table("without a result", columns, rows, titled=False))
    return Document(
        title=f"campaign {state.name}",
        sections=tuple(sections),
        data=lambda: state,
        schema="campaign-status",
    )


def progress_line(state: CampaignState) -> str:
    """Progress in a line."""
    share = 100 * state.done / state.units if state.units else 100.0
    line = f"{_status(state)}: {state.done:,} of {state.units:,} units ({share:.0f} %)"
    left = seconds_left(state)
    return f"{line}, about {duration(left)} to go" if left is not None else line


def seconds_left(state: CampaignState) -> float | None:
    """Estimate of what is left, as this `run` went so far; None where that can't be known."""
    measured = state.done - state.found_done
    if state.status != "running" or measured < 1:
        return None
    took = (state.updated - state.started).total_seconds()
    return took / measured * (state.units - state.done)


def _status(state: CampaignState) -> str:
    if state.status in ("running", "stopping") and not state.alive():
        return "killed (`linerate campaign run` goes on)"
    return state.status


def _row(one: TestbedState) -> Row:
    each = f"{one.seconds / one.measured:.1f} s" if one.measured else ""
    return one.name, one.status, f"{one.measured:,}", f"{one.failed:,}", each, one.reason or one.now
