"""Scenarios: what a box is set up for, what is sent, what must return (docs/scenarios.md)."""

from linerate.model.scenario.back import Back, Case, Change
from linerate.model.scenario.facts import facts
from linerate.model.scenario.loading import Loaded, ScenarioError, library, load, names, parse
from linerate.model.scenario.placeholders import PlaceholderError, Scalar, filled
from linerate.model.scenario.scenario import Box, Choice, Mistake, Scenario
from linerate.model.scenario.use import ScenarioUse

__all__ = [
    "Back",
    "Box",
    "Case",
    "Change",
    "Choice",
    "Loaded",
    "Mistake",
    "PlaceholderError",
    "Scalar",
    "Scenario",
    "ScenarioError",
    "ScenarioUse",
    "facts",
    "filled",
    "library",
    "load",
    "names",
    "parse",
]
