"""The scenario that a run measured."""

from linerate.base.frozen_model import FrozenModel


class ScenarioUse(FrozenModel):
    """A scenario, the box that it was set up on, and the values that were compared."""

    name: str
    #: Digest of its files: another one is another scenario.
    digest: str
    #: Kind of box: a key of the file's `boxes`.
    box: str
    values: dict[str, str] = {}
