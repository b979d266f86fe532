"""Trials: what is measured now, and what the run's last trial came to."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.ui.exporter.families import counter, families, gauge
from linerate.ui.exporter.scene import Scene

#: Power in the last trial that was judged: field, metric, scale to its unit.
POWER = {
    "watts": ("power_watts", 1.0, "Power of the device under load"),
    "idle_watts": ("idle_power_watts", 1.0, "Power of the device without load"),
    "nj_per_packet": ("packet_energy_joules", 1e-9, "Energy for each packet that came through"),
}
STATES = ("idle", "running", "draining", "done")
#: The current trial, or the last one: each trial begins at 0.
LEVELS = {
    "elapsed_us": ("elapsed_seconds", 1e-6, "How long the trial has sent, on the tester's clock."),
    "paused_us": ("paused_seconds", 1e-6, "Time for which the tester's worker was descheduled."),
    "sent_packets": ("sent_packets", 1.0, "Packets that the trial has sent."),
    "received_packets": ("received_packets", 1.0, "Packets of the trial received."),
}


@families
def trials(scene: Scene) -> Iterator[Metric]:
    """Say how each engine's trial stands, from /linerate/trial."""
    testing = [
        (engine, one)
        for engine, one in scene.look.snapshots.items()
        if one.trial and any(worker.role != "forwarder" for worker in one.workers)
    ]
    yield gauge(
        "linerate_trial_state",
        "1 for the state that the engine's trial is in, 0 for the others.",
        ("engine", "state"),
        [
            ((engine, state), float(one.trial.get("state") == state))
            for engine, one in testing
            for state in STATES
        ],
    )
    yield counter(
        "linerate_trials_started",
        "Trials that the engine started.",
        ("engine",),
        [((engine,), float(one.trial.get("trial", 0))) for engine, one in testing],
    )
    for key, (metric, scale, text) in LEVELS.items():
        yield gauge(
            f"linerate_trial_{metric}",
            f"{text} From /linerate/trial.",
            ("engine",),
            [((engine,), one.trial.get(key, 0) * scale) for engine, one in testing],
        )


@families
def runs(scene: Scene) -> Iterator[Metric]:
    """Say which run an engine works for, and what that run measured last."""
    each = list(scene.runs.items())
    yield gauge(
        "linerate_trial_info",
        "The run that the engine was started for, the loadtest that it runs, and the limit that "
        "the run's last verdict names (empty before the first); always 1.",
        ("engine", "run", "suite", "loadtest", "verdict"),
        [((engine, run.run, run.suite, run.loadtest, run.verdict), 1.0) for engine, run in each],
    )
    judged = [
        ((engine, run.run, run.last.trial, str(run.last.valid).lower()), run.last)
        for engine, run in each
        if run.last is not None
    ]
    yield gauge(
        "linerate_result_received_packets_per_second",
        "Rate received in the last trial that the run has judged, all directions together.",
        ("engine", "run", "trial", "valid"),
        [(labels, last.received_pps) for labels, last in judged],
    )
    yield gauge(
        "linerate_result_loss_ratio",
        "Share of the packets lost in the last trial that the run has judged.",
        ("engine", "run", "trial", "valid"),
        [(labels, last.loss_ratio) for labels, last in judged],
    )
    for field, (metric, scale, text) in POWER.items():
        yield gauge(
            f"linerate_result_{metric}",
            f"{text} in the last trial that the run has judged; only where a meter is read.",
            ("engine", "run", "trial", "valid"),
            [
                (labels, scale * value)
                for labels, last in judged
                if (value := getattr(last, field)) is not None
            ],
        )
