"""The tester's intended load: the line rate, or what it can offer where that is less.

A trial that the machine disturbed throughout shows nothing of the tester: the same is asked for
again. What it fell short of undisturbed lowers the load, once two agree, to nearly what the best of
them managed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from linerate.analysis.validity import LIMIT_WITHIN, caused_by_host, caused_by_tester
from linerate.model.measurement import Measurement

FULL_SCALE_PPM = 1_000_000
#: Largest share of its own ceiling that the tester is asked for.
OF_CEILING = 0.95
#: Share of its achieved rate: at a lower load a device can return more packets, so that the tester
#: achieves less again.
OF_MANAGED = 0.95
#: Share of its best rate in some short trials.
OF_LOOK = 0.98
#: Clean time that shows what the tester manages, even if it is too little for a result.
SHOWS_US = 100_000
#: Attempts at one load agree within this.
AGREE_WITHIN = 0.05
#: As many at the first load show what the tester manages, whether they agree or not.
ATTEMPTS_AT_LOAD = 3


@dataclass(frozen=True, slots=True)
class AskedLoad:
    """A load, what the tester can do by itself, and how it fell short of the load so far."""

    scale_ppm: int
    ceiling_pps: float | None = None
    #: Packets a second of undisturbed looks and trials that fell short, at any load of this test.
    fell_short_pps: tuple[float, ...] = ()
    #: The last ones of them were trials at this load.
    tried: int = 0
    #: It is as much as the tester can offer, or more: what it falls short of it is its own limit.
    of_tester: bool = False

    @classmethod
    def first(cls, full_pps: float, ceiling_pps: float | None) -> "AskedLoad":
        """All that was asked for, or nearly what the tester can do if that is less."""
        if ceiling_pps is None:
            return cls(FULL_SCALE_PPM)
        share = min(1.0, OF_CEILING * ceiling_pps / full_pps)
        return cls(max(1, int(FULL_SCALE_PPM * share)), ceiling_pps, of_tester=share < 1)

    @property
    def offered_within(self) -> float:
        """Share of it that the tester may fall short: any, of what is only its own limit."""
        return 1.0 if self.of_tester else LIMIT_WITHIN

    def after(self, measurement: Measurement) -> "AskedLoad":
        """Next load after an invalid trial.

        Little less at once where it hardly fell short in what was undisturbed.
        """
        if not caused_by_tester(measurement) or not _shows_tester(measurement):
            return self
        managed = _managed_pps(measurement)
        if measurement.clean is not None and managed >= OF_LOOK * measurement.asked_pps:
            return self._at(OF_LOOK * managed, 1.0, measurement.load.full_pps)
        known = replace(
            self,
            fell_short_pps=(*self.fell_short_pps, managed),
            tried=self.tried + 1,
            of_tester=True,
        )
        return known._lowered(measurement.load.full_pps) if known._is_known else known

    def after_look(self, looks: Sequence[Measurement]) -> "AskedLoad":
        """Load after short trials showed the tester's rate at this load."""
        undisturbed = [one for one in looks if _shows_tester(one)]
        fell_short = [one for one in undisturbed if caused_by_tester(one)]
        if not fell_short:
            return self
        managed = tuple(_managed_pps(one) for one in undisturbed)
        known = replace(self, of_tester=True, fell_short_pps=(*self.fell_short_pps, *managed))
        first = undisturbed[0]
        if max(managed) >= first.asked_pps * (1 - LIMIT_WITHIN):
            return known
        return known._at(max(managed), OF_LOOK, first.load.full_pps)

    def after_warmup(self, warmup: Measurement) -> "AskedLoad":
        """Load after the device has learnt: a card's rules are the tester's work, too."""
        if not caused_by_tester(warmup):
            return self
        return self._at(_managed_pps(warmup), OF_MANAGED, warmup.load.full_pps)

    @property
    def _at_this_load(self) -> tuple[float, ...]:
        return self.fell_short_pps[-self.tried :]

    @property
    def _is_known(self) -> bool:
        """Whether attempts show that this load is too much; after a first such one attempt does."""
        managed = self._at_this_load
        agree = self.tried > 1 and max(managed) <= min(managed) * (1 + AGREE_WITHIN)
        lowered = len(self.fell_short_pps) > self.tried
        return lowered or agree or self.tried >= ATTEMPTS_AT_LOAD

    def _lowered(self, full_pps: float) -> "AskedLoad":
        return replace(self._at(max(self._at_this_load), OF_MANAGED, full_pps), tried=0)

    def _at(self, best_pps: float, share: float, full_pps: float) -> "AskedLoad":
        """Nearly what the tester managed with the device behind it, which is its ceiling now."""
        scale = max(1, min(self.scale_ppm, int(share * FULL_SCALE_PPM * best_pps / full_pps)))
        ceiling = best_pps if self.ceiling_pps is None else min(self.ceiling_pps, best_pps)
        return replace(self, scale_ppm=scale, ceiling_pps=ceiling, of_tester=True)


def _shows_tester(measurement: Measurement) -> bool:
    """Whether enough of the trial was undisturbed to know the tester's rate."""
    clean = measurement.clean
    return not caused_by_host(measurement) or (clean is not None and clean.clean_us >= SHOWS_US)


def _managed_pps(measurement: Measurement) -> float:
    """Rate that the tester achieved of the intended one.

    On a wire that pushes back a tester that loses frames itself sends faster than it receives.
    """
    pushes_back = measurement.load.pushes_back
    rate = measurement.received if pushes_back else measurement.offered
    return min(rate.packets_per_second, measurement.asked_pps)
