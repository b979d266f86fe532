"""A test as a case for continuous integration: passed, failed, or without a result."""

from dataclasses import dataclass
from typing import Literal

#: A failure is of the device or a gate, an error one of the measurement.
Outcome = Literal["passed", "failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """One case."""

    group: str
    name: str
    outcome: Outcome = "passed"
    #: Why it did not pass, in a line.
    message: str = ""
    #: More about it, whatever its outcome.
    text: str = ""
    seconds: float = 0.0
    figures: tuple[tuple[str, str], ...] = ()
