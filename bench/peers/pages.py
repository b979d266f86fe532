"""Gain of hugepages: `io` without them against `io` with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bench.peers.model import Kind, NotMeasuredError, Place, Session
from bench.peers.modes import ours
from bench.peers.registry import register

#: Memory of `io`, in pages of 2 MiB.
PAGES_NEEDED = 160


@contextmanager
def _without(place: Place) -> Iterator[Session]:
    with ours("io")(replace(place, hugepages=False)) as session:
        yield session


@contextmanager
def _with(place: Place) -> Iterator[Session]:
    if place.hugepages_free < PAGES_NEEDED:
        raise NotMeasuredError(f"{place.hugepages_free} hugepages free, {PAGES_NEEDED} needed")
    with ours("io")(replace(place, hugepages=True)) as session:
        yield session


register(
    Kind(
        name="no-huge",
        text="io on transparent huge pages",
        ours=_without,
        peer=_with,
        peer_name="hugepages",
    )
)
