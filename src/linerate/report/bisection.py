"""The answer of a bisection: the first commit that is dearer, by how much, how sure that is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from linerate.base.published import Number, Output, published
from linerate.model.bisection import BisectionRecord, Round
from linerate.model.commit import Commit
from linerate.report.document import (
    NONE,
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
from linerate.results.bisection.accounts import TIME
from linerate.results.bisection.answer import (
    Growth,
    Interval,
    Noise,
    Outcome,
    beside_good,
    growth_found,
    noise,
    outcome,
)
from linerate.results.bisection.search import Bisection
from linerate.results.repeats_to_tell import REPEATS_MAX
from linerate.results.signed_ranks import CONFIDENCE

#: Digits of a commit, as git shortens them where there are some thousand.
DIGITS = 8


@dataclass(frozen=True, slots=True)
class Bisected:
    """A bisection as far as it is."""

    bisection: Bisection
    #: The line from good to bad.
    commits: Sequence[Commit]
    record: BisectionRecord
    #: Words of a command that measures the change by itself, where one commit was found.
    again: str = ""
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def found(self) -> Outcome:
        """Outcome so far."""
        return outcome(self.bisection)

    @property
    def suspects(self) -> Sequence[Commit]:
        """Commits that may be the first that is dearer, the oldest first."""
        return self.commits[self.bisection.low + 1 : self.bisection.high + 1]

    @property
    def places(self) -> list[int]:
        """Places of commits that were measured, or could not be."""
        between = (*self.bisection.rounds, *self.bisection.left_out)
        return sorted({0, len(self.commits) - 1, *between})

    @property
    def rounds(self) -> list[Round]:
        """Rounds that were measured."""
        return [one for one in self.record.events if isinstance(one, Round)]

    @property
    def trials(self) -> int:
        """Trials of all rounds."""
        return sum(2 + (one.middle is not None) for one in self.rounds)


def document(made: Bisected) -> Document:
    """The answer in sentences, then a table of all commits that were measured."""
    sections: list[Section] = [Note(line, "text") for line in _answer(made)]
    if made.rounds:
        sections.append(_table(made))
    sections.append(Note(_counts(made), "text"))
    return Document(
        title=f"bisect: {_outcome(made)}",
        sections=tuple(sections),
        data=partial(output, made),
        schema="bisect",
        page_title="linerate bisect",
        about=tuple(made.about.items()),
        ending=(Note(made.again, "text", "again: "),) if made.again else (),
    )


def _outcome(made: Bisected) -> str:
    growth = growth_found(made.bisection)
    by = f"dearer by {growth.percent.value:.1f} %" if growth else "dearer"
    match made.found:
        case "found":
            return f"{made.suspects[0].digits[:DIGITS]} is {by}"
        case "range":
            return f"one of {len(made.suspects):,} commits is {by}"
        case "alike":
            return "good and bad can't be distinguished"
        case _ if growth:
            return f"not finished, one of {len(made.suspects):,} commits is {by}"
    return "not finished, good and bad are still measured"


def _answer(made: Bisected) -> Iterator[str]:
    """The commit or commits, the size of the change, what is left open and why."""
    growth, undecided = growth_found(made.bisection), noise(made.bisection)
    if made.found == "found":
        yield _named(made.suspects[0])
    elif made.found == "range" and growth:
        first, last = made.suspects[0], made.suspects[-1]
        yield f"The first is {first.digits[:DIGITS]}, the last {last.digits[:DIGITS]}."
    if growth:
        yield _size(growth)
    if undecided:
        yield _noise(undecided)
    if reasons := [one for one in _left_out(made) if one.place <= made.bisection.high]:
        names = ", ".join(one.commit.digits[:DIGITS] for one in reasons)
        yield f"Left out, and it may be one of them: {names}."


def _named(commit: Commit) -> str:
    return f"{commit.digits[:DIGITS]} of {commit.authored}: {commit.subject}"


def _size(growth: Growth) -> str:
    percent = growth.percent
    whole = "of it" if growth.account == TIME else "of all nodes"
    return (
        f"{growth.account.name}: {_more(growth.by)} {growth.account.unit} a packet, "
        f"{percent.value:+.1f} % {whole} ({percent.low:+.1f} to {percent.high:+.1f} %, "
        f"{100 * CONFIDENCE:.0f} % sure)."
    )


def _more(by: Interval) -> str:
    return f"{by.value:+.1f} ({by.low:+.1f} to {by.high:+.1f})"


def _noise(undecided: Noise) -> str:
    if not undecided.rounds:
        return "--pairs allows too few to show anything."
    needed = (
        f"{undecided.rounds_to_tell} pairs would do (--pairs)"
        if undecided.rounds_to_tell
        else f"more than {REPEATS_MAX} pairs would be needed: a quieter machine, or longer trials"
    )
    return (
        f"{undecided.rounds} pairs were too few to find {undecided.percent:.1f} %: two of a pair "
        f"differ by {undecided.spread_percent:.1f} % by noise alone; {needed}."
    )


@dataclass(frozen=True, slots=True)
class _LeftOut:
    place: int
    commit: Commit
    reason: str


def _left_out(made: Bisected) -> list[_LeftOut]:
    """Commits that can't be measured, those that may be the first that is dearer."""
    return [
        _LeftOut(place, made.commits[place], reason)
        for place, reason in sorted(made.bisection.left_out.items())
        if made.bisection.low < place
    ]


def _table(made: Bisected) -> Table:
    """Commits that were measured, or could not be, in their order."""
    columns = (*text("commit"), *sentences("subject"), *figures("rounds", "more"), *sentences("is"))
    rows = tuple(_row(made, place) for place in made.places)
    return Table("commits", columns, rows, titled=False)


def _row(made: Bisected, place: int) -> Row:
    bisection, commit = made.bisection, made.commits[place]
    grown = beside_good(bisection, place)
    return (
        commit.digits[:DIGITS],
        commit.subject,
        f"{_rounds(made, place)}",
        f"{median(grown):+.1f}" if grown else NONE,
        _standing(bisection, place),
    )


def _rounds(made: Bisected, place: int) -> int:
    """Rounds with a trial of a commit."""
    if place in (0, len(made.commits) - 1):
        return len(made.rounds)
    return len(made.bisection.rounds.get(place, []))


def _standing(bisection: Bisection, place: int) -> str:
    """Side of a commit, or why it has none."""
    if place in bisection.left_out:
        return f"left out: {bisection.left_out[place]}"
    if place <= bisection.low:
        return "good"
    return "dearer" if place >= bisection.high else "undecided"


def _counts(made: Bisected) -> str:
    error = 100 * made.bisection.asked.significance
    return (
        f"{len(made.record.built)} builds, {len(made.rounds):,} rounds of trials in turn, "
        f"{made.trials:,} trials, {duration(made.record.seconds)}; a wrong answer has a "
        f"probability of {error:g} % at most."
    )


class IntervalOutput(Output):
    """An estimate with its confidence interval of 95 %."""

    value: Number
    low: Number
    high: Number


class CommitOutput(Output):
    """A commit."""

    commit: str
    subject: str
    #: Date of its author's.
    authored: str


class GrowthOutput(Output):
    """The size of the change."""

    #: A node, several, `all nodes`, or `time a packet`.
    account: str
    #: `cycles` or `ns`, a packet.
    unit: str
    by: IntervalOutput
    #: Share of all nodes' cycles of good; of its time a packet.
    percent: IntervalOutput


class MeasuredOutput(CommitOutput):
    """A commit that was measured, or could not be."""

    #: Place in the line; good is 0.
    place: int
    rounds: int
    #: Growth from good, in the unit of the change; null where it is not known.
    more: Number | None
    #: `good`, `dearer`, `undecided`, or `left out: ` and why.
    standing: str


class NoiseOutput(Output):
    """Why the rounds that were allowed could not decide."""

    rounds: int
    #: The change that was looked for.
    percent: Number
    #: Standard deviation of a pair's difference.
    spread_percent: Number
    #: Rounds that would do, nine times in ten; null: more than are worth measuring.
    rounds_to_tell: int | None


@published("bisect", "JSON of `linerate bisect --json`")
class BisectOutput(Output):
    """The answer of a bisection."""

    #: `found`: `suspects` has one commit; `range`: it is one of them; `alike`: good and bad can't
    #: be distinguished; `unfinished`: the same command goes on.
    outcome: Outcome
    #: Commits that may be the first that is dearer, the oldest first.
    suspects: tuple[CommitOutput, ...]
    #: From the last commit known as good to the first known as dearer; null: not known.
    growth: GrowthOutput | None
    #: Null where nothing is undecided.
    noise: NoiseOutput | None
    #: In their order.
    measured: tuple[MeasuredOutput, ...]
    #: Commits whose build was tried.
    builds: int
    rounds: int
    trials: int
    seconds: Number
    #: Probability of a wrong answer, at most.
    significance: Number
    #: A command that measures the change by itself; empty where no commit was found.
    again: str


def output(made: Bisected) -> BisectOutput:
    """The same for programs."""
    bisection = made.bisection
    growth, undecided = growth_found(bisection), noise(bisection)
    return BisectOutput(
        outcome=made.found,
        suspects=tuple(map(_commit, made.suspects)),
        growth=growth and _growth(growth),
        noise=undecided and NoiseOutput.model_validate(undecided),
        measured=tuple(_measured(made, place) for place in made.places),
        builds=len(made.record.built),
        rounds=len(made.rounds),
        trials=made.trials,
        seconds=made.record.seconds,
        significance=bisection.asked.significance,
        again=made.again,
    )


def _commit(one: Commit) -> CommitOutput:
    return CommitOutput(commit=one.digits, subject=one.subject, authored=one.authored)


def _growth(growth: Growth) -> GrowthOutput:
    return GrowthOutput(
        account=growth.account.name,
        unit=growth.account.unit,
        by=IntervalOutput.model_validate(growth.by),
        percent=IntervalOutput.model_validate(growth.percent),
    )


def _measured(made: Bisected, place: int) -> MeasuredOutput:
    commit, grown = made.commits[place], beside_good(made.bisection, place)
    return MeasuredOutput(
        commit=commit.digits,
        subject=commit.subject,
        authored=commit.authored,
        place=place,
        rounds=_rounds(made, place),
        more=median(grown) if grown else None,
        standing=_standing(made.bisection, place),
    )
