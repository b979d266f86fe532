"""A sweep: configurations × frame sizes × repeats, and what it comes to.

Configurations alternate within each repeat and size, so that disturbances of the machine affect all
of them alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from linerate.base.line_rate import FRAME_BYTES_MIN
from linerate.experiments.plan import Plan, Step
from linerate.model.run_records import Hop
from linerate.model.suites import Loadtest, Traffic
from linerate.model.sut_config import Configuration
from linerate.model.testbed import Testbed
from linerate.results.store import Absent, Sweep

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


def largest_frame(testbeds: Iterable[Testbed]) -> int:
    """Largest frame that all of them carry, FCS counted."""
    return min(
        (one.card.max_frame_bytes for one in testbeds if one.wire == "card"), default=SIZES[-1]
    )
