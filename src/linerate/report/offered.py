"""Offered load of a traffic profile, and the results of its streams."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linerate.base.line_rate import format_pps, l1_bits
from linerate.base.published import Number, Output
from linerate.model.measurement import Measurement
from linerate.model.suites.loadtest import timed_name
from linerate.report.document import Listing, Section, table
from linerate.results.store import Result, StoreError, load_measurement

COLUMNS = ("stream", "frame B", "sent", "received", "lost", "loss", "reordered")
#: Streams that are shown, those that lost most first; all are in --json and in the evidence.
SHOWN = 10
#: Sizes that are listed one by one.
SIZES_SHOWN = 6
UNSIGNED = "its frames carry no signature: received frames are counted in the ledger, not by stream"


def lines(result: Result) -> list[str]:
    """Two or three lines on what was offered."""
    about = result.profile
    if about is None:
        return []
    plural = "s" * (about.streams > 1)
    sizes = ", ".join(
        f"{size} B {100 * share:.2f} %" for size, share in list(about.sizes.items())[:SIZES_SHOWN]
    )
    if len(about.sizes) > SIZES_SHOWN:
        sizes += f", {len(about.sizes) - SIZES_SHOWN} more"
    rate = f"{about.full_pps * l1_bits(about.frame_bytes) / 1e9:.3f} Gb/s"
    text = [
        f"{result.test}: {about.text}",
        f"  {about.streams:,} stream{plural}, mean frame {about.frame_bytes:.1f} B; "
        f"{about.rate}: {format_pps(about.full_pps, '.4f')}, {rate} on the wire",
        f"  {sizes}",
    ]
    return text if about.signed else [*text, f"  {UNSIGNED}"]


def sections(results: list[Result], folder: Path) -> Iterator[Section]:
    """Offered load of profiles, and the streams that lost most."""
    for result in results:
        if not (found := lines(result)):
            continue
        first, *more = found
        yield Listing(first, ("", ""), tuple(("", line.strip()) for line in more))
        yield table(f"{result.test}: streams", COLUMNS, worst(result, folder)).untitled


class StreamOutput(Output):
    """A stream of a profile: its rate at full scale, and its counters."""

    name: str
    #: 0: from t0 to t1; 1: the other way.
    direction: int
    #: FCS counted.
    frame_bytes: Number
    pps: Number
    sent: int
    #: This and the following: of streams whose frames say whose they are. Of those that are
    #: counted by their IP header duplicated, out of order and corrupted ones are 0.
    received: int | None = None
    lost: int | None = None
    duplicated: int | None = None
    out_of_order: int | None = None
    corrupted: int | None = None


def streams(measurement: Measurement) -> list[StreamOutput]:
    """Each stream of a profile."""
    if measurement.load.offered is None:
        return []
    found = []
    for stream in measurement.load.offered.streams:
        counters = _counters(measurement, stream.name)
        sent = counters.get("sent", 0)
        signed: dict[str, int] = {}
        if stream.signed:
            received = counters.get("received", 0)
            signed = {
                "received": received,
                "lost": sent - received,
                "duplicated": counters.get("duplicated", 0),
                "out_of_order": counters.get("out_of_order", 0),
                "corrupted": counters.get("corrupted", 0),
            }
        found.append(
            StreamOutput(
                name=stream.name,
                direction=stream.side,
                frame_bytes=stream.frame_bytes,
                pps=stream.pps,
                sent=sent,
                **signed,
            )
        )
    return found


def _counters(measurement: Measurement, name: str) -> Counter[str]:
    """All its frames: the timed ones may be a stream of their own."""
    found: Counter[str] = Counter()
    for part in (name, timed_name(name)):
        found.update(measurement.streams.get(part, {}))
    return found


def of_result(result: Result, folder: Path) -> list[StreamOutput]:
    """The same, read from a run; none where its evidence is gone."""
    try:
        return streams(load_measurement(folder, result.trial))
    except StoreError:
        return []


def worst(result: Result, folder: Path) -> list[tuple[str, ...]]:
    """Rows of COLUMNS: the streams that lost most, of valid trials."""
    if not result.valid:
        return []
    signed = [(one.lost, one) for one in of_result(result, folder) if one.lost is not None]
    signed.sort(key=lambda pair: -pair[0])
    rows = [_row(stream, lost) for lost, stream in signed[:SHOWN]]
    if len(signed) > SHOWN:
        rest = len(signed) - SHOWN
        rows.append((f"{rest:,} more: --json", *[""] * (len(COLUMNS) - 1)))
    return rows


def fields(result: Result, folder: Path) -> dict[str, Any]:
    """For programs: the profile and all its streams; nothing for other traffic."""
    if result.profile is None:
        return {}
    return {"profile": result.profile, "streams": of_result(result, folder)}


def _row(stream: StreamOutput, lost: int) -> tuple[str, ...]:
    share = 100 * lost / stream.sent if stream.sent else 0.0
    return (
        stream.name,
        str(stream.frame_bytes),
        f"{stream.sent:,}",
        f"{stream.received:,}",
        f"{lost:,}",
        "0" if not lost else f"{share:.2f} %" if share >= 0.01 else "<0.01 %",
        f"{stream.out_of_order:,}",
    )
