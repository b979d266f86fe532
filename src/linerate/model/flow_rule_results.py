"""Results of trying rte_flow rules on a port: refusals, times, how many fit."""

from dataclasses import dataclass, field

from linerate.model import flow_rule_patterns
from linerate.model.flow_rule_acting import Acting
from linerate.model.flow_rule_patterns import Words


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a driver refused a rule: rte_flow_error's type, what it points at, the driver's words."""

    errno: str
    type: str
    cause: str
    message: str

    def __str__(self) -> str:
        """In one line."""
        where = self.type if not self.cause else f"{self.type}, {self.cause}"
        return f"{where}: {self.message} ({self.errno})"


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of one order."""

    #: Time in the port's driver, measured by the engine's control thread.
    ns: int
    #: None: accepted.
    refusal: Refusal | None = None
    #: Id of the created rule.
    rule: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Rules that were made and removed through rte_flow's asynchronous API."""

    #: Operations that the device's queue holds.
    queue_size: int
    created: int
    destroyed: int
    #: Durations of all together, results included.
    create_ns: int
    destroy_ns: int
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One pattern with one choice of actions."""

    pattern: Words
    actions: Words
    #: By validate; None: accepted.
    refused: Refusal | None
    #: By create, of what validate accepted; None: created, or not tried.
    not_created: Refusal | None
    created: bool
    #: None: no frames were to be sent.
    acting: Acting | None = None

    @property
    def rule(self) -> str:
        """Its text."""
        return flow_rule_patterns.rule(self.pattern.text, self.actions.text)

    @property
    def reason(self) -> Refusal | None:
        """Why there can be no such rule."""
        return self.refused or self.not_created


@dataclass(frozen=True, slots=True)
class Times:
    """Durations of orders, in nanoseconds."""

    count: int
    min: int
    median: int
    p99: int
    max: int


def times(ns: list[int]) -> Times | None:
    """Sum up: nearest ranks; None of nothing."""
    if not ns:
        return None
    ordered = sorted(ns)

    def rank(percent: int) -> int:
        return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]

    return Times(len(ordered), ordered[0], rank(50), rank(99), ordered[-1])


#: Parts of a table's filling whose times are summed up by themselves.
OCCUPANCY_PARTS = 10


@dataclass(slots=True)
class Filling:
    """Number of rules that fit, and their programming times."""

    rule: str
    max_rules: int
    created: int = 0
    #: Rules that stood when one was refused for the first time; None: none was.
    before_first_refusal: int | None = None
    first_refusal: Refusal | None = None
    #: At the end: why no more were tried.
    full: bool = False
    create_ns: list[int] = field(default_factory=list)
    remove_ns: list[int] = field(default_factory=list)
    not_removed: Refusal | None = None
    #: None: not asked.
    batch: Batch | None = None

    def create_by_occupancy(self) -> tuple[tuple[int, Times], ...]:
        """Times of creating a rule, by how many stood before the first of a part: ten parts."""
        size = -(-len(self.create_ns) // OCCUPANCY_PARTS)
        starts = range(0, len(self.create_ns), size) if size else ()
        parts = ((start, times(self.create_ns[start : start + size])) for start in starts)
        return tuple((start, part) for start, part in parts if part is not None)
