"""Campaigns of the tests: a scenario without set-up, and files that use it."""

from pathlib import Path

from linerate.experiments.campaign.prepared import Prepared, prepare

SCENARIO = """
name: quick
title: Frames through our own engine, without set-up
loadtests: [U2]
values: {flows: [1, 100]}
back: unchanged
boxes: {io: {}, mac: {}}
"""

CAMPAIGN = """
name: nightly
versions: [old, new]
settings: {one: {workers: 1}, two: {workers: 2}}
scenarios: [{name: ./quick.yaml, box: io}]
repeat: 3
duration: 100ms
testbeds: [lab-a, lab-b]
"""


def written(folder: Path, campaign: str = CAMPAIGN, scenario: str = SCENARIO) -> Path:
    """Write both files; return the campaign's."""
    (folder / "quick.yaml").write_text(scenario)
    file = folder / "campaign.yaml"
    file.write_text(campaign)
    return file


def prepared(folder: Path, campaign: str = CAMPAIGN) -> Prepared:
    return prepare(written(folder, campaign))
