"""One trial as a row of the dataset, and the keys that distinguish trials.

Unknown is empty text, an empty map, or None among figures: never 0.
"""

from datetime import datetime

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import published

#: Raised when a column changes its meaning, unit or name, or goes; new columns raise nothing.
SCHEMA = 1


class TrialKeys(FrozenModel):
    """Keys of a trial, where more is known of it than its run says.

    What is left empty is taken of the run.
    """

    campaign: str = ""
    device: str = ""
    version: str = ""
    commit: str = ""
    setting: str = ""
    scenario: str = ""
    scenario_digest: str = ""
    values: dict[str, str] = {}
    testbed: str = ""
    load: str = ""
    repeat: int | None = None


@published("trial-row", "A row of a dataset's Parquet files", SCHEMA, form="kept")
class TrialRow(FrozenModel):
    """One attempt of one trial; invalid ones are rows too."""

    schema_version: int = SCHEMA
    #: Name under which all trials of one run are written, once.
    unit_key: str
    #: Name of the trial in its run.
    trial: str
    #: Name of the run's folder.
    run: str
    #: Beginning of the run, UTC.
    started: datetime
    #: Command that measured: bench, sweep, search, latency, rfc2544, soak, matrix.
    command: str = ""
    #: Campaign that asked for it; empty of a run by itself.
    campaign: str = ""
    #: Kind of the device under test, and its mode.
    device: str = ""
    #: Version of the device, and its commit.
    version: str = ""
    commit: str = ""
    #: Name of the device's settings.
    setting: str = ""
    #: Scenario, or the suite of a run without one; the digest of its file.
    scenario: str = ""
    scenario_digest: str = ""
    #: Values of the scenario, by name.
    values: dict[str, str] = {}
    #: Loadtest, as U2; of a sweep without its size.
    loadtest: str = ""
    #: Size of a frame with its FCS, the mean of mixed ones.
    frame_bytes: float | None = None
    #: Workers of the device.
    workers: int | None = None
    #: Testbed, by name.
    testbed: str = ""
    #: Digest of what follows, up to the NIC's firmware: another one is another machine.
    machine: str = ""
    host: str = ""
    cpu: str = ""
    kernel: str = ""
    microcode: str = ""
    bios: str = ""
    nic: str = ""
    nic_firmware: str = ""
    #: Offered load: `line`, a share of it as `50 %`, or a rate.
    load: str = ""
    #: Number of the repeated trial, and of its attempt.
    repeat: int = 1
    attempt: int = 1
    valid: bool
    #: Why it is invalid; why its figures may be off. Several reasons have `; ` between them.
    invalid: str = ""
    suspect: str = ""
    duration_s: float | None = None
    #: Rates of all directions together.
    offered_pps: float | None = None
    received_pps: float | None = None
    #: L1 rate received, as a share of the line's.
    line_percent: float | None = None
    loss_percent: float | None = None
    #: By place, packets lost there; `unexplained` where no counter has them.
    losses: dict[str, int] = {}
    #: Limit of the device, by the verdict.
    limit: str = ""
    #: Cycles of the device's workers for each packet that entered it; by node of its graph.
    cycles_per_packet: float | None = None
    nodes: dict[str, float] = {}
    #: Latency of all streams together.
    latency_p50_us: float | None = None
    latency_p90_us: float | None = None
    latency_p99_us: float | None = None
    latency_p999_us: float | None = None
    latency_max_us: float | None = None
    #: Power of the device under load.
    watts: float | None = None
    #: Labels of the run.
    labels: dict[str, str] = {}
