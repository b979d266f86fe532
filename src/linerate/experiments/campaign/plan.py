"""Plan of a campaign: what is measured, how long that takes, what can't be and why."""

from collections import Counter
from collections.abc import Iterable, Mapping

from linerate.experiments.campaign.abilities import Ability
from linerate.experiments.campaign.prepared import Prepared
from linerate.experiments.campaign.units import home
from linerate.model.campaign import Block, CampaignPlan, Impossible, TestbedPlan, Unit

#: Beside the sending of a unit: its processes start, the set-up is checked, links are calibrated.
BESIDE_SECONDS = 6.0
#: Beside that of each of its trials.
TRIAL_SECONDS = 1.0


class Abilities:
    """Testbeds that can measure each scenario."""

    def __init__(self, prepared: Prepared, found: Mapping[str, Ability]) -> None:
        self._prepared = prepared
        self._found = dict(found)

    def known(self, testbed: str) -> bool:
        """Whether a testbed was asked."""
        return testbed in self._found

    def learn(self, answer: Ability) -> None:
        """A testbed answered."""
        self._found[answer.testbed] = answer

    def able(self, block: Block, unit: Unit) -> list[str]:
        """Testbeds that can measure a block."""
        return [
            name for name in self._named(unit) if not self.lacks(name, block.scenario, block.box)
        ]

    def lacks(self, testbed: str, scenario: str, box: str) -> str:
        """Why a testbed can't; nothing where it can, or where it is not known yet."""
        found = self._found.get(testbed)
        if found is None:
            return ""
        return found.lacks.get("*") or found.lacks.get(f"{scenario} {box}", "")

    def _named(self, unit: Unit) -> list[str]:
        campaign = self._prepared.campaign
        every = [one.name for one in campaign.testbeds]
        named: dict[str, None] = {}
        for use in self._prepared.uses_of(unit):
            named |= dict.fromkeys(use.testbeds or every)
        return list(named)


def trials_of(prepared: Prepared, unit: Unit) -> int:
    """Trials that a unit has, if none is repeated."""
    return len(prepared.scenarios[unit.scenario].scenario.loadtests) or 1


def seconds_of(prepared: Prepared, unit: Unit) -> float:
    """Estimated duration of a unit."""
    return BESIDE_SECONDS + trials_of(prepared, unit) * (unit.duration_seconds + TRIAL_SECONDS)


def plan_of(prepared: Prepared, found: Mapping[str, Ability], done: set[str]) -> CampaignPlan:
    """Plan a campaign, with what its testbeds can do as far as that is known."""
    campaign = prepared.campaign
    abilities = Abilities(prepared, found)
    left = [unit for unit in prepared.units if unit.key not in done]
    parts: dict[str, list[Unit]] = {one.name: [] for one in campaign.testbeds}
    homeless: list[Unit] = []
    for unit in left:
        at = home(unit.block, abilities.able(unit.block, unit))
        (homeless if at is None else parts[at]).append(unit)
    testbeds = tuple(_part(prepared, name, units, found) for name, units in parts.items())
    return CampaignPlan(
        name=campaign.name,
        dataset=campaign.dataset,
        versions=len(campaign.versions),
        settings=len(campaign.settings),
        scenarios=len(prepared.scenarios),
        units=len(prepared.units),
        trials=sum(trials_of(prepared, unit) for unit in prepared.units),
        done=len(done),
        builds=sum(bool(version.commit) for version in campaign.versions),
        seconds=_together(testbeds, campaign.together),
        testbeds=testbeds,
        impossible=_impossible(homeless, abilities, prepared),
    )


def _part(
    prepared: Prepared, name: str, units: list[Unit], found: Mapping[str, Ability]
) -> TestbedPlan:
    known = found.get(name)
    return TestbedPlan(
        name=name,
        host=known.host if known else "",
        units=len(units),
        trials=sum(trials_of(prepared, unit) for unit in units),
        seconds=sum(seconds_of(prepared, unit) for unit in units),
        lacks=known.lacks if known else {},
    )


def _together(testbeds: Iterable[TestbedPlan], together: bool) -> float:
    """Testbeds of one machine take turns, unless they have CPUs of their own."""
    machines: Counter[str] = Counter()
    for one in testbeds:
        machines[one.name if together or not one.host else f"@{one.host}"] += one.seconds  # type: ignore[assignment]
    return float(max(machines.values(), default=0.0))


def _impossible(
    units: list[Unit], abilities: Abilities, prepared: Prepared
) -> tuple[Impossible, ...]:
    counted = Counter((unit.scenario, unit.box) for unit in units)
    return tuple(
        Impossible(
            scenario=scenario,
            box=box,
            units=count,
            reason="; ".join(
                f"{one.name}: {why}"
                for one in prepared.campaign.testbeds
                if (why := abilities.lacks(one.name, scenario, box))
            ),
        )
        for (scenario, box), count in counted.items()
    )
