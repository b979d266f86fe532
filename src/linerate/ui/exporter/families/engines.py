"""Engines: which there are, which answer, and what asking them takes."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.ui.exporter.families import counter, families, gauge
from linerate.ui.exporter.scene import Scene

INFO = ("version", "dpdk", "memory", "mode", "layout")


@families
def engines(scene: Scene) -> Iterator[Metric]:
    """Say of each engine whether it answered in time."""
    look = scene.look
    up = [((name,), 1.0) for name in look.snapshots] + [((name,), 0.0) for name in look.silent]
    yield gauge(
        "linerate_engine_up",
        "Whether the engine answered all of its telemetry socket's commands in time.",
        ("engine",),
        up,
    )
    yield gauge(
        "linerate_engine_info",
        "What the engine is, from /linerate/info: always 1.",
        ("engine", *INFO),
        [
            ((name, *(str(one.info.get(key, "")) for key in INFO)), 1.0)
            for name, one in look.snapshots.items()
        ],
    )
    yield gauge(
        "linerate_engine_tsc_frequency_hertz",
        "TSC cycles per second: the divisor of all cycle counters.",
        ("engine",),
        [((name,), float(one.tsc_hz)) for name, one in look.snapshots.items()],
    )
    yield gauge(
        "linerate_engine_answer_seconds",
        "How long the engine took for all answers of this scrape.",
        ("engine",),
        [((name,), one.took_seconds) for name, one in look.snapshots.items()],
    )
    yield gauge(
        "linerate_exporter_engines_skipped",
        "Engines that were not asked, since more run than a scrape asks.",
        (),
        [((), float(look.skipped))],
    )
    yield gauge(
        "linerate_exporter_folders_refused",
        "Folders in which engines may run, that the exporter's user may not look into.",
        (),
        [((), float(len(look.refused)))],
    )
    yield gauge(
        "linerate_exporter_scrape_seconds",
        "How long this scrape took, all engines together.",
        (),
        [((), scene.seconds)],
    )


@families
def locks(scene: Scene) -> Iterator[Metric]:
    """Locks of forwarder.burn and of threading locked: what they cost all threads together."""
    columns = (
        ("acquisitions", "acquisitions", "How often the lock was taken, from /linerate/locks."),
        ("waits", "waits", "How often the lock was found held by another worker."),
        ("wait_clocks", "wait_clocks", "Cycles that workers waited for the lock."),
    )
    for key, name, text in columns:
        yield counter(
            f"linerate_lock_{name}",
            text,
            ("engine", "lock"),
            [
                ((engine, str(row["name"])), float(row[key]))
                for engine, one in scene.look.snapshots.items()
                for row in one.locks
            ],
        )
