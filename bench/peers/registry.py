"""All benchmarks, in the order in which they were registered."""

from bench.peers.model import Kind

_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a benchmark known."""
    assert kind.name not in _kinds, kind.name
    _kinds[kind.name] = kind


def known() -> dict[str, Kind]:
    """Every benchmark by name."""
    return dict(_kinds)


def select(only: str | None) -> tuple[Kind, ...]:
    """Return all, or those named (`io,mac`); raises ValueError."""
    if only is None:
        return tuple(_kinds.values())
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in _kinds]
    if unknown or not wanted:
        what = f"no benchmark '{unknown[0]}'" if unknown else "no benchmark named"
        raise ValueError(f"{what}; expected some of {','.join(_kinds)}")
    return tuple(kind for name, kind in _kinds.items() if name in wanted)
