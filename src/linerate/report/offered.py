"""Offered load of a traffic profile, and the results of its streams."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linerate.base.line_rate import format_pps, l1_bits
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


def streams(measurement: Measurement) -> list[dict[str, Any]]:
    """Each stream of a profile: its rate at full scale, and its counters."""
    if measurement.load.offered is None:
        return []
    found = []
    for stream in measurement.load.offered.streams:
        counters = _counters(measurement, stream.name)
        sent = counters.get("sent", 0)
        figures: dict[str, Any] = {
            "name": stream.name,
            "direction": stream.side,
            "frame_bytes": stream.frame_bytes,
            "pps": stream.pps,
            "sent": sent,
        }
        if stream.signed:
            received = counters.get("received", 0)
            figures |= {
                "received": received,
                "lost": sent - received,
                "duplicated": counters.get("duplicated", 0),
                "out_of_order": counters.get("out_of_order", 0),
                "corrupted": counters.get("corrupted", 0),
            }
        found.append(figures)
    return found


def _counters(measurement: Measurement, name: str) -> Counter[str]:
    """All its frames: the timed ones may be a stream of their own."""
    found: Counter[str] = Counter()
    for part in (name, timed_name(name)):
        found.update(measurement.streams.get(part, {}))
    return found


def of_result(result: Result, folder: Path) -> list[dict[str, Any]]:
    """The same, read from a run; none where its evidence is gone."""
    try:
        return streams(load_measurement(folder, result.trial))
    except StoreError:
        return []


def worst(result: Result, folder: Path) -> list[tuple[str, ...]]:
    """Rows of COLUMNS: the streams that lost most, of valid trials."""
    if not result.valid:
        return []
    signed = [stream for stream in of_result(result, folder) if "lost" in stream]
    signed.sort(key=lambda stream: -stream["lost"])
    rows = [_row(stream) for stream in signed[:SHOWN]]
    if len(signed) > SHOWN:
        rest = len(signed) - SHOWN
        rows.append((f"{rest:,} more: --json", *[""] * (len(COLUMNS) - 1)))
    return rows


def document(result: Result, folder: Path) -> dict[str, Any]:
    """For programs: the profile and all its streams; nothing for other traffic."""
    if result.profile is None:
        return {}
    return {
        "profile": result.profile.model_dump(mode="json"),
        "streams": of_result(result, folder),
    }


def _row(stream: dict[str, Any]) -> tuple[str, ...]:
    lost, sent = stream["lost"], stream["sent"]
    share = 100 * lost / sent if sent else 0.0
    return (
        stream["name"],
        str(stream["frame_bytes"]),
        f"{sent:,}",
        f"{stream['received']:,}",
        f"{lost:,}",
        "0" if not lost else f"{share:.2f} %" if share >= 0.01 else "<0.01 %",
        f"{stream['out_of_order']:,}",
    )
