"""Rates of counters that only rise, smoothed as a display wants them."""

#: Share of the newest reading.
NEW_SHARE = 0.5
#: Shorter intervals are left for the next reading.
LEAST_SECONDS = 0.2


class Smoothed:
    """One counter's rate a second."""

    def __init__(self) -> None:
        self._value: int | None = None
        self._at = 0.0
        self.rate = 0.0

    def read(self, value: int, now: float) -> None:
        """Take a reading."""
        if self._value is None or value < self._value:
            self._value, self._at, self.rate = value, now, 0.0
            return
        seconds = now - self._at
        if seconds < LEAST_SECONDS:
            return
        latest = (value - self._value) / seconds
        # Settles on 0 at once when nothing moves, and on a rate when something begins to.
        smooth = bool(self.rate) and bool(latest)
        self.rate = self.rate + NEW_SHARE * (latest - self.rate) if smooth else latest
        self._value, self._at = value, now
