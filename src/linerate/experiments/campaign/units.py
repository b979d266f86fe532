"""Units of a campaign in their order: versions alternate, repeats are far from each other."""

import hashlib
import itertools
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from linerate.model.campaign import Block, Campaign, CampaignError, Unit, Use, Version
from linerate.model.campaign.campaign import UNITS_MAX
from linerate.model.scenario import Loaded, ScenarioError
from linerate.model.scenario import load as load_scenario

Cell = tuple[Use, Loaded, str, dict[str, str]]


def units_of(campaign: Campaign, versions: Iterable[Version], folder: Path) -> list[Unit]:
    """All units, in the file's order; `versions` have their commits in full.

    Paths of scenarios are relative to `folder`. Raises CampaignError.
    """
    found = [
        Unit(
            version=version,
            setting_name=setting,
            setting=campaign.settings[setting],
            scenario=loaded.scenario.name,
            digest=loaded.digest,
            box=box,
            values=values,
            load=load,
            duration_seconds=campaign.duration,
            accept_suspect=campaign.accept_suspect,
            series=campaign.series,
            repeat=repeat,
        )
        for (_, loaded, box, values), version, setting, load, repeat in itertools.product(
            _cells(campaign, folder),
            tuple(versions),
            campaign.settings,
            campaign.loads,
            range(1, campaign.repeat + 1),
        )
    ]
    if len(found) > UNITS_MAX:
        raise CampaignError([f"{len(found):,} units: expected {UNITS_MAX:,} or fewer"])
    return found


def scenarios_of(campaign: Campaign, folder: Path) -> dict[str, Loaded]:
    """By name, the scenarios of a campaign. Raises CampaignError."""
    found: dict[str, Loaded] = {}
    for use in campaign.scenarios:
        loaded = _loaded(use, folder)
        known = found.setdefault(loaded.scenario.name, loaded)
        if known.digest != loaded.digest:
            raise CampaignError([f"scenarios: two files have the name '{loaded.scenario.name}'"])
    return found


def _loaded(use: Use, folder: Path) -> Loaded:
    path = folder / use.name
    try:
        return load_scenario(str(path) if "/" in use.name else use.name)
    except ScenarioError as error:
        raise CampaignError([f"scenarios: {line}" for line in error.lines]) from error


def _cells(campaign: Campaign, folder: Path) -> Iterator[Cell]:
    """Each scenario on each of its boxes with each choice of values."""
    scenarios_of(campaign, folder)
    for use in campaign.scenarios:
        loaded = _loaded(use, folder)
        for box in use.box:
            if box not in loaded.scenario.boxes:
                known = ", ".join(loaded.scenario.boxes)
                raise CampaignError(
                    [f"scenarios: {use.name}: no box '{box}'; expected some of {known}"]
                )
            for values in _choices(use, loaded):
                yield use, loaded, box, values


def _choices(use: Use, loaded: Loaded) -> Iterator[dict[str, str]]:
    """Every combination of the values that the campaign, or the scenario itself, names."""
    own = {
        name: tuple(str(one.value) for one in choices)
        for name, choices in loaded.scenario.values.items()
    }
    chosen = own | use.values
    for picked in itertools.product(*chosen.values()):
        values = dict(zip(chosen, picked, strict=True))
        try:
            loaded.scenario.placeholders(values)
        except ValueError as error:
            raise CampaignError([f"scenarios: {error}"]) from error
        yield values


def in_order(units: Iterable[Unit], seed: int) -> dict[Block, list[Unit]]:
    """Blocks in the order in which they are measured, each with its units in theirs.

    All first repeats come before the second ones, each round in an order of its own, and within a
    block versions and settings follow each other in an order of their own: what drifts, drifts
    through all of them.
    """
    blocks: dict[Block, list[Unit]] = {}
    for unit in units:
        blocks.setdefault(unit.block, []).append(unit)
    ordered = sorted(blocks, key=lambda block: (block.repeat, _mixed(seed, block)))
    return {block: _shuffled(blocks[block], seed, block) for block in ordered}


def home(block: Block, testbeds: Iterable[str]) -> str | None:
    """The testbed that measures a block, of those that can: the same one each night.

    Repeats of the same go round the testbeds, so that each has a series of its own.
    """
    ranked = sorted(testbeds, key=lambda name: _digest(f"{name} {block.cell()}"))
    return ranked[(block.repeat - 1) % len(ranked)] if ranked else None


def _shuffled(units: list[Unit], seed: int, block: Block) -> list[Unit]:
    mixed = sorted(units, key=lambda unit: unit.key)
    random.Random(_mixed(seed, block)).shuffle(mixed)
    return mixed


def _mixed(seed: int, block: Block) -> str:
    return _digest(f"{seed} {block.repeat} {block.cell()}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
