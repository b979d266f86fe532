"""Base classes of values that are read from files, or written to them."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Value whose fields cannot be assigned; unknown keys are ignored."""

    model_config = ConfigDict(defer_build=True, frozen=True)


class StrictModel(BaseModel):
    """Frozen value of a file that users write: an unknown key is an error."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")
