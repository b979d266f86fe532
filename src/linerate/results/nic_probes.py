"""Two probes of a NIC, as `linerate nic probe --json` or `nic report` wrote them, compared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from linerate.base.errors import UserError
from linerate.base.frozen_model import FrozenModel
from linerate.base.safe_load import DocumentError, read_json
from linerate.model.flow_rule_acting import Outcome
from linerate.model.flow_rule_results import Refusal

Change = Literal["gained", "lost", "another reason", "acts otherwise"]
#: Times are of one call in a control thread: nearer to each other they are the same.
TIMES_ALIKE = 1.25


class Acts(FrozenModel):
    """Effect of a rule on frames."""

    outcome: Outcome
    detail: str = ""


class Tried(FrozenModel):
    """One pattern with one choice of actions."""

    pattern: str
    actions: str
    validated: bool
    created: bool
    reason: Refusal | None = None
    #: Probes of earlier releases have none.
    acts: Acts | None = None


class Took(FrozenModel):
    """Durations of orders."""

    median_us: float
    p99_us: float


class Filled(FrozenModel):
    """Number of rules that fit."""

    created: int
    full: bool
    before_first_refusal: int | None = None
    create: Took | None = None
    remove: Took | None = None


class NicProbe(FrozenModel):
    """Rules that a port took, and what is known of its NIC."""

    port: str
    table: tuple[Tried, ...] = Field(min_length=1)
    rules: Filled | None = None
    #: Driver, firmware, kernel and the like by name; only a report on a NIC has them.
    versions: dict[str, str] = {}


class NicProbeError(UserError):
    """A file that holds no probe; one line with the remedy."""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One pattern with one choice of actions that is answered in another way."""

    pattern: str
    actions: str
    change: Change
    #: Answers in words: `created`, or why not.
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure that differs."""

    name: str
    before: float
    after: float

    @property
    def factor(self) -> float | None:
        """Ratio of the later figure to the earlier one; None of nothing."""
        return self.after / self.before if self.before else None


@dataclass(frozen=True, slots=True)
class NicDifference:
    """All that differs between two probes."""

    versions: tuple[tuple[str, str, str], ...]
    rules: tuple[RuleChange, ...]
    figures: tuple[FigureChange, ...]
    #: Patterns with actions that both tried.
    compared: int

    @property
    def lost(self) -> int:
        """Number of rules that were taken before, or acted."""
        return sum(1 for one in self.rules if one.change == "lost")


def read_nic_probe(path: Path) -> NicProbe:
    """Read what `nic probe --json` printed, or a report that has it. Raises NicProbeError."""
    try:
        document = read_json(path)
    except OSError as error:
        raise NicProbeError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except DocumentError as error:
        raise NicProbeError(f"{path}: {error}") from error
    document = _inside(document)
    probed = _inside(document.get("probe", document)) if isinstance(document, dict) else None
    try:
        made = NicProbe.model_validate(probed)
    except ValidationError as error:
        raise NicProbeError(
            f"{path}: no probe of a NIC: expected what `linerate nic probe --json` printed, or a "
            "report that was made with --probe"
        ) from error
    return made.model_copy(update={"versions": dict(_versions(document))})


def _inside(document: Any) -> Any:  # noqa: ANN401 (what JSON can hold)
    """Result in an envelope; of earlier releases there was none."""
    enveloped = isinstance(document, dict) and "result" in document and "schema" in document
    return document["result"] if enveloped else document


def _versions(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Texts of a report's parts that name a release."""
    for part in ("driver", "host"):
        found = document.get(part)
        for name, value in found.items() if isinstance(found, dict) else ():
            if isinstance(value, str) and name != "iommu_group":
                yield ("driver" if name == "driver" else name), value


def difference(before: NicProbe, after: NicProbe) -> NicDifference:
    """Compare what both tried; what only one of them knows is no difference."""
    old, new = _by_rule(before), _by_rule(after)
    both = [key for key in old if key in new]
    names = [name for name in before.versions if name in after.versions]
    return NicDifference(
        tuple(
            (name, before.versions[name], after.versions[name])
            for name in names
            if before.versions[name] != after.versions[name]
        ),
        tuple(filter(None, (_rule_change(old[key], new[key]) for key in both))),
        tuple(_figures(before.rules, after.rules)),
        len(both),
    )


def _by_rule(probe: NicProbe) -> dict[tuple[str, str], Tried]:
    return {(tried.pattern, tried.actions): tried for tried in probe.table}


def _rule_change(before: Tried, after: Tried) -> RuleChange | None:
    # On a port in use rules are only validated: created is no less than that.
    taken = [one.created or (one.validated and one.reason is None) for one in (before, after)]
    change: Change = "another reason"
    if taken[0] != taken[1]:
        change = "gained" if taken[1] else "lost"
    elif taken[0]:
        acting = _acting_change(before.acts, after.acts)
        if acting is None:
            return None
        change = acting
    elif before.reason == after.reason:
        return None
    return RuleChange(before.pattern, before.actions, change, _words(before), _words(after))


def _acting_change(before: Acts | None, after: Acts | None) -> Change | None:
    """Compare two rules that were taken, where both were tried with frames."""
    if before is None or after is None or before.outcome == after.outcome:
        return None
    if "not tried" in (before.outcome, after.outcome):
        return None
    if "acts" not in (before.outcome, after.outcome):
        return "acts otherwise"
    return "gained" if after.outcome == "acts" else "lost"


def _words(tried: Tried) -> str:
    if tried.reason:
        return str(tried.reason)
    if tried.acts is not None and tried.acts.outcome != "not tried":
        seen = f" ({tried.acts.detail})" if tried.acts.detail else ""
        return f"created, {tried.acts.outcome}{seen}"
    return "created" if tried.created else "validated"


def _figures(before: Filled | None, after: Filled | None) -> Iterator[FigureChange]:
    if before is None or after is None:
        return
    # Where more rules were not tried, their number is the one that was asked for.
    if (before.full or after.full) and before.created != after.created:
        yield FigureChange("rules that fit", before.created, after.created)
    old, new = before.before_first_refusal, after.before_first_refusal
    if old is not None and new is not None and old != new:
        yield FigureChange("rules before one was refused", old, new)
    for order in ("create", "remove"):
        took = (getattr(before, order), getattr(after, order))
        for rank in ("median", "p99") if all(took) else ():
            pair = tuple(getattr(one, f"{rank}_us") for one in took)
            if max(pair) > TIMES_ALIKE * min(pair):
                yield FigureChange(f"{order}, {rank} µs", *pair)
