"""Packets that were lost, or refused, because the host kept a worker from its CPU for a moment."""

import re
from collections.abc import Sequence

from linerate.model.ledger import TimeLedger, forwarder_ledgers
from linerate.model.loss_places import HANDOFF_FULL, PACKET_RATE, PCIE, RX_MISSED, TX_FULL, lost_at
from linerate.model.measurement import Measurement

#: A worker that resumes finds full rings, and fills others: that loses somewhat more packets than
#: arrived while it was descheduled.
CATCH_UP_FACTOR = 1.5
#: Largest share of the sent packets that are refused of bursts.
BURST_SHARE = 1e-3
#: Largest share lost at rings in stalls too short to be detected as descheduling.
STALL_SHARE = 1e-4
#: Where packets wait for workers.
RINGS = (RX_MISSED, TX_FULL, HANDOFF_FULL)
#: A worker with a smaller share of idle polls is busy.
BUSY_IDLE_PERCENT = 5.0


def busiest_worker(measurement: Measurement) -> TimeLedger | None:
    """Find the forwarder's worker that had the least time to spare."""
    ledgers = forwarder_ledgers(measurement.time_at_load)
    return min(ledgers, key=lambda ledger: ledger.spare_percent, default=None)


def judged_at(measurement: Measurement, places: Sequence[re.Pattern[str]]) -> int:
    """Packets lost at places that match; those of disturbed slices left out."""
    if measurement.clean is None:
        return sum(lost_at(measurement.packets, place) for place in places)
    counts = measurement.clean.places
    return sum(
        one.lost - one.lost_disturbed
        for one in counts
        if any(place.search(one.place) for place in places)
    )


def left_out(measurement: Measurement) -> int:
    """Packets lost that count as the host's."""
    if measurement.clean is not None:
        return measurement.left_out
    return min(lost_while_descheduled(measurement), max(0, measurement.lost))


def lost_while_descheduled(measurement: Measurement) -> int:
    """Packets lost at rings while a worker with idle polls was descheduled.

    All or none of the rings' losses: none when the descheduled time can't explain that many
    packets, or a worker was busy anyway. None with clean slices: losses in others do not count
    anyway.
    """
    if measurement.clean is not None:
        return 0
    busy = busiest_worker(measurement)
    if busy is None or busy.spare_percent < BUSY_IDLE_PERCENT:
        return 0
    return may_be_lost_while_descheduled(measurement)


def refused_by_burst(measurement: Measurement) -> int:
    """Packets that the virtual card refused when its tester caught up after it was descheduled.

    All or none: a card at its limit refuses far more.
    """
    away = any(ledger.away_clocks for ledger in measurement.time if ledger.role == "tester")
    refused = judged_at(measurement, (PACKET_RATE, PCIE))
    few = refused <= BURST_SHARE * measurement.judged_sent
    return refused if away and few and measurement.card is not None else 0


def _arrived_while_descheduled(measurement: Measurement) -> float:
    """Packets that arrived while the forwarder's workers were descheduled."""
    away_seconds = sum(
        ledger.away_clocks / ledger.tsc_hz for ledger in forwarder_ledgers(measurement.time)
    )
    return measurement.offered.packets_per_second * away_seconds


def may_be_lost_while_descheduled(measurement: Measurement) -> int:
    """Packets lost at rings that descheduled workers can have lost, whether idle or busy otherwise.

    `lost_while_descheduled` leaves out those of a worker that was busy anyway: reason for another
    trial, not an excuse.
    """
    if measurement.clean is not None:
        return 0
    lost = judged_at(measurement, RINGS)
    return lost if lost <= CATCH_UP_FACTOR * _arrived_while_descheduled(measurement) else 0


def may_be_by_stall(measurement: Measurement) -> int:
    """Packets lost at rings of workers that had time to spare: they were stalled for a moment.

    A ring of 1,024 lasts 69 us at line rate; descheduling for less than 100 us is not detected
    (engine/core/worker.h). By the host or by the device: reason for another trial, too.
    """
    busy, lost = busiest_worker(measurement), judged_at(measurement, RINGS)
    spare = busy is not None and busy.spare_percent >= BUSY_IDLE_PERCENT
    return lost if spare and lost <= STALL_SHARE * measurement.judged_sent else 0
