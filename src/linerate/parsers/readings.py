"""Several readings of the same counters in one source; counters count on, so none are added up."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from linerate.model.evidence import Port, Quote


def counted_between(first: Mapping[str, int], last: Mapping[str, int]) -> dict[str, int]:
    """Return what was counted from the first reading to the last.

    Where any counter went back it was cleared or restarted in between: then all of the last
    reading was counted since.
    """
    if any(last[name] < value for name, value in first.items() if name in last):
        return dict(last)
    return {name: value - first.get(name, 0) for name, value in last.items()}


@dataclass(slots=True)
class Reading:
    """Counters of one thing, as one output shows them, and the lines that do."""

    counters: dict[str, int] = field(default_factory=dict)
    quotes: dict[str, Quote] = field(default_factory=dict)
    #: A heading, or the first line.
    quote: Quote | None = None

    def note(self, name: str, value: int, quote: Quote) -> None:
        """Keep one counter."""
        self.counters[name] = value
        self.quotes[name] = quote
        self.quote = self.quote or quote

    @property
    def where(self) -> Quote:
        """Its line."""
        return self.quote or next(iter(self.quotes.values()))


@dataclass(slots=True)
class Readings:
    """First and last reading of each thing, in the order in which they were first named."""

    _first: dict[str, Reading] = field(default_factory=dict)
    _last: dict[str, Reading] = field(default_factory=dict)

    def add(self, name: str, reading: Reading) -> None:
        """Keep a reading, if it has any counter; one of other counters belongs to the last."""
        last = self._last.get(name)
        if last is not None and not last.counters.keys() & reading.counters.keys():
            last.counters |= reading.counters
            last.quotes |= reading.quotes
        elif reading.counters:
            self._first.setdefault(name, reading)
            self._last[name] = reading

    def __contains__(self, name: str) -> bool:
        return name in self._last

    def __bool__(self) -> bool:
        return bool(self._last)

    def last(self, name: str) -> Reading:
        """The last reading of a thing, as it stands."""
        return self._last[name]

    def counted(self, gauges: re.Pattern[str] | None = None) -> list[tuple[str, Reading]]:
        """Counts of each thing between its first reading and its last.

        All of it where there is one reading only. Gauges go up and down, so that they show no
        clear: their last value stands.
        """
        found = []
        for name, last in self._last.items():
            first = self._first[name]
            counters = dict(last.counters)
            if first is not last:
                before, after = (
                    {
                        key: value
                        for key, value in one.counters.items()
                        if gauges is None or not gauges.fullmatch(key)
                    }
                    for one in (first, last)
                )
                counters |= counted_between(before, after)
            found.append((name, Reading(counters, last.quotes, last.quote)))
        return found


def port_with(name: str, reading: Reading) -> Port:
    """Make a port of counters that have the kernel's names."""
    counters = reading.counters
    return Port(
        name=name,
        rx_packets=counters.get("rx_packets"),
        tx_packets=counters.get("tx_packets"),
        rx_bytes=counters.get("rx_bytes"),
        tx_bytes=counters.get("tx_bytes"),
        counters=counters,
        quote=reading.where,
    )
