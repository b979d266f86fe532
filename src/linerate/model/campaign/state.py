"""State of a campaign, as it is kept beside its results and shown by `status`."""

from datetime import UTC, datetime
from typing import Literal

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import published

SCHEMA = 1
#: A `run` that has not written for so long is gone.
SILENT_SECONDS = 60.0

Status = Literal["running", "stopping", "stopped", "finished", "failed"]
TestbedStatus = Literal["measuring", "idle", "no worker", "set aside"]


class TestbedState(FrozenModel):
    """One testbed of a campaign."""

    name: str
    status: TestbedStatus = "idle"
    #: Why it is set aside.
    reason: str = ""
    #: Units with a result in this `run`, and attempts without one.
    measured: int = 0
    failed: int = 0
    #: Unit that it measures now.
    now: str = ""
    #: Time that units took with a result.
    seconds: float = 0.0


class Failure(FrozenModel):
    """An attempt that gave no valid result."""

    time: datetime
    unit: str
    text: str
    testbed: str
    reason: str
    #: Name of its run's folder, where there is one.
    run: str = ""


@published("campaign-state", "state.json of a campaign, beside its dataset", SCHEMA, form="kept")
class CampaignState(FrozenModel):
    """State of a campaign beside its results."""

    schema_version: int = SCHEMA
    name: str
    seed: int
    status: Status = "running"
    problem: str = ""
    host: str = ""
    pid: int = 0
    started: datetime
    updated: datetime
    #: Units of the campaign, and those with a result.
    units: int = 0
    done: int = 0
    #: Units that this `run` found done.
    found_done: int = 0
    testbeds: tuple[TestbedState, ...] = ()
    failures: tuple[Failure, ...] = ()

    def alive(self) -> bool:
        """Whether a `run` may still be working."""
        silent = (datetime.now(UTC) - self.updated).total_seconds()
        return self.status in ("running", "stopping") and silent < SILENT_SECONDS


published("campaign-status", "`linerate campaign status --json` and `run --json`")(CampaignState)
