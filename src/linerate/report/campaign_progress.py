"""A campaign as planned and as it goes on, in tables."""

from collections import Counter
from collections.abc import Sequence

from linerate.model.campaign import CampaignPlan, CampaignState, TestbedPlan, TestbedState
from linerate.report.document import (
    NONE,
    Column,
    Document,
    Lead,
    Note,
    Row,
    Section,
    Table,
    Tone,
    figures,
    sentences,
    text,
)
from linerate.report.soak_lead import duration

#: Attempts without a result that are shown, the last ones: in a terminal, and on a page.
FAILURES, FAILURES_PAGE = 5, 50
_WEIGHTS = {"finished": "passed", "failed": "warning"}
_TONES: dict[str, Tone] = {"finished": "good", "failed": "failed"}


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
    line = Note(progress_line(state), weight=_WEIGHTS.get(state.status, "text"))  # type: ignore[arg-type]
    return _status_document(state, line, FAILURES)


def status_page(state: CampaignState) -> Document:
    """The same for a page: progress large, more of what failed."""
    began = f"{state.started:%F %H:%M} UTC"
    line = Lead(
        value=f"{state.done:,}",
        unit=f"of {state.units:,} units",
        subject=f"{_status(state)}, on {state.host or 'no host'} since {began}",
        verdict=_testbeds_line(state),
        tone=_TONES.get(state.status, "good" if state.alive() else "limited"),
        facts=_facts(state),
    )
    return _status_document(state, line, FAILURES_PAGE)


def _testbeds_line(state: CampaignState) -> str:
    """Testbeds by what they do."""
    counts = Counter(one.status for one in state.testbeds)
    return f"Testbeds: {', '.join(f'{number} {status}' for status, number in counts.items())}."


def _facts(state: CampaignState) -> tuple[tuple[str, str], ...]:
    left = seconds_left(state)
    aside = sum(one.status == "set aside" for one in state.testbeds)
    return (
        ("left", f"{max(0, state.units - state.done):,}"),
        ("attempts without a result", f"{sum(one.failed for one in state.testbeds):,}"),
        ("testbeds set aside", f"{aside} of {len(state.testbeds)}"),
        ("time left", NONE if left is None else duration(left)),
    )


def list_document(states: Sequence[CampaignState]) -> Document:
    """All campaigns of a dataset, the last one begun first; each row leads to its page."""
    rows = tuple(
        (
            state.name,
            _status(state),
            f"{state.done:,}",
            f"{max(0, state.units - state.done):,}",
            *(value for _, value in _facts(state)[1:]),
            f"{state.updated:%F %H:%M:%S}",
        )
        for state in sorted(states, key=lambda one: one.started, reverse=True)
    )
    columns = (
        *text("campaign", "status"),
        *figures("done", "left", "without a result", "testbeds set aside", "time left"),
        *text("last written, UTC"),
    )
    links = {state.name: f"campaigns/{state.name}" for state in states}
    return Document(
        title="Campaigns",
        sections=(Table("campaigns", columns, rows, titled=False, files=links),),
        data=lambda: list(states),
        schema="campaign-status",
    )


def _status_document(state: CampaignState, line: Section, failures: int) -> Document:
    columns = (
        *text("testbed", "status"),
        *figures("results", "failed"),
        Column("a unit"),
        *sentences("measures, or why not"),
    )
    sections: list[Section] = [
        line,
        Table("testbeds", columns, tuple(map(_row, state.testbeds)), titled=False),
    ]
    if state.problem:
        sections.insert(1, Note(state.problem, weight="doubt"))
    if state.failures:
        rows = tuple(
            (f"{one.time:%H:%M:%S}", one.testbed, f"{one.text}: {one.reason}")
            for one in state.failures[-failures:]
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
    if state.status != "running" or measured < 1 or not state.alive():
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
