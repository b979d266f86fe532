"""A campaign with what its file leaves open: commits in full, scenarios, units, what is done."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linerate.experiments.campaign.abilities import Asked
from linerate.experiments.campaign.builds import BuildError, full_commit
from linerate.experiments.campaign.job import FULL_LOAD, Job, job_of
from linerate.experiments.campaign.units import scenarios_of, units_of
from linerate.model.campaign import Campaign, CampaignError, Unit, Version, load
from linerate.model.campaign.campaign import Use
from linerate.model.scenario import Loaded
from linerate.results.dataset.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Prepared:
    """Beginning of both `plan` and `run`."""

    file: Path
    campaign: Campaign
    scenarios: dict[str, Loaded]
    units: tuple[Unit, ...]

    def job(self, unit: Unit, testbed: str) -> Job:
        """Job of a testbed."""
        return job_of(self.campaign, unit, testbed, self._paths()[unit.scenario])

    def uses_of(self, unit: Unit) -> list[Use]:
        """Entries of the file that a unit belongs to."""
        paths = {use.name: self._name(use) for use in self.campaign.scenarios}
        return [
            use
            for use in self.campaign.scenarios
            if paths[use.name] == unit.scenario and unit.box in use.box
        ]

    def asked(self) -> tuple[Asked, ...]:
        """Each scenario on each box that it is measured on."""
        pairs = dict.fromkeys((unit.scenario, unit.box) for unit in self.units)
        paths = self._paths()
        return tuple(
            Asked(path=paths[name], name=name, digest=self.scenarios[name].digest, box=box)
            for name, box in pairs
        )

    def done(self) -> set[str]:
        """Keys of the campaign's units that the dataset has."""
        known = set(Dataset(self.campaign.dataset).unit_keys())
        return {unit.key for unit in self.units} & known

    def _paths(self) -> dict[str, str]:
        return {self._name(use): self._path(use) for use in self.campaign.scenarios}

    def _name(self, use: Use) -> str:
        return next(name for name, one in self.scenarios.items() if self._is(use, one))

    def _is(self, use: Use, loaded: Loaded) -> bool:
        if "/" not in use.name:
            return loaded.scenario.name == use.name
        path = (self.file.absolute().parent / use.name).resolve()
        return path in (loaded.path, loaded.folder)

    def _path(self, use: Use) -> str:
        if "/" not in use.name or self.campaign.scheduler is not None:
            return use.name
        return str(self.file.absolute().parent / use.name)


def prepare(file: Path) -> Prepared:
    """Read a campaign file and all that it names. Raises CampaignError."""
    campaign = load(file)
    folder = file.absolute().parent
    versions = [_in_full(version, campaign.repository) for version in campaign.versions]
    units = units_of(campaign, versions, folder)
    keys: dict[str, Unit] = {}
    for unit in units:
        if (other := keys.setdefault(unit.key, unit)) is not unit:
            raise CampaignError([f"scenarios: twice the same: {other.text}"])
    found = Prepared(file, campaign, scenarios_of(campaign, folder), tuple(units))
    if refused := list(dict.fromkeys(_refused(found))):
        raise CampaignError(refused)
    return found


def _refused(prepared: Prepared) -> Iterator[str]:
    """A line for all that no testbed can measure."""
    for unit in prepared.units:
        if unit.load != FULL_LOAD and prepared.scenarios[unit.scenario].scenario.loadtests:
            yield (
                f"loads: expected {FULL_LOAD}, not '{unit.load}': scenario {unit.scenario} has "
                "loadtests, which have a rate of their own"
            )


def _in_full(version: Version, repository: str) -> Version:
    if not version.commit:
        return version
    try:
        commit = full_commit(version.commit, repository)
    except BuildError as error:
        raise CampaignError([f"versions: {version.name}: {error}"]) from error
    return version.model_copy(update={"commit": commit})
