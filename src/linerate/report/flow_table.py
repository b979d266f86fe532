"""Counters of a flow table, and its gain by the cards' tables: the suite's table.

As the published one: the received rate of each way in Mb/s (L1), the CPU, and beside them the share
of packets that arrived marked and the number of rules. The same figures for all reports.
"""

from dataclasses import dataclass

from linerate.base.published import Number, Output
from linerate.report.document import Note, Section, table
from linerate.results.store import FlowFigures, Result

TITLE = "The flow table, alone and with lookup by the cards"
COLUMNS = ("traffic", "offload", "up Mb/s", "down Mb/s", "CPU %", "marked %", "rules", "gain")
#: Columns of words.
WORDS = 2
EXPLAINED = (
    "Mb/s on the wire, preamble and gap included; up: from the first port to the second; "
    "CPU: of the forwarder's workers, calls that found packets; "
    "gain: of the rate, of the CPU where the rate is the same, and of the CPU that a "
    "packet takes where the tester sent less"
)
#: Workers that have no more time than this have none.
SATURATED_PERCENT = 95.0
#: Rates are the same within this: what limits both is not the forwarder.
SAME_WITHIN = 0.03


@dataclass(frozen=True, slots=True)
class Row:
    """One trial, and the one without offload that it is compared with."""

    traffic: str
    figures: FlowFigures
    #: The same traffic without offload; None for that itself, or when it has no result.
    software: FlowFigures | None

    @property
    def rate_ratio(self) -> float | None:
        """Received rate over that of software alone."""
        if self.software is None:
            return None
        before = self.software.upstream_bps + self.software.downstream_bps
        after = self.figures.upstream_bps + self.figures.downstream_bps
        return after / before if before else None

    @property
    def busy_points(self) -> float | None:
        """CPU, in points of a hundred: below 0, less was used."""
        if self.software is None:
            return None
        return self.figures.busy_percent - self.software.busy_percent

    @property
    def cpu_ratio(self) -> float | None:
        """CPU that a packet takes, over what it takes by software alone."""
        ratio, software = self.rate_ratio, self.software
        if not ratio or software is None or not software.busy_percent:
            return None
        return self.figures.busy_percent / software.busy_percent / ratio

    @property
    def gain(self) -> str:
        """In words: of the rate, or where that is the same of the CPU.

        A rate that fell though the workers had time was not theirs but the tester's: then it is
        the CPU of a packet that can be compared.
        """
        ratio, points, cpu = self.rate_ratio, self.busy_points, self.cpu_ratio
        if ratio is None or points is None or cpu is None:
            return ""
        if abs(ratio - 1) <= SAME_WITHIN and abs(points) >= 0.5:
            return f"{points:+.0f} % CPU"
        if ratio < 1 and self.figures.busy_percent < SATURATED_PERCENT:
            return f"{100 * (cpu - 1):+.0f} % a packet"
        return f"{ratio:.2f} ×"

    @property
    def cells(self) -> tuple[str, ...]:
        """As text, by COLUMNS."""
        one = self.figures
        return (
            self.traffic,
            "on" if one.offload else "off",
            f"{one.upstream_bps / 1e6:.1f}",
            f"{one.downstream_bps / 1e6:.1f}",
            f"{one.busy_percent:.0f}",
            f"{one.marked_percent:.1f}",
            f"{one.rules:,}",
            self.gain,
        )


def rows(results: list[Result]) -> list[Row]:
    """A row for each trial of a flow table that has a result."""
    found = [
        (result.test.partition("-")[0], result.flow_table)
        for result in results
        if result.valid and result.flow_table is not None
    ]
    software = {traffic: figures for traffic, figures in found if not figures.offload}
    return [
        Row(traffic, figures, software.get(traffic) if figures.offload else None)
        for traffic, figures in found
    ]


def sections(results: list[Result]) -> list[Section]:
    """The table, where a device has a flow table."""
    cells = [row.cells for row in rows(results)]
    words = range(WORDS)
    return [table(TITLE, COLUMNS, cells, words), Note(EXPLAINED)] if cells else []


class _Traffic(Output):
    traffic: str


class FlowTableOutput(FlowFigures, _Traffic):
    """Counters of a flow table, and its gain over software alone."""

    rate_ratio: Number | None
    busy_points: Number | None
    cpu_ratio: Number | None


def outputs(results: list[Result]) -> list[FlowTableOutput]:
    """For programs."""
    return [
        FlowTableOutput(
            traffic=row.traffic,
            **dict(row.figures),
            rate_ratio=row.rate_ratio,
            busy_points=row.busy_points,
            cpu_ratio=row.cpu_ratio,
        )
        for row in rows(results)
    ]
