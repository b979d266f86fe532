"""The tester's intended load: the line rate, or what it can offer where that is less.

A trial that the machine disturbed says nothing of the tester: the same is asked for again. What it
fell short of undisturbed lowers the load, once two agree, to nearly what the best of them managed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from linerate.analysis.validity import caused_by_host, caused_by_tester
from linerate.model.measurement import Measurement

FULL_SCALE_PPM = 1_000_000
#: Largest share of its own ceiling that the tester is asked for.
OF_CEILING = 0.95
#: Share of its achieved rate: at a lower load a device can return more packets, so that the tester
#: achieves less again.
OF_MANAGED = 0.95
#: Share of its best rate in some short trials.
OF_LOOK = 0.98
#: Attempts at one load agree within this.
AGREE_WITHIN = 0.05
#: As many at the first load show what the tester manages, whether they agree or not.
ATTEMPTS_AT_LOAD = 3


@dataclass(frozen=True, slots=True)
class AskedLoad:
    """A load, what the tester can do by itself, and how it fell short of the load so far."""

    scale_ppm: int
    ceiling_pps: float | None = None
    #: Packets a second, of undisturbed trials at this load.
    managed_pps: tuple[float, ...] = ()
    #: The same, of all loads of this test.
    fell_short_pps: tuple[float, ...] = ()

    @classmethod
    def first(cls, full_pps: float, ceiling_pps: float | None) -> "AskedLoad":
        """All that was asked for, or nearly what the tester can do if that is less."""
        if ceiling_pps is None:
            return cls(FULL_SCALE_PPM)
        share = min(1.0, OF_CEILING * ceiling_pps / full_pps)
        return cls(max(1, int(FULL_SCALE_PPM * share)), ceiling_pps)

    def after(self, measurement: Measurement) -> "AskedLoad":
        """Next load after an invalid trial.

        Little less at once where it hardly fell short in what was undisturbed.
        """
        if not caused_by_tester(measurement) or caused_by_host(measurement):
            return self
        managed = _managed_pps(measurement)
        if measurement.clean is not None and managed >= OF_LOOK * measurement.asked_pps:
            return replace(self, scale_ppm=max(1, int(OF_LOOK * self.scale_ppm)))
        known = replace(
            self,
            managed_pps=(*self.managed_pps, managed),
            fell_short_pps=(*self.fell_short_pps, managed),
        )
        return known._lowered(measurement.load.full_pps) if known._is_known else known

    def after_look(self, looks: Sequence[Measurement]) -> "AskedLoad":
        """Load after short trials showed the tester's rate at this load."""
        undisturbed = [one for one in looks if not caused_by_host(one)]
        if not undisturbed or not all(caused_by_tester(one) for one in undisturbed):
            return self
        best = max(_managed_pps(one) for one in undisturbed)
        scale = int(OF_LOOK * FULL_SCALE_PPM * best / undisturbed[0].load.full_pps)
        return replace(self, scale_ppm=max(1, min(self.scale_ppm, scale)))

    def after_warmup(self, warmup: Measurement) -> "AskedLoad":
        """Load after the device has learnt: a card's rules are the tester's work, too."""
        if not caused_by_tester(warmup):
            return self
        managed = _managed_pps(warmup)
        return replace(self, managed_pps=(managed,))._lowered(warmup.load.full_pps)

    @property
    def _is_known(self) -> bool:
        """Whether attempts show that this load is too much; after a first such one attempt does."""
        low, high = min(self.managed_pps), max(self.managed_pps)
        agree = len(self.managed_pps) > 1 and high <= low * (1 + AGREE_WITHIN)
        lowered = len(self.fell_short_pps) > len(self.managed_pps)
        return lowered or agree or len(self.managed_pps) >= ATTEMPTS_AT_LOAD

    def _lowered(self, full_pps: float) -> "AskedLoad":
        best = max(self.managed_pps)
        scale = int(OF_MANAGED * FULL_SCALE_PPM * best / full_pps)
        ceiling = best if self.ceiling_pps is None else min(self.ceiling_pps, best)
        return AskedLoad(max(1, min(self.scale_ppm, scale)), ceiling, (), self.fell_short_pps)


def _managed_pps(measurement: Measurement) -> float:
    """Rate that the tester achieved of the intended one.

    On a wire that pushes back a tester that loses frames itself sends faster than it receives.
    """
    pushes_back = measurement.load.pushes_back
    rate = measurement.received if pushes_back else measurement.offered
    return min(rate.packets_per_second, measurement.asked_pps)
