"""Flow tables: the forwarder's own, and the one that a card has. In the engine's words."""

from typing import Literal

from pydantic import Field

from linerate.base.frozen_model import StrictModel

DAY_MS = 86_400_000


class FlowRules(StrictModel):
    """A virtual card's flow table."""

    #: Defaults of the other keys.
    preset: Literal["x710", "x710-patched"] | None = None
    #: Rules that it holds, and how many of them fit for any hash.
    capacity: int | None = Field(default=None, ge=1, le=1 << 20)
    guaranteed: int | None = Field(default=None, ge=0, le=1 << 20)
    #: Duration of creating or destroying a rule.
    programming_us: int | None = Field(default=None, ge=0, le=1_000_000)
    #: Patterns or actions that it refuses.
    refuse: str | None = None
    #: Takes rules, and does nothing.
    silent: bool | None = None
    #: An action that it takes and ignores, or `ports`: rules then act on other flows too.
    ignore: str | None = None


class Offload(StrictModel):
    """Flows that the card looks up."""

    #: Rules that a port may have.
    rules: int | None = Field(default=None, ge=1, le=16382)


class FlowTable(StrictModel):
    """Mode flowtable."""

    #: Its capacity.
    flows: int | None = Field(default=None, ge=1024, le=1 << 24)
    idle_ms: int | None = Field(default=None, ge=1, le=DAY_MS)
    closing_ms: int | None = Field(default=None, ge=1, le=DAY_MS)
    hard_ms: int | None = Field(default=None, ge=0, le=DAY_MS)
    #: None: the card looks up none.
    offload: Offload | None = None
