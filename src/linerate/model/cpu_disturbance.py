"""CPU disturbances that no scheduler sees: SMIs, frequency, thermal throttling."""

from linerate.base.frozen_model import FrozenModel


class CpuDisturbance(FrozenModel):
    """Disturbances of a worker's CPU during a trial; None where unreadable."""

    smis: int | None = None
    throttles: int | None = None
    #: Slowest and fastest of the readings before, during and after.
    megahertz_min: float | None = None
    megahertz_max: float | None = None
    #: Cycles that it made for each of its nominal ones.
    of_nominal: float | None = None

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to say."""
        return not (self.smis or self.throttles or self.frequency_change)

    @property
    def frequency_change(self) -> float:
        """By how much the slowest reading was below the fastest; 0 where that is not known."""
        if not self.megahertz_min or not self.megahertz_max:
            return 0.0
        return 1 - self.megahertz_min / self.megahertz_max
