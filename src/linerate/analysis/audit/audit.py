"""Every check on every row of a table."""

from dataclasses import dataclass

from linerate.analysis.audit.checks import (
    ABOVE_THE_LINE,
    BIT_RATE,
    CHECKS,
    PERCENTAGE,
    Finding,
    same_percentages,
)
from linerate.analysis.audit.table import Table


@dataclass(frozen=True, slots=True)
class Audit:
    """Findings in a table."""

    table: Table
    findings: tuple[Finding, ...]
    #: Rows that each check could not be asked about, as figures are missing; by heading.
    skipped: dict[str, int]

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        """Percentages that can't follow from their packet rate: the verdict."""
        return self.under(PERCENTAGE)

    @property
    def bit_rates(self) -> tuple[Finding, ...]:
        """Bit rates that can't follow from their packet rate."""
        return self.under(BIT_RATE)

    @property
    def above_the_line(self) -> tuple[Finding, ...]:
        """More than a line can carry."""
        return self.under(ABOVE_THE_LINE)

    def under(self, heading: str) -> tuple[Finding, ...]:
        """Findings under a heading."""
        return tuple(found for found in self.findings if found.heading == heading)


def audit(table: Table) -> Audit:
    """Ask every check about every row."""
    same = same_percentages(table.rows)
    findings = [
        found
        for one in CHECKS
        for row in table.rows
        if one.compares(row) and (found := one.look(row, same)) is not None
    ]
    skipped = {}
    for heading in dict.fromkeys(one.heading for one in CHECKS):
        checks = [one for one in CHECKS if one.heading == heading]
        skipped[heading] = sum(not any(one.compares(row) for one in checks) for row in table.rows)
    return Audit(table, tuple(findings), skipped)
