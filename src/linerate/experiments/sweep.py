"""A sweep: configurations × frame sizes × repeats, and what it comes to.

Configurations alternate within each repeat and size, so that disturbances of the machine affect all
of them alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from linerate.base.line_rate import FRAME_BYTES_MIN
from linerate.experiments.plan import Plan, Step
from linerate.lab.syscall_loops import Hop
from linerate.model.suites import Loadtest, Traffic
from linerate.model.sut_config import Configuration
from linerate.model.testbed import Testbed
from linerate.results.store import Absent, Result, Run, Sweep, sound

#: Frame sizes of the published sweep, FCS counted.
SIZES = (64, 128, 200, 256, 512, 1024, 1280, 1400, 1518)
#: Retries of an invalid trial of a sweep.
RETRIES = 2


def parse_sizes(text: str, largest: int) -> tuple[int, ...]:
    """Read `64,128,1518` or `64:1518:64` (the last size is always in it); raises ValueError."""
    sizes: list[int] = []
    for part in text.split(","):
        numbers = part.split(":")
        if not all(number.strip().isascii() and number.strip().isdigit() for number in numbers):
            raise ValueError(f"sizes: expected 64,128 or 64:1518:64, not '{text}'")
        values = [int(number) for number in numbers]
        if len(values) == 1:
            sizes += values
        elif len(values) == 3 and values[2] > 0 and values[0] <= values[1]:
            first, last, step = values
            if (last - first) // step > largest:
                raise ValueError(f"sizes: expected {FRAME_BYTES_MIN} to {largest} bytes")
            sizes += [*range(first, last, step), last]
        else:
            raise ValueError(f"sizes: expected FIRST:LAST:STEP, as 64:1518:64, not '{part}'")
    for size in sizes:
        if not FRAME_BYTES_MIN <= size <= largest:
            raise ValueError(
                f"sizes: expected {FRAME_BYTES_MIN} to {largest} bytes, FCS counted; not {size}"
            )
    return tuple(sorted(set(sizes)))


def default_sizes(largest: int) -> tuple[int, ...]:
    """The published sizes that fit."""
    return tuple(size for size in SIZES if size <= largest)


@dataclass(frozen=True, slots=True)
class Line:
    """A configuration, and the testbed that it makes."""

    configuration: Configuration
    testbed: Testbed


@dataclass(frozen=True, slots=True)
class How:
    """Settings of a sweep."""

    frame_bytes: tuple[int, ...]
    repeats: int
    directions: int
    duration_seconds: float


def sweep_plan(
    base: Testbed,
    lines: tuple[Line, ...],
    how: How,
    command: tuple[str, ...],
    suite: str = "sweep",
    absent: tuple[Absent, ...] = (),
    hop: Hop | None = None,
) -> Plan:
    """Plan all trials of a sweep; `absent` can't be measured here."""
    steps = tuple(
        Step(
            line.testbed,
            loadtest_of(line.configuration, size, how),
            repeat,
            line.configuration.name,
        )
        for repeat in range(1, how.repeats + 1)
        for size in how.frame_bytes
        for line in lines
    )
    about = Sweep(
        configurations=tuple(line.configuration.name for line in lines),
        frame_bytes=how.frame_bytes,
        repeats=how.repeats,
        directions=how.directions,
        absent=absent,
        hop=hop,
    )
    return Plan(base, suite, steps, how.duration_seconds, command, RETRIES, about)


def loadtest_of(configuration: Configuration, frame_bytes: int, how: How) -> Loadtest:
    """Many flows, plain IPv4, named CONFIGURATION@SIZE."""
    if configuration.dut == "iperf3":
        # All that it can send: docs/wires.md.
        return Loadtest(f"{configuration.key}@{frame_bytes}", Traffic(frame_bytes, "one"), 1)
    return Loadtest(
        f"{configuration.key}@{frame_bytes}",
        Traffic(frame_bytes, "many"),
        configuration.directions or how.directions,
        configuration.ports // 2,
    )


@dataclass(frozen=True, slots=True)
class Point:
    """One configuration at one frame size: repeated trials of it."""

    configuration: str
    frame_bytes: int
    #: Rates of the valid trials: packets a second, and % of line.
    rates_pps: tuple[float, ...]
    percents: tuple[float, ...]
    #: The trial in the middle, or the last when none is valid.
    result: Result
    trials: int

    @property
    def pps(self) -> float | None:
        """Median of the valid trials."""
        return median(self.rates_pps) if self.rates_pps else None

    @property
    def percent(self) -> float | None:
        """Median % of line."""
        return median(self.percents) if self.percents else None

    @property
    def spread_percent(self) -> float | None:
        """Largest less smallest, of the median; None with fewer than two valid trials."""
        middle = self.pps
        if len(self.rates_pps) < 2 or not middle:
            return None
        return 100 * (max(self.rates_pps) - min(self.rates_pps)) / middle


def points(run: Run) -> dict[tuple[str, int], Point]:
    """Results by configuration and frame size, in the order of the sweep."""
    reported = {result.test: result for result in run.reported()}
    found = {}
    for test, results in run.repeats().items():
        valid = sound(results)
        result = reported[test]
        # A sweep is over whole sizes.
        frame_bytes = int(result.frame_bytes)
        found[result.configuration, frame_bytes] = Point(
            configuration=result.configuration,
            frame_bytes=frame_bytes,
            rates_pps=tuple(one.received_pps for one in valid),
            percents=tuple(one.percent_of_line for one in valid),
            result=result,
            trials=len(results),
        )
    return found


def factors(
    rates_pps: dict[str, float | None], against: str | None = None
) -> dict[str, float | None]:
    """Each rate over that of `against`, or over the slowest; None where one is not known."""
    known = [rate for rate in rates_pps.values() if rate]
    base = min(known, default=None) if against is None else rates_pps.get(against)
    return {
        name: rate / base if rate is not None and base else None for name, rate in rates_pps.items()
    }


def by_rate(rates_pps: dict[str, float | None]) -> list[str]:
    """Names, the fastest first; equals stay in order, those without a rate come last."""
    return sorted(rates_pps, key=lambda name: -(rates_pps[name] or 0.0))


def largest_frame(testbeds: Iterable[Testbed]) -> int:
    """Largest frame that all of them carry, FCS counted."""
    return min(
        (one.card.max_frame_bytes for one in testbeds if one.wire == "card"), default=SIZES[-1]
    )
