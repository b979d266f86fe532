"""One unit of a campaign: what one command measures, and the key of its result."""

import hashlib
import json
from functools import cached_property

from linerate.base.frozen_model import FrozenModel
from linerate.model.campaign.campaign import Setting, Version

#: Raised when the same unit would be measured in another way than before.
KEY_VERSION = 1


class Block(FrozenModel):
    """Frame of a comparison: its versions and settings are measured one after another."""

    scenario: str
    box: str
    values: tuple[tuple[str, str], ...] = ()
    load: str
    repeat: int

    def cell(self) -> str:
        """All repeats of it, in a text."""
        return json.dumps([self.scenario, self.box, self.values, self.load])


class Unit(FrozenModel):
    """One version with one setting, in one scenario, once."""

    version: Version
    setting_name: str
    setting: Setting
    scenario: str
    #: Digest of the scenario's file.
    digest: str = ""
    box: str
    values: dict[str, str] = {}
    load: str
    duration_seconds: float
    accept_suspect: bool = False
    series: str = ""
    repeat: int

    @property
    def block(self) -> Block:
        """Block in which it is compared."""
        return Block(
            scenario=self.scenario,
            box=self.box,
            values=tuple(sorted(self.values.items())),
            load=self.load,
            repeat=self.repeat,
        )

    @cached_property
    def key(self) -> str:
        """Key of its content: the same unit has the same key in every campaign."""
        content = {"key_version": KEY_VERSION} | self.model_dump(mode="json", exclude_none=True)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def text(self) -> str:
        """In words."""
        values = "".join(f" {name}={value}" for name, value in self.values.items())
        return (
            f"{self.version.name} {self.setting_name} {self.scenario}{values} "
            f"{self.box} {self.load} #{self.repeat}"
        )
