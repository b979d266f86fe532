"""Two readings of the same counters in one source; counters count on, so none are added up."""

from collections.abc import Mapping


def counted_between(first: Mapping[str, int], last: Mapping[str, int]) -> dict[str, int]:
    """Return what was counted from the first reading to the last.

    Where any counter went back it was cleared or restarted in between: then all of the last
    reading was counted since.
    """
    if any(last[name] < value for name, value in first.items() if name in last):
        return dict(last)
    return {name: value - first.get(name, 0) for name, value in last.items()}
