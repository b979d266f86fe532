"""Limits made on purpose, in a forwarder or a tester (docs/engine-configuration.md)."""

from typing import Literal, Self

from pydantic import Field, model_validator

from linerate.base.frozen_model import StrictModel

BurnHow = Literal["spin", "sleep", "syscall", "lock"]


class TesterBurn(StrictModel):
    """Injected cost of the tester, in TSC cycles."""

    #: Cost of each frame sent.
    clocks: int = Field(ge=0, le=1_000_000)


class Burn(StrictModel):
    """Injected cost of the forwarder, in TSC cycles: docs/engine-configuration.md."""

    clocks: int = Field(default=0, ge=0, le=1_000_000)
    call_clocks: int = Field(default=0, ge=0, le=100_000_000)
    #: A packet, for each other worker.
    contention_clocks: int = Field(default=0, ge=0, le=100_000)
    how: BurnHow = "spin"
    pause_every_us: int = Field(default=0, ge=0, le=10_000_000)
    pause_for_us: int = Field(default=0, ge=0, le=100_000)

    @model_validator(mode="after")
    def _whole_pause(self) -> Self:
        if (self.pause_every_us == 0) != (self.pause_for_us == 0):
            raise ValueError("pause_every_us, pause_for_us: expected both or neither")
        return self

    @property
    def shares_cpus(self) -> bool:
        """Whether workers that burn so leave their CPU to each other."""
        return self.how in ("sleep", "lock")


class Lose(StrictModel):
    """Injected random loss in the forwarder: docs/engine-configuration.md."""

    #: Probability for each frame, whatever the load.
    probability: float = Field(ge=0, le=1)


class Delay(StrictModel):
    """Injected delay of each frame in the forwarder: docs/engine-configuration.md."""

    us: int = Field(ge=0, le=100_000)
