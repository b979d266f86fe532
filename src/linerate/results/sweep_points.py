"""Points of a sweep: repeated trials of one configuration at one frame size."""

from dataclasses import dataclass
from statistics import median

from linerate.results.store import Result, Run, sound


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
            percents=tuple(one.line_percent for one in valid),
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
