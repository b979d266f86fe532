"""What a worker is asked to measure, and its answer."""

import re
from pathlib import Path
from typing import Literal

from linerate.base.frozen_model import FrozenModel
from linerate.model.campaign import Campaign, CampaignTestbed, Unit
from linerate.model.scenario import Loaded
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
    #: Loadtests of a scenario that `linerate bench` measures, and the device under test.
    loadtests: tuple[str, ...] = ()
    dut: str = ""
    repository: str
    runs: Path
    together: bool

    @property
    def limit_seconds(self) -> float:
        """When what it runs is taken for hanging."""
        return LIMIT_SECONDS + LIMIT_TRIALS * self.unit.duration_seconds

    def words(self) -> list[str]:
        """The command that measures it, without the program."""
        words = self._bench() if self.loadtests else self._scenario()
        words += ["--duration", f"{self.unit.duration_seconds * 1000:.0f}ms"]
        if self.unit.accept_suspect:
            words += ["--accept-suspect"]
        if self.unit.load != FULL_LOAD:
            words += ["--rate", self.unit.load]
        for name, value in self._labels().items():
            words += ["--label", f"{name}={_NO_LABEL.sub(' ', value)[:200]}"]
        return [*words, "--runs", str(self.runs), "--wait", "--json"]

    def _bench(self) -> list[str]:
        """Loadtests through a device that needs no set-up."""
        words = ["bench", "--dut", self.dut, "--only", ",".join(self.loadtests)]
        return words + self.unit.setting.words() + self.testbed.words()

    def _scenario(self) -> list[str]:
        words = ["scenario", "run", self.scenario, "--box", self.unit.box]
        for name, value in self.unit.values.items():
            words += ["--set", f"{name}={value}"]
        if self.testbed.file is not None:
            words += ["--testbed", str(self.testbed.file)]
        return words

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
    """What came of it."""

    key: str
    testbed: str
    kind: Kind
    #: Why there is no valid result.
    reason: str = ""
    #: Of all trials, those that had to be repeated, too.
    rows: tuple[TrialRow, ...] = ()
    #: Name of the run's folder.
    run: str = ""
    #: How long its program ran.
    seconds: float = 0.0


def of_bench(loaded: Loaded, box: str) -> bool:
    """Whether a scenario is loadtests alone: `linerate bench` has more options for those."""
    spec = loaded.scenario.boxes[box]
    set_up = (spec.prepare, spec.setup, spec.teardown, spec.cli, spec.settings)
    return bool(loaded.scenario.loadtests) and not any(set_up)


def job_of(campaign: Campaign, unit: Unit, testbed: str, scenario: str, loaded: Loaded) -> Job:
    """The job of measuring a unit on a testbed."""
    benched = of_bench(loaded, unit.box)
    return Job(
        campaign=campaign.name,
        unit=unit,
        testbed=campaign.testbed(testbed),
        scenario=scenario,
        loadtests=loaded.scenario.loadtests if benched else (),
        dut=loaded.scenario.boxes[unit.box].dut or unit.box,
        repository=campaign.repository,
        runs=campaign.runs,
        together=campaign.together,
    )
