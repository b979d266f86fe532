"""Jobs that workers are asked for, and their answers."""

import re
from pathlib import Path
from typing import Literal

from linerate.base.frozen_model import FrozenModel
from linerate.model.campaign import Campaign, CampaignTestbed, Setting, Unit
from linerate.model.testbed import Testbed, with_options
from linerate.model.testbed import load as load_testbed
from linerate.results.dataset.row import TrialRow

#: A worker waits longer for what hangs than for anything that only takes long.
LIMIT_SECONDS = 900.0
#: Trials of a unit with their repetitions, warm-ups and ceilings.
LIMIT_TRIALS = 100
FULL_LOAD = "100%"
#: Characters that a label of a run may have.
_NO_LABEL = re.compile(r"[\x00-\x1f\x7f]")

#: `disturbed`: measured, and invalid; `failed`: not measured; `unbuilt`: its version can't be built
#: there; `ended`: the worker ended first.
Kind = Literal["measured", "disturbed", "failed", "unbuilt", "ended"]


class Job(FrozenModel):
    """One attempt at one unit."""

    campaign: str
    unit: Unit
    testbed: CampaignTestbed
    #: Name in the library, or path on the worker's machine.
    scenario: str
    repository: str
    runs: Path
    together: bool

    @property
    def limit_seconds(self) -> float:
        """When what it runs is taken for hanging."""
        return LIMIT_SECONDS + LIMIT_TRIALS * self.unit.duration_seconds

    def words(self, testbed: Path | None) -> list[str]:
        """The command that measures it, without the program; `testbed` is a file of it."""
        unit = self.unit
        words = ["scenario", "run", self.scenario, "--box", unit.box]
        for name, value in unit.values.items():
            words += ["--set", f"{name}={value}"]
        if testbed is not None:
            words += ["--testbed", str(testbed)]
        words += ["--duration", f"{unit.duration_seconds * 1000:.0f}ms"]
        if unit.load != FULL_LOAD:
            words += ["--rate", unit.load]
        if unit.accept_suspect:
            words += ["--accept-suspect"]
        for name, value in self._labels().items():
            words += ["--label", f"{name}={_NO_LABEL.sub(' ', value)[:200]}"]
        return [*words, "--runs", str(self.runs), "--wait", "--json"]

    def bed(self) -> Testbed:
        """The testbed with what the campaign says of it, and of its device. Raises TestbedError."""
        return bed_of(self.testbed, self.unit.setting)

    def _labels(self) -> dict[str, str]:
        unit = self.unit
        return {
            "campaign": self.campaign,
            "unit": unit.key[:16],
            "version": unit.version.name,
            "commit": unit.version.commit,
            "setting": unit.setting_name,
            "testbed": self.testbed.name,
        }


class Outcome(FrozenModel):
    """Answer to a job."""

    key: str
    testbed: str
    kind: Kind
    #: Why there is no valid result.
    reason: str = ""
    #: Rows of all trials, repeated ones too.
    rows: tuple[TrialRow, ...] = ()
    #: Name of the run's folder.
    run: str = ""
    #: Time for which its program ran.
    seconds: float = 0.0


def bed_of(testbed: CampaignTestbed, setting: Setting) -> Testbed:
    """A testbed, with the options that a campaign names. Raises TestbedError."""
    base = Testbed() if testbed.file is None else load_testbed(testbed.file)
    return with_options(base, **testbed.options() | setting.options())


def job_of(campaign: Campaign, unit: Unit, testbed: str, scenario: str) -> Job:
    """The job of measuring a unit on a testbed."""
    return Job(
        campaign=campaign.name,
        unit=unit,
        testbed=campaign.testbed(testbed),
        scenario=scenario,
        repository=campaign.repository,
        runs=campaign.runs,
        together=campaign.together,
    )
